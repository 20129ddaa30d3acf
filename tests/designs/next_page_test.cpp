// Sequential prefetching into the L2 TLB: by hand on a small rig, and on whole machines of every kind.
#include "designs/next_page/next_page.h"

#include <gtest/gtest.h>

#include "designs/tiny_machine.h"
#include "translation/rig.h"

namespace nearfar::next_page_test {
namespace {

/// One GPU with a GMMU and a prefetcher.
struct Bench {
  explicit Bench(const RigOptions& options, NextPageSpec spec = {}) : rig(options) {
    rig.parts(0).add(std::make_unique<NextPage>(rig.l2(0), spec));
  }
  TlbPrefetchStats& stats() { return rig.l2(0).prefetch_stats(); }
  void run() {
    rig.run();
    EXPECT_TRUE(rig.idle());
    EXPECT_EQ(rig.all_parts(), rig.latency());
    // What was issued was used, or went, or is still there.
    EXPECT_LE(stats().useful + stats().late + stats().unused + stats().unmapped, stats().issued);
  }
  Rig rig;
};

TEST(NextPage, IsThereWhenItIsAskedFor) {
  Bench bench(RigOptions::mmu(1));
  for (std::uint64_t page = 0; page < 4; ++page) bench.rig.own(0, page);
  bench.rig.ask(0, 0, 0);
  bench.rig.ask(0, 1, 5000);
  bench.rig.ask(0, 2, 10'000);
  bench.run();
  // Page 0 brings page 1, whose use brings page 2, whose use brings page 3.
  EXPECT_EQ(bench.stats().issued, 3U);
  EXPECT_EQ(bench.stats().useful, 2U);
  EXPECT_EQ(bench.rig.l2(0).stats().misses, 1U);
  EXPECT_EQ(bench.rig.l2(0).miss_stats().count, 1U);
  EXPECT_EQ(bench.rig.answered(0, 1), 5000 + 1 + 10U);
}

TEST(NextPage, WithoutTagsOnlyMissesFetchAhead) {
  Bench bench(RigOptions::mmu(1), {.degree = 2, .tagged = false});
  for (std::uint64_t page = 0; page < 8; ++page) bench.rig.own(0, page);
  bench.rig.ask(0, 0, 0);
  bench.rig.ask(0, 1, 5000);
  bench.rig.ask(0, 2, 10'000);
  bench.rig.ask(0, 3, 15'000);
  bench.run();
  EXPECT_EQ(bench.stats().issued, 4U);
  EXPECT_EQ(bench.stats().useful, 2U);
  EXPECT_EQ(bench.rig.l2(0).stats().misses, 2U);
}

TEST(NextPage, AskedForOnItsWayIsMeasuredFromThenOn) {
  Bench bench(RigOptions::mmu(1));
  for (std::uint64_t page = 0; page < 4; ++page) bench.rig.own(0, page);
  bench.rig.ask(0, 0, 0);
  bench.rig.ask(0, 1, 100);
  bench.run();
  EXPECT_EQ(bench.stats().late, 1U);
  EXPECT_EQ(bench.rig.l2(0).miss_stats().count, 2U);
  // Both walks begin when the first request has missed, so the second is answered with the first.
  EXPECT_EQ(bench.rig.answered(0, 1), bench.rig.answered(0, 0));
  EXPECT_EQ(bench.rig.latency(), 2 * (bench.rig.answered(0, 0) - 11) - 100);
}

TEST(NextPage, NeverSendsAFault) {
  Bench bench(RigOptions::mmu(1));
  bench.rig.own(0, 0);
  bench.rig.ask(0, 0, 0);  // page 1 is on the host
  bench.run();
  EXPECT_EQ(bench.stats().unmapped, 1U);
  EXPECT_EQ(bench.rig.gmmu(0).stats().far_faults, 0U);
  EXPECT_EQ(bench.rig.uvm().faults, 0U);
}

TEST(NextPage, FaultsWhenSomeoneHasAskedMeanwhile) {
  Bench bench(RigOptions::mmu(1));
  bench.rig.own(0, 0);
  bench.rig.ask(0, 0, 0);
  bench.rig.ask(0, 1, 100);
  bench.run();
  EXPECT_EQ(bench.stats().late, 1U);
  EXPECT_EQ(bench.rig.gmmu(0).stats().far_faults, 1U);
  EXPECT_EQ(bench.rig.mapping_of(0, 1).page.device(), DeviceId{0});
}

TEST(NextPage, TakesAtMostHalfOfTheMshrs) {
  RigOptions options = RigOptions::mmu(1);
  options.l2_tlb = {{{64, 4, 10}, 0}, 6};
  Bench bench(options, {.degree = 8, .tagged = false});
  for (std::uint64_t page = 0; page < 16; ++page) bench.rig.own(0, page);
  bench.rig.ask(0, 0, 0);
  bench.run();
  EXPECT_EQ(bench.stats().issued, 3U);
  EXPECT_EQ(bench.stats().dropped, 5U);
}

TEST(NextPage, TakesNoPlaceThatIsNotFree) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.walkers = 1;
  options.gmmu.gmmu.queue = 2;
  Bench bench(options, {.degree = 8, .tagged = false});
  for (std::uint64_t page = 0; page < 16; ++page) bench.rig.own(0, page);
  bench.rig.ask(0, 0, 0);
  bench.run();
  // One walks, two wait.
  EXPECT_EQ(bench.stats().issued, 2U);
  EXPECT_EQ(bench.stats().dropped, 6U);
}

TEST(NextPage, IsNotBroughtBackByAnInvalidation) {
  Bench bench(RigOptions::mmu(2));
  for (std::uint64_t page = 0; page < 4; ++page) bench.rig.own(0, page);
  bench.rig.ask(0, 0, 0);
  bench.rig.ask(1, 1, 0);  // takes page 1 away while, or after, GPU 0 fetches it ahead
  bench.run();
  EXPECT_EQ(bench.rig.l2(0).array().peek(PageKey{0, 1}), nullptr);
  EXPECT_EQ(bench.stats().unused + bench.stats().unmapped, 1U);
}

TEST(NextPage, ComesFromTheIommuToo) {
  Bench bench(RigOptions::with_iommu(1));
  bench.rig.ask(0, 0, 0);
  bench.rig.ask(0, 1, 300);
  bench.rig.ask(0, 2, 10'000);
  bench.run();
  EXPECT_EQ(bench.stats().late, 1U);
  EXPECT_EQ(bench.stats().useful, 1U);
}

TEST(NextPage, IsDroppedByAnIommuWithoutRoom) {
  RigOptions options = RigOptions::with_iommu(1);
  options.iommu.walkers = 1;
  options.iommu.queue = 1;
  Bench bench(options, {.degree = 4, .tagged = false});
  bench.rig.ask(0, 0, 0);
  bench.rig.ask(0, 4, 100);  // on its way to be dropped: asked for again
  bench.run();
  // One walks, one waits, and of the other three one is asked for again.
  EXPECT_EQ(bench.stats().issued, 4U);
  EXPECT_EQ(bench.stats().late, 1U);
  EXPECT_EQ(bench.stats().unmapped, 2U);
  EXPECT_NE(bench.rig.answered(0, 4), 0U);
}

TEST(NextPage, PastTheLastPageFindsNothing) {
  Bench bench(RigOptions::with_iommu(1, PagePolicy::FirstTouch), {.degree = 2});
  bench.rig.ask(0, (1 << 16) - 1, 0);
  bench.run();
  EXPECT_EQ(bench.stats().unmapped, 2U);
  EXPECT_EQ(bench.rig.uvm().faults, 1U);
}

/// A wavefront that goes through pages in order, one load at a time.
std::shared_ptr<Script> in_order(std::uint64_t pages) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(pages * kPageBytes, Placement::Interleave);
  script->launch(groups_of(1), [=](const Script&, const Wave&) -> Stream {
    for (std::uint64_t page = 0; page < pages; ++page) {
      co_yield load(4, [=](unsigned lane) { return base + page * kPageBytes + lane * 4; });
      co_yield wait(0);
    }
  });
  return script;
}

TEST(NextPage, MakesASequenceFasterOnEverySystem) {
  for (const char* system : {"mmu-4gpu", "ats-4gpu", "svm-1gpu"}) {
    SCOPED_TRACE(system);
    const Names settings = std::string(system) == "mmu-4gpu" ? Names{"placement.policy=no-fault"} : Names{};
    const Outcome plain = simulate(load_system_with({}, system, settings).spec, {in_order(64)});
    const Outcome ahead = simulate(load_system_with(Names{"next-page"}, system, settings).spec, {in_order(64)});
    EXPECT_LT(ahead.result.cycles, plain.result.cycles);
    EXPECT_GT(ahead.count("gpus.next_page.useful") + ahead.count("gpus.next_page.late"), 50U);
    expect_parts_add_up(ahead);
  }
}

class NextPageStorms : public ::testing::TestWithParam<TranslationKind> {};
INSTANTIATE_TEST_SUITE_P(All, NextPageStorms,
                         ::testing::Values(TranslationKind::Mmu, TranslationKind::Ats, TranslationKind::Svm));

TEST_P(NextPageStorms, LoseNothingAndGiveTheSameStatisticsOnAnyNumberOfThreads) {
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    SCOPED_TRACE(seed);
    const SystemSpec system = tiny_machine(GetParam(), {"next-page"}, seed);
    const bool several = GetParam() != TranslationKind::Svm && seed % 2 == 1;
    const Outcome one = simulate(system, storm_programs(seed, several));
    expect_parts_add_up(one);
    EXPECT_GT(one.count("gpus.next_page.issued") + one.count("gpus.next_page.dropped"), 0U);
    const Outcome two = simulate(system, storm_programs(seed, several), false, 2);
    ASSERT_EQ(one.result.statistics.size(), two.result.statistics.size());
    for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
      ASSERT_EQ(one.result.statistics[i].count, two.result.statistics[i].count) << one.result.statistics[i].name;
    }
  }
}

}  // namespace
}  // namespace nearfar::next_page_test
