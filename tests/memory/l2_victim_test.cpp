// When the victim of a miss leaves an L2 (`victim: at_fill` or `at_miss`): an L2 alone, of one set of two ways, in
// front of a memory whose latency is so long that much can happen while a line is on its way.
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "memory/cache/l2_cache.h"

namespace nearfar::l2_victim_test {
namespace {

constexpr std::uint64_t kLine = 64;
constexpr Cycle kMemory = 1000;

class Bench final : public L2Client {
 public:
  explicit Bench(VictimTime victim, Bandwidth bandwidth = DramSpec{}.channel_bandwidth)
      : cache_(partition_, cache_spec(victim), dram_spec(bandwidth), kLine, 1'000'000'000, *this, masks_, nullptr) {}

  void load(Cycle at, unsigned line) { ask(at, RequestKind::Read, line, 0); }
  void remote_load(Cycle at, unsigned line) { ask(at, RequestKind::Read, line, 1); }
  void store(Cycle at, unsigned line) { ask(at, RequestKind::Write, line, 0); }
  /// Calls `look` in a cycle.
  void probe(Cycle at, std::function<void(L2Stats&)> look) {
    probes_.push_back(std::move(look));
    auto* event = partition_.pool().allocate<IndexEvent>();
    event->index = static_cast<std::uint32_t>(probes_.size() - 1);
    partition_.schedule(event, probe_handler_, at);
  }
  void run() {
    partition_.begin_window(0);
    partition_.run(kNever);
    EXPECT_EQ(cache_.pending(), 0U);
    EXPECT_EQ(partition_.pool().live(), 0U);
  }

  L2Stats& stats() { return cache_.stats(); }
  /// When the last load of a line was served.
  Cycle served(unsigned line) const { return served_.at(line); }
  Cycle last_ordered() const { return last_ordered_; }
  std::uint32_t taken() const { return taken_; }

  void lines_served(LineRequest* request) override { note(request); }
  void stores_ordered(unsigned, PhysPage, unsigned) override { last_ordered_ = partition_.now(); }
  void answer(LineRequest* request, Cycle) override { note(request); }
  Spacing reply_spacing(const LineRequest&) const override { return Spacing::every(1); }
  void requests_taken(const LineRequest&, std::uint32_t count) override { taken_ += count; }
  void l2_has_room(Waiter) override {}
  void flushed() override {}

 private:
  static L2Spec cache_spec(VictimTime victim) {
    L2Spec spec;
    spec.size = 2 * kLine;
    spec.ways = 2;
    spec.banks = 1;
    spec.victim = victim;
    return spec;
  }
  static DramSpec dram_spec(Bandwidth bandwidth) {
    DramSpec spec;
    spec.model = DramModel::Fixed;
    spec.capacity = 1 << 20;
    spec.channels = 1;
    spec.latency = kMemory;
    spec.write_queue = 1;
    spec.channel_bandwidth = bandwidth;
    return spec;
  }
  void ask(Cycle at, RequestKind kind, unsigned line, std::uint16_t from) {
    LineRequest* request = nullptr;
    if (kind == RequestKind::Write) {
      request = partition_.pool().allocate<StoreRequest>();
    } else {
      request = partition_.pool().allocate<LoadRequest>();
    }
    request->kind = kind;
    request->origin = from;
    request->line = PhysLine{PhysPage{DeviceId{0}, 0}, line};
    request->mask = std::uint64_t{1} << line;
    partition_.schedule(request, ask_handler_, at);
  }
  void on_ask(LineRequest* request) {
    request->stage_start = static_cast<std::uint32_t>(partition_.now());
    if (request->origin != 0) {
      cache_.remote_request(request, Spacing());
      return;
    }
    cache_.reserve_always(request->line);
    cache_.request(request);
  }
  void on_probe(IndexEvent* event) {
    probes_[event->index](cache_.stats());
    partition_.pool().release(event);
  }
  void note(LineRequest* request) {
    served_[static_cast<unsigned>(std::countr_zero(request->mask))] = partition_.now();
    partition_.pool().release(request);
  }

  Partition partition_{DeviceId{0}, 2};
  ByteMaskPool masks_{2};
  L2Cache cache_;
  HandlerId ask_handler_ = partition_.add_handler<&Bench::on_ask>(this);
  HandlerId probe_handler_ = partition_.add_handler<&Bench::on_probe>(this);
  std::vector<std::function<void(L2Stats&)>> probes_;
  std::map<unsigned, Cycle> served_;
  Cycle last_ordered_ = 0;
  std::uint32_t taken_ = 0;
};

class L2Victim : public ::testing::TestWithParam<VictimTime> {
 protected:
  bool at_miss() const { return GetParam() == VictimTime::AtMiss; }
};
INSTANTIATE_TEST_SUITE_P(Times, L2Victim, ::testing::Values(VictimTime::AtFill, VictimTime::AtMiss),
                         [](const auto& time) { return time.param == VictimTime::AtMiss ? "AtMiss" : "AtFill"; });

TEST_P(L2Victim, IsWrittenBackAtTheMissOrWhenTheLineComes) {
  Bench bench(GetParam());
  bench.store(0, 0);
  bench.store(1, 1);
  bench.load(100, 2);
  bench.probe(99, [](L2Stats& stats) { EXPECT_EQ(stats.evictions, 0U); });
  bench.probe(101, [&](L2Stats& stats) {
    EXPECT_EQ(stats.evictions, at_miss() ? 1U : 0U);
    EXPECT_EQ(stats.write_backs, at_miss() ? 1U : 0U);
  });
  bench.run();
  EXPECT_EQ(bench.stats().write_backs, 1U);
}

// Line 0 is the victim of the load of line 2. While that is on its way, line 0 is still there, or it is not and has to
// be fetched, into the way of line 1.
TEST_P(L2Victim, CanBeHitUntilItLeaves) {
  Bench bench(GetParam());
  bench.store(0, 0);
  bench.store(1, 1);
  bench.load(100, 2);
  bench.load(200, 0);
  bench.load(210, 1);
  bench.run();
  EXPECT_EQ(bench.stats().read_hits, at_miss() ? 0U : 2U);
  EXPECT_EQ(bench.stats().reads, 3U);
}

TEST_P(L2Victim, IsAnotherForEachMiss) {
  Bench bench(GetParam());
  bench.load(0, 0);
  bench.load(1, 1);
  bench.load(2000, 2);
  bench.load(2001, 3);
  bench.probe(2002, [&](L2Stats& stats) { EXPECT_EQ(stats.evictions, at_miss() ? 2U : 0U); });
  bench.load(4000, 2);
  bench.load(4001, 3);
  bench.run();
  EXPECT_EQ(bench.stats().read_hits, 2U);
  EXPECT_EQ(bench.stats().evictions, 2U);
  EXPECT_EQ(bench.stats().stalled_requests, 0U);
}

// Both ways are reserved: the third miss finds none until the first line has come, and takes the place of that.
TEST_P(L2Victim, IsMissingWhereAllWaysAreReservedAndComesWithAFill) {
  Bench bench(GetParam());
  bench.load(100, 2);
  bench.load(105, 3);
  bench.load(110, 4);
  bench.run();
  EXPECT_EQ(bench.stats().stalled_requests, at_miss() ? 1U : 0U);
  EXPECT_LT(bench.served(3), 2 * kMemory);
  if (!at_miss()) {
    EXPECT_LT(bench.served(4), 2 * kMemory);
    return;
  }
  EXPECT_GE(bench.served(4), bench.served(2) + kMemory);
  EXPECT_LT(bench.served(4), bench.served(2) + kMemory + 100);
}

TEST_P(L2Victim, OfAStoreOfAWholeLineIsNoReservedWay) {
  Bench bench(GetParam());
  bench.load(100, 2);
  bench.load(101, 3);
  bench.store(102, 4);
  bench.run();
  if (at_miss()) {
    EXPECT_GE(bench.last_ordered(), kMemory);
  } else {
    EXPECT_LT(bench.last_ordered(), 200U);
  }
  EXPECT_EQ(bench.stats().writes, 1U);
  EXPECT_EQ(bench.stats().stalled_requests, at_miss() ? 1U : 0U);
}

TEST_P(L2Victim, OfAnotherDevicesRequestComesWithAFillToo) {
  Bench bench(GetParam());
  bench.load(100, 2);
  bench.load(101, 3);
  bench.remote_load(102, 4);
  bench.probe(103, [&](L2Stats&) { EXPECT_EQ(bench.taken(), at_miss() ? 0U : 1U); });
  bench.run();
  EXPECT_EQ(bench.taken(), 1U);
  EXPECT_EQ(bench.stats().stalled_requests, at_miss() ? 1U : 0U);
  if (at_miss()) {
    EXPECT_GE(bench.served(4), bench.served(2) + kMemory);
  }
}

TEST_P(L2Victim, MergedRequestsNeedNoWay) {
  Bench bench(GetParam());
  bench.load(100, 2);
  bench.load(101, 3);
  bench.load(102, 3);
  bench.load(103, 2);
  bench.run();
  EXPECT_EQ(bench.stats().merges, 2U);
  EXPECT_EQ(bench.stats().stalled_requests, 0U);
}

// Memory takes 64 cycles a line and has room for one write: the second victim has to wait for it, and so its miss. A
// victim of a fill is always accepted.
TEST_P(L2Victim, ThatIsDirtyWaitsForMemoryAtAMiss) {
  Bench bench(GetParam(), 1_GBps);
  bench.store(0, 0);
  bench.store(1, 1);
  bench.load(1000, 2);
  bench.load(1001, 3);
  bench.probe(1002, [&](L2Stats& stats) { EXPECT_EQ(stats.write_backs, at_miss() ? 1U : 0U); });
  bench.run();
  EXPECT_EQ(bench.stats().write_backs, 2U);
  EXPECT_EQ(bench.stats().stalled_requests, at_miss() ? 1U : 0U);
}

}  // namespace
}  // namespace nearfar::l2_victim_test
