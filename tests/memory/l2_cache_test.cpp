// The flush of an L2 cache: what it has to write back, and when it may say that it is done.
#include "memory/cache/l2_cache.h"

#include <gtest/gtest.h>

#include <vector>

namespace nearfar::l2_cache_test {
namespace {

constexpr std::uint64_t kLine = 64;
constexpr Cycle kMemory = 1000;  ///< latency of memory, so long that a line is still under way when a flush comes

/// An L2 cache alone, in front of a memory with a fixed latency; a script asks for lines and for flushes.
class Bench final : public L2Client {
 public:
  struct Options {
    std::uint32_t write_queue = 64;
    std::uint64_t size = 4096;
    Bandwidth bandwidth = DramSpec{}.channel_bandwidth;
  };

  Bench() : Bench(Options{}) {}
  explicit Bench(const Options& options)
      : partition_(DeviceId{0}, 1),
        cache_(partition_, cache_spec(options), dram_spec(options), kLine, 1'000'000'000, *this, masks_, nullptr),
        handler_(partition_.add_handler<&Bench::on_step>(this)) {}

  void store(Cycle at, unsigned line, unsigned bytes) {
    auto* request = partition_.pool().allocate<StoreRequest>();
    if (bytes != kLine) {
      const ByteMask mask{{(std::uint64_t{1} << bytes) - 1, 0}};
      request->masks = masks_.allocate(DeviceId{0}, {mask, mask});
    }
    ask(at, RequestKind::Write, line, request);
  }
  void load(Cycle at, unsigned line) { ask(at, RequestKind::Read, line, partition_.pool().allocate<LoadRequest>()); }
  void atomic(Cycle at, unsigned line) {
    ask(at, RequestKind::Atomic, line, partition_.pool().allocate<LoadRequest>());
  }
  void flush(Cycle at) { partition_.schedule(partition_.pool().allocate<Event>(), flush_handler_, at); }
  void run() {
    partition_.begin_window(0);
    partition_.run(kNever);
    EXPECT_EQ(cache_.pending(), 0U);
    EXPECT_EQ(partition_.pool().live(), 0U);
    EXPECT_EQ(masks_.live(), 0U);
  }

  struct Flushed {
    Cycle when;
    std::uint64_t lines;   ///< flushed so far
    std::uint64_t writes;  ///< that memory has been given so far
    bool operator==(const Flushed&) const = default;
  };
  const std::vector<Flushed>& flushes() const { return flushes_; }
  L2Stats& stats() { return cache_.stats(); }
  std::uint64_t memory_writes() { return cache_.dram().stats().writes; }
  /// When the last store was ordered.
  Cycle last_ordered() const { return last_ordered_; }

  L2Cache& cache() { return cache_; }

  void lines_served(LineRequest* request) override { partition_.pool().release(request); }
  void stores_ordered(unsigned, PhysPage, unsigned) override { last_ordered_ = partition_.now(); }
  void answer(LineRequest* request, Cycle) override { partition_.pool().release(request); }
  Spacing reply_spacing(const LineRequest&) const override { return Spacing::every(1); }
  void requests_taken(const LineRequest&, std::uint32_t) override {}
  void l2_has_room(std::uint16_t) override {}
  void flushed() override { flushes_.push_back({partition_.now(), stats().flushed_lines, memory_writes()}); }

 private:
  static L2Spec cache_spec(const Options& options) {
    L2Spec spec;
    spec.size = options.size;
    spec.ways = 4;
    spec.banks = 2;
    return spec;
  }
  static DramSpec dram_spec(const Options& options) {
    DramSpec spec;
    spec.model = DramModel::Fixed;
    spec.capacity = 1 << 20;
    spec.channels = 1;
    spec.latency = kMemory;
    spec.write_queue = options.write_queue;
    spec.channel_bandwidth = options.bandwidth;
    return spec;
  }
  void ask(Cycle at, RequestKind kind, unsigned line, LineRequest* request) {
    request->kind = kind;
    request->line = PhysLine{PhysPage{DeviceId{0}, 0}, line};
    request->mask = std::uint64_t{1} << line;
    partition_.schedule(request, handler_, at);
  }
  void on_flush(Event* event) {
    partition_.pool().release(event);
    cache_.flush();
  }
  void on_step(LineRequest* request) {
    request->stage_start = static_cast<std::uint32_t>(partition_.now());
    cache_.reserve_always(request->line);
    cache_.request(request);
  }

  Partition partition_;
  ByteMaskPool masks_{1};
  L2Cache cache_;
  HandlerId handler_;
  HandlerId flush_handler_ = partition_.add_handler<&Bench::on_flush>(this);
  std::vector<Flushed> flushes_;
  Cycle last_ordered_ = 0;
};

TEST(Flush, OfWholeLinesIsDoneAtOnce) {
  Bench bench;
  for (unsigned line = 0; line < 5; ++line) bench.store(line, line, kLine);
  bench.flush(10);
  bench.run();
  EXPECT_EQ(bench.flushes(), (std::vector<Bench::Flushed>{{10, 5, 5}}));
}

TEST(Flush, WaitsForStoresWhoseLinesAreStillUnderWay) {
  Bench bench;
  bench.store(0, 1, kLine);
  bench.store(0, 2, 4);  // a part of a line: memory is read first
  bench.store(5, 3, 4);
  bench.flush(10);
  bench.run();
  ASSERT_EQ(bench.flushes().size(), 1U);
  EXPECT_GT(bench.flushes()[0].when, kMemory);
  EXPECT_EQ(bench.flushes()[0].lines, 3U);
  EXPECT_EQ(bench.flushes()[0].writes, 3U);
}

TEST(Flush, WaitsForAStoreBehindALoadAndForAnAtomic) {
  Bench bench;
  bench.load(0, 1);
  bench.store(3, 1, 4);
  bench.atomic(5, 2);
  bench.flush(10);
  bench.run();
  ASSERT_EQ(bench.flushes().size(), 1U);
  EXPECT_GT(bench.flushes()[0].when, kMemory);
  EXPECT_EQ(bench.flushes()[0].lines, 2U);
}

TEST(Flush, DoesNotWaitForLinesThatOnlyLoadsWaitFor) {
  Bench bench;
  bench.store(0, 1, kLine);
  bench.load(0, 2);
  bench.load(1, 2);
  bench.flush(10);
  bench.run();
  EXPECT_EQ(bench.flushes(), (std::vector<Bench::Flushed>{{10, 1, 1}}));
}

TEST(Flush, DoesNotCoverStoresThatComeAfterIt) {
  Bench bench;
  bench.store(0, 1, 4);
  bench.flush(10);
  bench.store(600, 2, 4);
  bench.run();
  ASSERT_EQ(bench.flushes().size(), 1U);
  EXPECT_LT(bench.flushes()[0].when, kMemory + 100);
  EXPECT_EQ(bench.flushes()[0].lines, 1U);
  EXPECT_EQ(bench.memory_writes(), 1U);
}

TEST(Flush, CountsALineOnceThatHasManyStores) {
  Bench bench;
  for (unsigned i = 0; i < 10; ++i) bench.store(i, 7, 4);
  bench.flush(20);
  bench.run();
  ASSERT_EQ(bench.flushes().size(), 1U);
  EXPECT_EQ(bench.stats().flushed_lines, 1U);
  EXPECT_EQ(bench.memory_writes(), 1U);
}

TEST(Flush, HasRoomMadeForItWhereMemoryTakesFewWrites) {
  Bench bench({.write_queue = 1});
  for (unsigned line = 0; line < 16; ++line) bench.store(line, line, line % 2 == 0 ? kLine : 4);
  bench.flush(20);
  bench.run();
  ASSERT_EQ(bench.flushes().size(), 1U);
  EXPECT_EQ(bench.flushes()[0].lines, 16U);
  EXPECT_EQ(bench.flushes()[0].writes, 16U);
}

// A line takes memory 64 cycles, and two may wait there.
TEST(Flush, IsDoneWhenMemoryHasTakenTheLastLine) {
  Bench bench({.write_queue = 2, .bandwidth = 1_GBps});
  for (unsigned line = 0; line < 16; ++line) bench.store(line, line, kLine);
  bench.flush(20);
  bench.run();
  ASSERT_EQ(bench.flushes().size(), 1U);
  EXPECT_EQ(bench.flushes()[0].writes, 16U);
  EXPECT_GE(bench.flushes()[0].when, 20U + (16 - 3) * 64);
}

// A cache of 8 lines: all but the first 8 of the stores put a dirty line out.
TEST(Store, OfAWholeLineWaitsUntilMemoryTakesItsVictim) {
  Bench bench({.write_queue = 2, .size = 8 * kLine, .bandwidth = 1_GBps});
  for (unsigned line = 0; line < 40; ++line) bench.store(line, line, kLine);
  bench.run();
  EXPECT_EQ(bench.memory_writes(), 32U);
  EXPECT_GE(bench.last_ordered(), (32U - 3) * 64);
}

/// Each caller hears of its own flush, and what was ordered before the second is there when that is done.
TEST(Flush, ThatIsAskedForDuringAnotherFollowsIt) {
  Bench bench;
  bench.store(0, 1, 4);
  bench.flush(10);
  bench.store(20, 2, 4);
  bench.flush(30);
  bench.flush(40);
  bench.run();
  ASSERT_EQ(bench.flushes().size(), 3U);
  EXPECT_GE(bench.flushes()[0].lines, 1U);
  EXPECT_EQ(bench.flushes()[1].lines, 2U);
  EXPECT_EQ(bench.flushes()[2].lines, 2U);
  EXPECT_EQ(bench.memory_writes(), 2U);
}

/// A coherence directory hears of it when the lines of a page have left, and not when they stay.
TEST(L2Page, TellsItsObserverThatItHasLeft) {
  struct Observer final : OrderObserver {
    void ordered(const LineRequest&, Cycle) override {}
    void overwritten(PhysLine) override {}
    void page_left(PhysPage page) override { left.push_back(page); }
    std::vector<PhysPage> left;
  } observer;
  Bench bench;
  bench.cache().set_observer(observer);
  const PhysPage page{DeviceId{0}, 3};
  bench.cache().write_back_page(page, false);
  EXPECT_TRUE(observer.left.empty());
  bench.cache().write_back_page(page, true);
  EXPECT_EQ(observer.left, std::vector{page});
}

}  // namespace
}  // namespace nearfar::l2_cache_test
