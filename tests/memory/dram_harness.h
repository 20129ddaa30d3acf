// A bench for memory in the tests: plays a script of reads and writes into a DRAM and notes what comes back when.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/dram/banked_dram.h"
#include "memory/dram/dram.h"
#include "sim/partition.h"

namespace nearfar {

inline constexpr std::uint64_t kTestLineBytes = 64;
inline constexpr std::uint64_t kTestClock = 1'000'000'000;

inline PhysLine line_number(std::uint64_t n) {
  return PhysLine(PhysPage(DeviceId{0}, n >> kLineIndexBits), static_cast<unsigned>(n % (1U << kLineIndexBits)));
}

struct DramStep {
  Cycle at = 0;
  std::uint64_t number = 0;  ///< of the line in the device
  bool write = false;
};

struct DramAnswer {
  std::size_t step;
  Cycle complete;

  bool operator==(const DramAnswer&) const = default;
};

class DramHarness : public DramClient {
 public:
  explicit DramHarness(const DramSpec& spec, std::uint64_t clock_hertz = kTestClock,
                       std::uint64_t line_bytes = kTestLineBytes)
      : partition_(DeviceId{0}, 1),
        dram_(make_dram(partition_, spec, line_bytes, clock_hertz, *this)),
        step_handler_(partition_.add_handler<&DramHarness::on_step>(this)),
        done_handler_(partition_.add_handler<&DramHarness::on_done>(this)) {}

  Dram& dram() { return *dram_; }
  BankedDram& banked() { return dynamic_cast<BankedDram&>(*dram_); }
  Partition& partition() { return partition_; }
  const std::vector<DramAnswer>& answers() const { return answers_; }
  std::uint64_t calls_of_room() const { return calls_of_room_; }

  /// What the caller's pipeline adds to every read.
  void add_to_reads(std::uint32_t cycles) { extra_ = cycles; }
  /// Writes that are refused wait until there is room; else they are forced in.
  void be_polite() { polite_ = true; }

  void play(std::vector<DramStep> steps) {
    script_ = std::move(steps);
    for (std::size_t i = 0; i < script_.size(); ++i) {
      auto* t = partition_.pool().allocate<IndexEvent>();
      t->index = static_cast<std::uint32_t>(i);
      partition_.schedule(t, step_handler_, script_[i].at);
    }
    partition_.run(kNever);
  }

  /// When the answer of a step came.
  Cycle completion(std::size_t step) const {
    const auto found = std::find_if(answers_.begin(), answers_.end(), [&](const auto& a) { return a.step == step; });
    return found == answers_.end() ? kNever : found->complete;
  }
  Cycle last_completion() const { return answers_.empty() ? 0 : answers_.back().complete; }

  void dram_has_room() override {
    ++calls_of_room_;
    std::vector<PhysLine> waiting;
    waiting.swap(refused_);
    for (const PhysLine line : waiting) write(line);
  }
  std::size_t refused() const { return refused_.size(); }

  void write(PhysLine line) {
    if (polite_ && !dram_->can_write(line)) {
      refused_.push_back(line);
    } else {
      dram_->write(line);
    }
  }

 private:
  void on_step(IndexEvent* t) {
    const DramStep& step = script_[t->index];
    if (step.write) {
      partition_.pool().release(t);
      write(line_number(step.number));
      return;
    }
    dram_->read(line_number(step.number), t, done_handler_, extra_);
  }

  void on_done(IndexEvent* t) {
    answers_.push_back({t->index, partition_.now()});
    partition_.pool().release(t);
  }

  Partition partition_;
  std::unique_ptr<Dram> dram_;
  HandlerId step_handler_;
  HandlerId done_handler_;
  std::vector<DramStep> script_;
  std::vector<DramAnswer> answers_;
  std::vector<PhysLine> refused_;
  bool polite_ = false;
  std::uint32_t extra_ = 0;
  std::uint64_t calls_of_room_ = 0;
};

/// One channel of HBM without a hash: line numbers are (row, bank, column), 32 columns to a row.
inline DramSpec one_channel() {
  DramSpec spec;
  spec.channels = 1;
  spec.channel_index = IndexHash::Modulo;
  return spec;
}

inline std::uint64_t line_at(const DramSpec& spec, std::uint64_t row, std::uint64_t bank, std::uint64_t column) {
  return (row * spec.ranks * spec.banks + bank) * (spec.row / kTestLineBytes) + column;
}

}  // namespace nearfar
