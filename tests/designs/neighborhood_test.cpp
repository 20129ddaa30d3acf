// Neighborhood-aware coalescing: hand-worked walks cycle by cycle, and random ones against a plain model of waiting.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "config/error.h"
#include "designs/design.h"
#include "designs/neighborhood/neighborhood.h"
#include "designs/neighborhood/walk_coalescer.h"
#include "designs/neighborhood_model.h"
#include "designs/walk_bench.h"

namespace nearfar::neighborhood_test {
namespace {

constexpr std::uint64_t kA = page_at(0x0f5, 0x0a3, 0x029, 0x089);
constexpr std::uint64_t kB = page_at(0x0f5, 0x0a3, 0x029, 0x08a);  // in A's leaf line
constexpr std::uint64_t kC = page_at(0x0f5, 0x0a3, 0x02c, 0x1a0);  // in A's line of level 2
constexpr std::uint64_t kD = page_at(0x0f5, 0x0a3, 0x029, 0x090);  // in the leaf line behind A's
constexpr std::uint64_t kE = page_at(0x0f5, 0x0a3, 0x029, 0x08f);  // last of A's leaf line
constexpr std::uint64_t kF = page_at(0x0f5, 0x0a4, 0x000, 0x000);  // in A's line of level 3
constexpr std::uint64_t kG = page_at(0x0f5, 0x0a3, 0x030, 0x000);  // in the line of level 2 behind A's

enum class Variant { Baseline, Leaf, Full };

class Bench {
 public:
  Bench(Variant variant, std::uint32_t walkers, NeighborhoodSpec spec = {}, BenchOptions options = {})
      : bench_(with_walkers(options, walkers)) {
    if (variant == Variant::Baseline) return;
    spec.leaf_only = variant == Variant::Leaf;
    coalescer_ = std::make_unique<WalkCoalescer>(bench_.partition(), bench_.unit(), spec, true);
    bench_.unit().set_order(*coalescer_);
  }
  WalkBench* operator->() { return &bench_; }
  WalkStats& walks() { return bench_.unit().stats(); }
  CoalescerStats& stats() { return coalescer_->stats(); }
  bool waits(std::uint64_t page) { return coalescer_->waits(bench_.walk(page)); }
  unsigned known(std::uint64_t page) { return bench_.walk(page).known; }
  std::uint64_t started() { return walks().walks[0]; }

 private:
  static BenchOptions with_walkers(BenchOptions options, std::uint32_t walkers) {
    options.walkers = walkers;
    return options;
  }
  WalkBench bench_;
  std::unique_ptr<WalkCoalescer> coalescer_;
};

TEST(Neighborhoods, AreAlignedAndNest) {
  EXPECT_TRUE(same_neighborhood(PageKey{0, 8}, PageKey{0, 15}, 1, 1));
  EXPECT_FALSE(same_neighborhood(PageKey{0, 7}, PageKey{0, 8}, 1, 1));
  EXPECT_FALSE(same_neighborhood(PageKey{0, 8}, PageKey{1, 8}, 4, 1)) << "another process";
  EXPECT_TRUE(same_neighborhood(PageKey{0, 0}, PageKey{0, 8 * 512 - 1}, 2, 1));
  EXPECT_FALSE(same_neighborhood(PageKey{0, 8 * 512 - 1}, PageKey{0, 8 * 512}, 2, 1));
  EXPECT_TRUE(same_neighborhood(PageKey{0, 8}, PageKey{0, 15}, 2, 2)) << "large pages: level 2 is the leaf";
}

TEST(Neighborhood, ColdWalkReadsEveryLevel) {
  Bench bench(Variant::Full, 1);
  bench->ask(kA, 0);
  bench->ask(kD, 400);  // the walk cache has the rest
  bench->run();
  EXPECT_EQ(bench->done(kA), 400U);
  EXPECT_EQ(bench->done(kD), 500U);
  EXPECT_EQ(bench->reads(), 5U);
}

TEST(Neighborhood, BaselineNeighborsDoNotMerge) {
  Bench bench(Variant::Baseline, 2);
  bench->unit().measure_concurrency();
  bench->ask(kA, 0);
  bench->ask(kB, 0);
  bench->run();
  EXPECT_EQ(bench->done(kA), 400U);
  EXPECT_EQ(bench->done(kB), 400U);
  EXPECT_EQ(bench->reads(), 8U);
  const WalkConcurrencyStats& concurrent = bench->unit().concurrency()->stats();
  EXPECT_EQ(concurrent.leaf, 2U);
  EXPECT_EQ(concurrent.leaf_reads, 2U);
  EXPECT_EQ(concurrent.upper, 0U) << "they need the same entries";
  EXPECT_EQ(concurrent.upper_reads, 6U);
}

TEST(NeighborhoodLeaf, LooksAtLeafAccessesOnly) {
  Bench two(Variant::Leaf, 2);
  two->ask(kA, 0);
  two->ask(kB, 0);
  two->run();
  EXPECT_EQ(two->done(kB), 400U);
  EXPECT_EQ(two->reads(), 8U);
  EXPECT_EQ(two.stats().full, 0U);

  Bench one(Variant::Leaf, 1);
  one->ask(kA, 0);
  one->ask(kB, 0);
  one->at(299, [&] { EXPECT_FALSE(one.waits(kB)); });
  one->at(301, [&] { EXPECT_TRUE(one.waits(kB)); });
  one->run();
  EXPECT_EQ(one->done(kA), 400U);
  EXPECT_EQ(one->done(kB), 400U);
  EXPECT_EQ(one->reads(), 4U);

  Bench baseline(Variant::Baseline, 1);
  baseline->ask(kA, 0);
  baseline->ask(kB, 0);
  baseline->run();
  EXPECT_EQ(baseline->done(kB), 500U);
  EXPECT_EQ(baseline->reads(), 5U);
}

TEST(Neighborhood, RequestOfTheSameLeafLineNeedsNoWalker) {
  Bench bench(Variant::Full, 2);
  bench->ask(kA, 0);
  bench->ask(kB, 0);
  for (const Cycle t : {1, 101, 201, 301, 399}) {
    bench->at(t, [&, t] {
      EXPECT_TRUE(bench.waits(kB)) << t;
      EXPECT_EQ(bench.known(kB), t < 100 ? 0U : 5U - static_cast<unsigned>(t / 100)) << t;
    });
  }
  bench->run();
  EXPECT_EQ(bench->done(kA), 400U);
  EXPECT_EQ(bench->done(kB), 400U);
  EXPECT_EQ(bench->reads(), 4U);
  EXPECT_EQ(bench.stats().full, 1U);
  EXPECT_EQ(bench.started(), 1U);
  EXPECT_EQ(bench.stats().wait_cycles, 400U);
}

/// The worked example of the study.
TEST(Neighborhood, ThreeRequestsOfOneUpperLine) {
  Bench bench(Variant::Full, 2);
  bench->ask(kA, 0);
  bench->ask(kB, 0);
  bench->ask(kC, 0);
  bench->at(201, [&] {
    EXPECT_TRUE(bench.waits(kB));
    EXPECT_TRUE(bench.waits(kC));
    EXPECT_EQ(bench.known(kC), 3U);
  });
  bench->at(301, [&] {
    EXPECT_TRUE(bench.waits(kB));
    EXPECT_EQ(bench.known(kB), 2U);
    EXPECT_EQ(bench->unit().waiting(), 1U) << "C is with the other walker";
    EXPECT_EQ(bench->unit().cache().find(PageKey{0, kC}, 1, 4), 2U);
  });
  bench->run();
  for (const std::uint64_t page : {kA, kB, kC}) EXPECT_EQ(bench->done(page), 400U);
  EXPECT_EQ(bench->reads(), 5U);
  EXPECT_EQ(bench.stats().part[0], 1U);
  EXPECT_EQ(bench.walks().cache_lookups, 1U) << "C does not ask the walk cache";

  Bench baseline(Variant::Baseline, 2);
  for (const std::uint64_t page : {kA, kB, kC}) baseline->ask(page, 0);
  baseline->run();
  EXPECT_EQ(baseline->done(kB), 400U);
  EXPECT_EQ(baseline->done(kC), 600U);
  EXPECT_EQ(baseline->reads(), 10U);
}

TEST(Neighborhood, AdjacentPagesOfDifferentLinesAreRead) {
  Bench bench(Variant::Full, 2);
  bench->ask(kE, 0);
  bench->ask(kD, 0);
  bench->run();
  EXPECT_EQ(bench->done(kE), 400U);
  EXPECT_EQ(bench->done(kD), 400U);
  EXPECT_EQ(bench->reads(), 5U);
}

/// B knows its entry of level 2 while F reads level 3, in a neighborhood of both.
TEST(Neighborhood, KnownLevelNeverGoesBackUp) {
  for (const WaitRule rule : {WaitRule::Useful, WaitRule::Literal}) {
    NeighborhoodSpec spec;
    spec.rule = rule;
    Bench bench(Variant::Full, 2, spec);
    bench->warm(3, kC);
    bench->warm(4, kF);
    bench->ask(kC, 0);   // level 2 until 100, then its leaf until 200
    bench->ask(kB, 0);   // waits for C's line of level 2
    bench->ask(kF, 50);  // level 3 until 150
    std::uint64_t writes = 0;
    bench->at(101, [&] {
      EXPECT_EQ(bench.known(kB), 2U);
      EXPECT_EQ(bench.waits(kB), rule == WaitRule::Literal);
    });
    bench->at(149, [&] { writes = bench.stats().cam_writes; });
    bench->at(151, [&] {
      EXPECT_EQ(bench.known(kB), 2U);
      EXPECT_FALSE(bench.waits(kB)) << "F is at level 2, in another line";
      // The walker's table, and under the literal rule B, which waits no longer.
      EXPECT_EQ(bench.stats().cam_writes - writes, rule == WaitRule::Useful ? 1U : 2U);
    });
    bench->run();
    EXPECT_EQ(bench->done(kC), 200U);
    EXPECT_EQ(bench->done(kB), 300U);
  }
}

TEST(Neighborhood, AccessThatCannotHelpBlocksNobody) {
  NeighborhoodSpec literal;
  literal.rule = WaitRule::Literal;
  for (const bool useful : {true, false}) {
    Bench bench(Variant::Full, 3, useful ? NeighborhoodSpec{} : literal);
    bench->warm(3, kC);
    bench->warm(4, kF);
    bench->ask(kC, 0);
    bench->ask(kB, 0);
    bench->ask(kF, 50);
    bench->run();
    EXPECT_EQ(bench->done(kB), useful ? 200U : 250U);
  }
}

TEST(Neighborhood, LiteralRuleGivesUpWaitingInTheEnd) {
  const auto done = [](WaitRule rule, std::uint32_t limit) {
    NeighborhoodSpec spec;
    spec.rule = rule;
    spec.wait_limit = limit;
    Bench bench(Variant::Full, 4, spec);
    bench->ask(kA, 0);
    bench->ask(kD, 0);                             // has its entry of level 2 at 300
    bench->ask(kF, 250);                           // reads level 3 in its neighborhood from 250 to 350
    bench->ask(page_at(0x1f0, 0x0a3, 0, 0), 310);  // of no neighborhood: passes D
    bench->run();
    EXPECT_EQ(bench->done(kA), 400U);
    EXPECT_EQ(bench->done(kF), 550U);
    return bench->done(kD);
  };
  EXPECT_EQ(done(WaitRule::Useful, 8), 400U);
  EXPECT_EQ(done(WaitRule::Literal, 8), 450U);
  // Refused at 300, and at 310 when another is chosen; then no more.
  EXPECT_EQ(done(WaitRule::Literal, 2), 410U);
}

TEST(Neighborhood, OldestThatDoesNotWaitIsChosen) {
  Bench bench(Variant::Full, 2);
  bench->warm(2, kA);
  bench->warm(3, kA);
  bench->ask(kA, 0);  // at the leaf, from 0 to 100
  bench->ask(kC, 0);  // at level 2: the other walker, until 200
  bench->ask(kB, 1);  // waits for A
  bench->ask(kG, 2);
  bench->ask(kD, 3);  // waits for C's level 2
  bench->at(50, [&] {
    EXPECT_TRUE(bench.waits(kB));
    EXPECT_FALSE(bench.waits(kG));
    EXPECT_TRUE(bench.waits(kD));
  });
  bench->run();
  EXPECT_EQ(bench->done(kB), 100U);
  EXPECT_EQ(bench->done(kG), 300U) << "G has A's walker from 100 on, with two reads";
  EXPECT_EQ(bench->done(kD), 300U) << "D has C's walker at 200, with its entry of level 2";
}

TEST(Neighborhood, ChoicesSeeTheAccessesOfThoseBefore) {
  Bench bench(Variant::Full, 3);
  bench->warm(4, kC);
  bench->warm(3, kC);
  for (const std::uint64_t page : {kC, kA, kG}) bench->ask(page, 0);
  bench->at(50, [&] { EXPECT_TRUE(bench.waits(kA)); });
  bench->run();
  for (const std::uint64_t page : {kC, kA, kG}) EXPECT_EQ(bench->done(page), 200U);
  EXPECT_EQ(bench->reads(), 5U);
}

TEST(Neighborhood, RequestInTheCycleOfALineComesTooLate) {
  Bench bench(Variant::Full, 1);
  bench->ask(kA, 0);
  bench->ask(kB, 400);
  bench->run();
  EXPECT_EQ(bench->done(kA), 400U);
  EXPECT_EQ(bench->done(kB), 500U);
  EXPECT_EQ(bench.stats().full, 0U);
}

TEST(Neighborhood, MayWaitForWhatTheWalkCacheHas) {
  for (const bool considers : {false, true}) {
    NeighborhoodSpec spec;
    spec.wait_considers_pwc = considers;
    Bench bench(Variant::Full, 2, spec);
    bench->warm(3, kC);
    bench->warm(2, kB);
    bench->ask(kC, 0);
    bench->ask(kB, 10);
    bench->run();
    EXPECT_EQ(bench->done(kC), 200U);
    EXPECT_EQ(bench->done(kB), considers ? 110U : 200U);
    EXPECT_EQ(bench->reads(), 3U);
  }
}

TEST(Neighborhood, DeeperOfWhatIsKnownAndCachedWins) {
  Bench bench(Variant::Full, 2);
  // C and B wait for A's root line. At 100 the walk cache gets B's entry of level 2, so B needs the leaf alone, when
  // the other walker takes it at 150, after C.
  bench->ask(kA, 0);
  const std::uint64_t other = page_at(0x0f6, 0, 0, 0);  // the same root line, another entry
  bench->ask(other, 0);
  bench->at(50, [&] { bench->warm(2, other); });
  bench->at(101, [&] { EXPECT_EQ(bench->unit().waiting(), 0U); });
  bench->run();
  EXPECT_EQ(bench->done(other), 200U);
  EXPECT_EQ(bench.stats().part[2], 1U) << "its entry of level 4 was known";
  EXPECT_EQ(bench.walks().cache_hits[0][0], 1U);
}

TEST(Neighborhood, UnmappedNeighborFaultsWithTheLine) {
  Bench bench(Variant::Full, 1);
  bench->ask(kA, 0);
  bench->ask_unmapped(kB, 0);
  bench->run();
  EXPECT_EQ(bench->done(kA), 400U);
  EXPECT_EQ(bench->fault(kB), 400U);
  EXPECT_EQ(bench->reads(), 4U);
}

TEST(Neighborhood, WalkThatEndsEarlyLeavesNobodyWaiting) {
  Bench bench(Variant::Full, 2);
  bench->ask_unmapped(kC, 0);  // there is no node for its leaf
  bench->ask(kA, 0);
  bench->run();
  EXPECT_EQ(bench->fault(kC), 300U);
  EXPECT_EQ(bench->done(kA), 400U);
}

TEST(Neighborhood, RequestsWithoutALeafNodeFaultWithTheUpperLine) {
  Bench bench(Variant::Full, 2);
  bench->ask(kA, 0);
  bench->ask_unmapped(kC, 0);
  bench->run();
  EXPECT_EQ(bench->done(kA), 400U);
  EXPECT_EQ(bench->fault(kC), 300U);
  EXPECT_EQ(bench->reads(), 4U);
  EXPECT_EQ(bench.stats().full, 1U);
}

TEST(NeighborhoodLeaf, TwoAccessesToOneLineAnswerOnce) {
  Bench bench(Variant::Leaf, 2);
  bench->ask(kA, 0);
  bench->ask(kB, 0);
  bench->ask(kE, 350);
  bench->run();
  for (const std::uint64_t page : {kA, kB, kE}) EXPECT_EQ(bench->done(page), 400U);
  EXPECT_EQ(bench->answers.size(), 3U);
  EXPECT_EQ(bench->reads(), 8U);
}

TEST(Neighborhood, EightNeighborsAreOneWalk) {
  Bench bench(Variant::Full, 1);
  Bench baseline(Variant::Baseline, 1);
  const std::uint64_t first = kA & ~std::uint64_t{7};
  for (std::uint64_t i = 0; i < 8; ++i) {
    bench->ask(first + i, 0);
    baseline->ask(first + i, 0);
  }
  bench->run();
  baseline->run();
  for (std::uint64_t i = 0; i < 8; ++i) {
    EXPECT_EQ(bench->done(first + i), 400U);
    EXPECT_EQ(baseline->done(first + i), 400 + 100 * i);
    EXPECT_EQ(bench->answers[i].page, first + i) << "its own first, then by arrival";
  }
  EXPECT_EQ(bench->reads(), 4U);
  EXPECT_EQ(baseline->reads(), 11U);
  EXPECT_EQ(bench.walks().latency.sum, 8 * 400U);
  EXPECT_EQ(baseline.walks().latency.sum, 8 * 750U);
}

TEST(Neighborhood, WalkersIdleWhileAllWait) {
  Bench bench(Variant::Full, 8);
  for (std::uint64_t i = 0; i < 8; ++i) bench->ask(page_at(0x0f0 + i, 1, 2, 3), 0);
  bench->at(50, [&] { EXPECT_EQ(bench->unit().waiting(), 7U); });
  bench->run();
  for (std::uint64_t i = 0; i < 8; ++i) EXPECT_EQ(bench->done(page_at(0x0f0 + i, 1, 2, 3)), 400U);
  EXPECT_EQ(bench->reads(), 25U);
  EXPECT_EQ(bench.stats().wait_cycles, 7 * 100U);
}

TEST(Neighborhood, ChangedTableIsReadAgain) {
  Bench bench(Variant::Full, 2);
  bench->ask(kA, 0);
  bench->ask(kB, 0);
  bench->at(350, [&] {
    bench->clear_table();
    bench->cover(kC);  // the nodes above are still there
    bench->unit().table_changed({PageKey{0, kA & ~std::uint64_t{511}}, 512});
    EXPECT_EQ(bench.known(kB), 0U);
    EXPECT_EQ(bench->unit().cache().find(PageKey{0, kA}, 1, 4), 3U);
  });
  bench->at(450, [&] { EXPECT_TRUE(bench.waits(kB)); });
  bench->run();
  EXPECT_EQ(bench->fault(kA), 500U);
  EXPECT_EQ(bench->fault(kB), 500U);
  EXPECT_EQ(bench->reads(), 5U);
}

TEST(Neighborhood, EnergyIsThatOfReadsAndOfTheQueue) {
  const WalkEnergySpec energy;
  EXPECT_EQ(energy.of_table(1'000'000), 8'000'000'000U);
  const std::uint64_t coalesced = energy.of_table(630'000) + energy.of_cam(2'000'000, 1'500'000);
  EXPECT_EQ(coalesced, 5'416'000'000U);
  // Over 20 ms of the baseline: pJ over ns are mW.
  EXPECT_NEAR(static_cast<double>(energy.of_table(1'000'000) - coalesced) / 20e6, 129.2, 0.05);
}

TEST(Neighborhood, CamIsCountedByActions) {
  Bench bench(Variant::Full, 1);
  bench->ask(kA, 0);
  bench->ask(kB, 0);
  bench->run();
  // Searches: a choice at 0 and four lines. While the walker is busy nothing is chosen.
  EXPECT_EQ(bench.stats().cam_reads, 5U);
  // Changes: the walker's table at its start and with each of four lines; B waits from 0, and its level moves thrice.
  EXPECT_EQ(bench.stats().cam_writes, 1U + 4U + 1U + 3U);
}

/// Random requests over few regions, some of them not mapped, with memory that reorders: the answers and counts are
/// those of a model that works out anew who waits, at every step.
TEST(Neighborhood, IsAPlainModelOnRandomRequests) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    std::mt19937_64 random(seed);
    const Variant variant = seed % 2 == 0 ? Variant::Leaf : Variant::Full;
    BenchOptions options;
    options.timing = WalkTiming::Memory;
    options.queue = static_cast<std::uint32_t>(1 + random() % 16);
    const auto walkers = static_cast<std::uint32_t>(1 + random() % 8);
    Bench bench(variant, walkers, {}, options);
    const std::uint64_t salt = random();
    bench->latency = [salt](PhysLine line) { return Cycle{20 + (line.value ^ salt) * 2654435761ULL % 1009 % 150}; };

    std::vector<PlainCoalescer::Request> requests;
    std::set<std::uint64_t> pages;
    const std::uint64_t spread = random() % 2 == 0 ? 300 : 6000;
    for (unsigned i = 0; i < 60; ++i) {
      const std::uint64_t page =
          page_at(random() % 2 * 7 + random() % 2, random() % 3, random() % 3 * 5, random() % 4 * 9);
      if (!pages.insert(page).second) continue;
      requests.push_back({page, random() % spread});
      if (random() % 8 != 0) bench->map(page);
    }
    std::ranges::stable_sort(requests, {}, &PlainCoalescer::Request::when);
    for (const auto& request : requests) bench->ask_unmapped(request.page, request.when);
    bench->run();

    PlainCoalescer model(variant == Variant::Leaf, walkers, options.queue, bench->table(0), bench->latency);
    model.run(requests);
    std::vector<PlainCoalescer::Answer> answers;
    for (const WalkBench::Done& d : bench->answers) answers.push_back({d.page, d.when, d.fault});
    ASSERT_EQ(answers, model.answers) << seed;
    ASSERT_EQ(bench.walks().reads, model.reads) << seed;
    ASSERT_EQ(bench.started(), model.started) << seed;
    ASSERT_EQ(bench.walks().cache_lookups, model.lookups) << seed;
    ASSERT_EQ(bench->memory_reads.size(), bench->reads()) << seed;
    ASSERT_EQ(answers.size(), requests.size()) << seed;
    ASSERT_EQ(bench.stats().full, model.full) << seed;
    ASSERT_EQ(bench.stats().part, model.part) << seed;
    ASSERT_EQ(bench.started() + bench.stats().full, requests.size()) << seed;
  }
}

std::uint64_t bits_of(const std::vector<std::string>& overrides, const char* design = "neighborhood") {
  std::uint64_t bits = 0;
  const std::vector<std::string> designs = {design};
  for (const DesignCost& cost : cost_of(designs, "svm-1gpu", overrides)) {
    for (const StorageItem& item : cost.items) bits += item.bits;
  }
  return bits;
}

TEST(Neighborhood, CostsWhatIsPublished) {
  EXPECT_EQ(bits_of({}), 1448U * 8);  // published as around 1.5 KB
  EXPECT_EQ(bits_of({"iommu.walkers=32"}), 1568U * 8);
  EXPECT_EQ(bits_of({"iommu.pw_queue.entries=1024"}), 5672U * 8);
  EXPECT_EQ(bits_of({}, "neighborhood-leaf"), 256U + 8 * 40);  // neither levels nor addresses wait with a request
}

TEST(Neighborhood, NeedsWalksByLevelAndANumberOfWalkers) {
  const std::vector<std::string> designs = {"neighborhood"};
  EXPECT_THROW(load_system_with(designs, "ats-4gpu", {}), InputError);
  const std::vector<std::string> by_level = {"walk.timing=fixed-level"};
  EXPECT_NO_THROW(load_system_with(designs, "ats-4gpu", by_level));
  const std::vector<std::string> unlimited = {"iommu.walkers=0"};
  EXPECT_THROW(load_system_with(designs, "svm-1gpu", unlimited), InputError);
}

}  // namespace
}  // namespace nearfar::neighborhood_test
