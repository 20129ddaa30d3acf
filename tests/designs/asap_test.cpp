// ASAP: entries fetched ahead, cycle by cycle.
#include "designs/asap/asap.h"

#include <gtest/gtest.h>

#include "config/error.h"
#include "designs/design.h"
#include "designs/walk_bench.h"
#include "translation/rig.h"

namespace nearfar::asap_test {
namespace {

/// One GPU whose GMMU fetches ahead; a miss of the L2 TLB at 0 begins its walk at 11.
struct AsapRig {
  explicit AsapRig(AsapLevels levels, std::uint32_t coverage = 100)
      : rig(RigOptions::mmu(1), 0, 1 << 12), asap(rig.partition(0), rig.gmmu(0).walkers(), {levels, 1, coverage}) {
    rig.gmmu(0).walkers().set_access(asap);
  }
  Rig rig;
  WalkPrefetcher asap;
};

TEST(Asap, FetchesLowerEntriesWithTheWalk) {
  AsapRig one(AsapLevels::L2);
  one.rig.own(0, 3);
  one.rig.ask(0, 3, 0);
  one.rig.run();
  EXPECT_EQ(one.rig.answered(0, 3), 413U);
  EXPECT_EQ(one.asap.stats().prefetches, 1U);
  EXPECT_EQ(one.asap.stats().hits, 1U);
  EXPECT_EQ(one.asap.stats().wait_cycles, 0U);

  AsapRig two(AsapLevels::L2AndL1);
  two.rig.own(0, 3);
  two.rig.ask(0, 3, 0);
  two.rig.run();
  EXPECT_EQ(two.rig.answered(0, 3), 314U);
  EXPECT_TRUE(two.asap.idle());
}

TEST(Asap, FetchesNothingThatTheWalkCacheHas) {
  AsapRig run(AsapLevels::L2);
  run.rig.own(0, 3);
  run.rig.warm(0, 3);
  run.rig.ask(0, 3, 0);
  run.rig.run();
  EXPECT_EQ(run.rig.answered(0, 3), 112U);
  EXPECT_EQ(run.asap.stats().prefetches, 0U);
}

TEST(Asap, EntryAtWhichTheWalkBeginsIsReadByTheWalk) {
  AsapRig run(AsapLevels::L2AndL1);
  run.rig.own(0, 3);
  run.rig.gmmu(0).walkers().cache().fill(PageKey{0, 3}, 1, 3);
  run.rig.ask(0, 3, 0);
  run.rig.run();
  // Level 2 from 12 to 112 by the walk, the leaf ahead in the same time.
  EXPECT_EQ(run.rig.answered(0, 3), 113U);
  EXPECT_EQ(run.asap.stats().prefetches, 1U);
}

TEST(Asap, FetchedEntryIsInTheWalkCacheWhenItArrives) {
  AsapRig run(AsapLevels::L2);
  run.rig.own(0, 3);
  run.rig.own(0, 4);
  run.rig.ask(0, 3, 0);
  run.rig.ask(0, 4, 120);  // walks from 131, when the other is at level 4: only level 2 can have come by then
  run.rig.run();
  EXPECT_EQ(run.rig.answered(0, 4), 232U);
  EXPECT_EQ(run.asap.stats().prefetches, 1U);
}

TEST(Asap, CoverageIsAShareOfTheTableNodes) {
  for (const std::uint32_t coverage : {0U, 30U, 100U}) {
    RigOptions options = RigOptions::mmu(1);
    options.gmmu.gmmu.cache.entries = 0;
    Rig rig(options, 0, 512 * 400);
    WalkPrefetcher asap(rig.partition(0), rig.gmmu(0).walkers(), {AsapLevels::L1, 1, coverage});
    rig.gmmu(0).walkers().set_access(asap);
    for (unsigned i = 0; i < 400; ++i) {
      rig.own(0, std::uint64_t{i} * 512);
      rig.ask(0, std::uint64_t{i} * 512, i * 1000);
    }
    rig.run();
    EXPECT_NEAR(static_cast<double>(asap.stats().prefetches), 4.0 * coverage, coverage % 100 == 0 ? 0 : 40);
  }
}

/// A walk that ends at an upper level leaves entries on their way; the next to use its record must not get them.
TEST(Asap, OutlivesWalksThatAreCutShort) {
  BenchOptions options;
  options.timing = WalkTiming::Memory;
  WalkBench bench(options);
  WalkPrefetcher asap(bench.partition(), bench.unit(), {AsapLevels::L2AndL1, 1, 100});
  bench.unit().set_access(asap);
  const std::uint64_t lost = page_at(1, 2, 3, 4);
  const std::uint64_t found = page_at(9, 6, 7, 8);  // of another root line
  bench.map(found);
  bench.latency = [&](PhysLine line) { return line == bench.table(0).line(4, lost) ? Cycle{10} : Cycle{100}; };
  bench.ask_unmapped(lost, 0);
  bench.ask_unmapped(found, 5);
  bench.run();
  EXPECT_EQ(bench.fault(lost), 10U);
  EXPECT_EQ(bench.done(found), 212U) << "two reads, and two entries that are there";
  EXPECT_TRUE(asap.idle());
}

TEST(Asap, RefusesLevelsThatLargePagesDoNotHave) {
  const std::vector<std::string> designs = {"asap"};
  const std::vector<std::string> wrong = {"page.size=2M", "asap.levels=L2+L1"};
  EXPECT_THROW(load_system_with(designs, "mmu-4gpu", wrong), InputError);
  const std::vector<std::string> right = {"page.size=2M"};
  EXPECT_NO_THROW(load_system_with(designs, "mmu-4gpu", right));
}

}  // namespace
}  // namespace nearfar::asap_test
