// A pool of walkers alone, over a page table of four levels: each page-table read takes 100 cycles, however many there
// are, and nothing else takes any time. Requests are submitted at given cycles; the bench notes when each is answered.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "sim/engine.h"
#include "translation/walk/walk_unit.h"

namespace nearfar {

/// A page by its indices, from the root down.
constexpr std::uint64_t page_at(std::uint64_t l4, std::uint64_t l3, std::uint64_t l2, std::uint64_t l1) {
  return ((l4 << 9 | l3) << 9 | l2) << 9 | l1;
}

struct BenchOptions {
  std::uint32_t walkers = 1;
  std::uint32_t queue = 256;
  WalkTiming timing = WalkTiming::FixedLevel;
};

class WalkBench final : public WalkClient, public WalkMemory {
 public:
  struct Done {
    std::uint64_t page;
    Cycle when;
    bool fault;
  };

  explicit WalkBench(const BenchOptions& options)
      : engine_(1), unit_(partition(), spec(options), {options.timing, 100, 0}, UpperLevels::OnDemand, *this, this) {
    clear_table();
  }

  WalkUnit& unit() { return unit_; }
  Partition& partition() { return engine_.partition(0); }

  void clear_table() {
    table_ = std::make_unique<PageTable>(4, PageSize{}, [this] { return PhysPage{DeviceId{0}, frames_++}; });
  }
  void map(std::uint64_t page) {
    table_->write(page, Pte::leaf({PhysPage{DeviceId{0}, page & 0xffff}, true, 0}, false));
  }
  /// Makes the nodes down to the leaf's, but not the page's entry.
  void cover(std::uint64_t page) { table_->write(page, Pte{}); }
  /// The walk cache has the entry of a level for a page.
  void warm(unsigned level, std::uint64_t page) { unit_.cache().fill(PageKey{0, page}, 1, level); }

  /// A request enters at `when`; its page is mapped.
  void ask(std::uint64_t page, Cycle when) {
    map(page);
    ask_unmapped(page, when);
  }
  void ask_unmapped(std::uint64_t page, Cycle when, WalkKind kind = WalkKind::Demand) {
    at(when, [=, this] {
      Walk& walk = unit_.make(kind, PageKey{0, page});
      walks_[page] = &walk;
      unit_.submit(walk, WalkSource::Demand);
    });
  }
  /// Runs `action` at `when`, behind what was asked for earlier.
  void at(Cycle when, std::function<void()> action) {
    actions_.push_back(std::move(action));
    auto* event = partition().pool().allocate<IndexEvent>();
    event->index = static_cast<std::uint32_t>(actions_.size() - 1);
    partition().schedule(event, act_, when);
  }
  const Walk& walk(std::uint64_t page) const { return *walks_.at(page); }

  void run() {
    Engine::Options options;
    options.window = 1000;
    ASSERT_EQ(engine_.run(options), Engine::Outcome::Drained);
    EXPECT_TRUE(unit_.idle());
    EXPECT_EQ(partition().pool().live(), 0U);
  }

  /// When the only request of a page was answered; 0 if it was not, or with a fault.
  Cycle done(std::uint64_t page) const { return when(page, false); }
  Cycle fault(std::uint64_t page) const { return when(page, true); }
  std::uint64_t reads() {
    std::uint64_t sum = 0;
    for (const std::uint64_t n : unit_.stats().reads) sum += n;
    return sum;
  }

  const PageTable& table(Pid) const override { return *table_; }
  void walked(Walk& walk) override {
    const std::uint64_t page = walk.page.number();
    const bool fault = walk.cut_short || !table_->read(page).valid();
    answers.push_back({page, partition().now(), fault});
    walks_.erase(page);
  }
  void read_table(PhysLine line, Event* event, HandlerId finished, Cycle delay) override {
    memory_reads.push_back(line);
    partition().schedule(event, finished, partition().now() + delay + latency(line));
  }

  std::vector<Done> answers;
  std::vector<PhysLine> memory_reads;
  std::function<Cycle(PhysLine)> latency = [](PhysLine) { return Cycle{100}; };

 private:
  static WalkersSpec spec(const BenchOptions& options) {
    WalkersSpec spec;
    spec.walkers = options.walkers;
    spec.queue = options.queue;
    spec.cache.by_level = true;
    spec.cache.latency = 0;
    return spec;
  }
  void act(IndexEvent* event) {
    const std::size_t index = event->index;
    partition().pool().release(event);
    actions_[index]();
  }
  Cycle when(std::uint64_t page, bool fault) const {
    for (const Done& answer : answers) {
      if (answer.page == page && answer.fault == fault) return answer.when;
    }
    return 0;
  }

  Engine engine_;
  std::uint64_t frames_ = 1;
  std::unique_ptr<PageTable> table_;
  std::vector<std::function<void()>> actions_;
  std::map<std::uint64_t, Walk*> walks_;
  WalkUnit unit_;
  HandlerId act_ = partition().add_handler<&WalkBench::act>(this);
};

}  // namespace nearfar
