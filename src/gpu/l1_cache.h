// The first-level cache of a compute unit (vector) or a shader array (scalar): write-through, no write allocate, kept
// coherent by software at kernel boundaries and fences. It holds tags, miss registers and the port; who asked, and
// what happens then, is its owner's.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <vector>

#include "memory/cache_spec.h"
#include "memory/mshr.h"
#include "memory/tag_array.h"
#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

struct L1Stats {
  std::uint64_t load_lines = 0;
  std::uint64_t load_hits = 0;
  std::uint64_t merges = 0;
  std::uint64_t fills = 0;
  std::uint64_t store_lines = 0;
  std::uint64_t store_hits = 0;
  std::uint64_t atomic_lines = 0;
  std::uint64_t port_wait_cycles = 0;

  void describe(StatVisitor& visitor);
};

/// Who waits for a pending line: small numbers that the owner understands. A few stand in the register itself; more
/// than that is rare and goes to a list beside it.
class Targets {
 public:
  void add(std::uint16_t target) {
    if (count_ < inline_.size()) {
      inline_[count_++] = target;
    } else {
      if (more_ == nullptr) more_ = std::make_unique<std::vector<std::uint16_t>>();
      more_->push_back(target);
    }
  }

  template <class Visit>
  void for_each(Visit visit) const {
    for (std::uint32_t i = 0; i < count_; ++i) visit(inline_[i]);
    if (more_ == nullptr) return;
    for (const std::uint16_t target : *more_) visit(target);
  }

 private:
  std::unique_ptr<std::vector<std::uint16_t>> more_;
  std::array<std::uint16_t, 7> inline_;
  std::uint16_t count_ = 0;
};

class L1Cache {
 public:
  struct Pending {
    std::uint32_t issued = 0;  ///< low bits of the cycle in which the line was asked for
    bool poisoned = false;     ///< answers who waits, but takes no more and is not kept
    Targets targets;
  };
  using Mshrs = MshrFile<Pending>;

  L1Cache(const L1Spec& spec, std::uint64_t line_bytes)
      : tags_(spec.size / line_bytes / spec.ways, spec.ways, spec.index, spec.replacement),
        mshrs_(spec.mshrs),
        port_shift_(static_cast<unsigned>(std::countr_zero(spec.lines_per_cycle))) {}

  TagArray& tags() { return tags_; }
  Mshrs& mshrs() { return mshrs_; }
  std::uint32_t pending() const { return mshrs_.used(); }
  L1Stats& stats() { return stats_; }

  /// Looks a line up and marks it used; kNone on a miss.
  TagArray::Slot look_up(PhysLine line) {
    const TagArray::Slot slot = tags_.find(line.value);
    if (slot != TagArray::kNone) tags_.touch(slot);
    return slot;
  }

  /// Brings what a lookup of `line` needs into the host's cache.
  void prefetch(PhysLine line) const {
    tags_.prefetch(line.value);
    mshrs_.prefetch(line);
  }

  /// Keeps a line that has arrived; the answer is its slot.
  TagArray::Slot install(PhysLine line) {
    const TagArray::Slot slot = tags_.victim(line.value);
    tags_.fill(slot, line.value);
    return slot;
  }

  /// Drops everything; what is pending answers who waits and is not kept (kernel boundary, fence).
  void acquire() {
    tags_.invalidate_all();
    mshrs_.for_each([](Mshrs::Entry& entry) { entry.payload.poisoned = true; });
  }

  /// Reserves the port for one instruction that may start at `earliest`; lines then take their turns.
  void start_instruction(Cycle earliest) {
    const Cycle turns = earliest << port_shift_;
    if (port_ < turns) {
      port_ = turns;
    } else {
      stats_.port_wait_cycles += (port_ - turns) >> port_shift_;
    }
  }
  /// The cycle in which the next line of the instruction is looked up.
  Cycle next_line() { return port_++ >> port_shift_; }

 private:
  TagArray tags_;
  Mshrs mshrs_;
  Cycle port_ = 0;  // in turns: cycle × lines per cycle, which is a power of two
  unsigned port_shift_;
  L1Stats stats_;
};

}  // namespace nearfar
