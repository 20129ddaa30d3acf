// Single requests through an unloaded machine, cycle by cycle: what each step costs, and what it leaves behind.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "translation/rig.h"

namespace nearfar::scenario_test {
namespace {

constexpr std::uint64_t kRegion = 512;  ///< pages of one leaf table page

std::uint64_t walks(WalkUnit& unit, WalkKind kind) { return unit.stats().walks[static_cast<std::size_t>(kind)]; }
std::uint64_t accesses(WalkUnit& unit, WalkKind kind) { return unit.stats().accesses[static_cast<std::size_t>(kind)]; }
std::uint64_t hits(WalkUnit& unit, unsigned level) {
  return unit.stats().cache_hits[level - 2][static_cast<std::size_t>(WalkKind::Demand)];
}

TEST(Walk, BeginsWhereTheWalkCacheLetsIt) {
  Rig rig(RigOptions::mmu(1), 0, 1);
  // Pages at growing distances: the same 2 MiB, 1 GiB, 512 GiB, 256 TiB.
  const std::uint64_t pages[] = {0, 1, kRegion, kRegion * kRegion, kRegion * kRegion * kRegion};
  const Cycle expected[] = {512, 112, 212, 312, 412};
  for (unsigned i = 0; i < 5; ++i) {
    rig.gmmu(0).write_mapping({0, pages[i]}, {PhysPage{DeviceId{0}, i}, true, 0});
    rig.ask(0, pages[i], i * 1000);
  }
  rig.run();
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(rig.answered(0, pages[i]) - i * 1000, expected[i]);
  WalkUnit& unit = rig.gmmu(0).walkers();
  EXPECT_EQ(unit.stats().cache_misses[0], 1U);
  for (unsigned level = 2; level <= 5; ++level) EXPECT_EQ(hits(unit, level), 1U) << level;
  EXPECT_EQ(accesses(unit, WalkKind::Demand), 15U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

// With entries of 3 bits a level, page 9 shares one of level 2 with pages 8 to 15 and one of level 3 with pages 0
// to 63.
TEST(Walk, BeginsFurtherUpWhereEntriesCoverLess) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.cache.level_bits = 3;
  Rig rig(options, 0, 1024);
  const std::uint64_t pages[] = {9, 15, 16, 64, 512};
  const Cycle expected[] = {512, 112, 212, 312, 412};
  for (unsigned i = 0; i < 5; ++i) {
    rig.own(0, pages[i]);
    rig.ask(0, pages[i], i * 1000);
  }
  rig.run();
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(rig.answered(0, pages[i]) - i * 1000, expected[i]) << pages[i];
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(Walk, OfLargePagesIsOneAccessShorter) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.size.bits = kLargePageBits;
  Rig rig(options, 0, 16);
  rig.own(0, 0);
  rig.own(0, 1);
  rig.ask(0, 0, 0);
  rig.ask(0, 1, 1000);
  rig.run();
  EXPECT_EQ(rig.answered(0, 0), 412U);
  EXPECT_EQ(rig.answered(0, 1), 1112U);
  EXPECT_EQ(hits(rig.gmmu(0).walkers(), 3), 1U);
}

TEST(Walk, OfFourLevels) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.table.levels = 4;
  Rig rig(options, 0, 16);
  rig.own(0, 3);
  rig.ask(0, 3, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 3), 412U);
  EXPECT_EQ(hits(rig.gmmu(0).walkers(), 5), 0U);
}

TEST(L2TlbMisses, OfOnePageMerge) {
  Rig rig(RigOptions::mmu(1), 0, 16);
  rig.own(0, 5);
  rig.ask(0, 5, 0, false, 0);
  rig.ask(0, 5, 50, false, 1);
  rig.run();
  EXPECT_EQ(rig.answered(0, 5, 0), 512U);
  EXPECT_EQ(rig.answered(0, 5, 1), 512U);
  EXPECT_EQ(rig.l2(0).stats().misses, 2U);
  EXPECT_EQ(rig.l2(0).stats().merges, 1U);
  EXPECT_EQ(walks(rig.gmmu(0).walkers(), WalkKind::Demand), 1U);
  EXPECT_EQ(rig.l2(0).miss_stats().merged_latency, 512U - 61U);
}

TEST(L2TlbHit, CostsItsLookup) {
  Rig rig(RigOptions::mmu(1), 0, 16);
  rig.own(0, 5);
  rig.ask(0, 5, 0);
  rig.ask(0, 5, 1000, false, 1);
  rig.run();
  EXPECT_EQ(rig.answered(0, 5, 1), 1011U);
}

// One MSHR: while page 5 has it, page 6 waits for it, and page 7, which the TLB holds, behind that.
TEST(L2TlbHit, WaitsBehindLookupsThatWaitForARegister) {
  RigOptions options = RigOptions::mmu(1);
  options.l2_tlb.mshrs = 1;
  Rig rig(options, 0, 16);
  for (const std::uint64_t page : {5, 6, 7}) rig.own(0, page);
  rig.ask(0, 7, 0);
  rig.ask(0, 5, 1000, false, 1);
  rig.ask(0, 6, 1001, false, 2);
  rig.ask(0, 7, 1002, false, 3);
  rig.run();
  EXPECT_GT(rig.answered(0, 5, 1), 1100U);
  EXPECT_EQ(rig.answered(0, 7, 3), rig.answered(0, 5, 1));
  EXPECT_EQ(rig.l2(0).stats().blocked_lookups, 2U);
}

TEST(Walk, EndsAtATableEntryThatLeadsNowhere) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.table.upper = UpperLevels::OnDemand;
  Rig rig(options, 0, 16);
  rig.ask(0, 5, 0);
  rig.run();
  EXPECT_EQ(walks(rig.gmmu(0).walkers(), WalkKind::Demand), 1U);
  EXPECT_EQ(accesses(rig.gmmu(0).walkers(), WalkKind::Demand), 1U);
  EXPECT_EQ(rig.mapping_of(0, 5).page.device(), DeviceId{0});
  EXPECT_TRUE(rig.idle());
}

TEST(Walkers, ServeInOrderOfArrival) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.walkers = 1;
  Rig rig(options, 0, 16);
  for (unsigned p = 0; p < 3; ++p) {
    rig.own(0, p);
    rig.ask(0, p, 0, false, p);
  }
  rig.run();
  EXPECT_EQ(rig.answered(0, 0, 0), 512U);
  EXPECT_EQ(rig.answered(0, 1, 1), 613U);
  EXPECT_EQ(rig.answered(0, 2, 2), 714U);
  EXPECT_EQ(rig.gmmu(0).walkers().stats().queue_wait[0], 501U + 602U);
}

TEST(Walkers, FullQueueBlocksTheMiss) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.walkers = 1;
  options.gmmu.gmmu.queue = 2;
  Rig rig(options, 0, 16);
  for (unsigned p = 0; p < 4; ++p) {
    rig.own(0, p);
    rig.ask(0, p, 0, false, p);
  }
  rig.run();
  EXPECT_EQ(rig.answered(0, 3, 3), 815U);
  EXPECT_EQ(rig.gmmu(0).walkers().stats().blocked_cycles, 501U);
  EXPECT_EQ(rig.part(LatencyComponent::GmmuBlocked), 501U);
  EXPECT_EQ(rig.part(LatencyComponent::GmmuQueue), 501U + 602U + 202U);
}

// A walk goes on and another has the place in the queue when two messages come that need walks, one that asks for
// something and one that answers: they enter in the order in which they came, whichever that is.
TEST(Walkers, TakeMessagesInTheOrderInWhichTheyCame) {
  for (const bool response_first : {false, true}) {
    RigOptions options = RigOptions::mmu(1);
    options.gmmu.gmmu.walkers = options.gmmu.gmmu.queue = 1;
    Rig rig(options, 0, 64);
    rig.own(0, 0);
    rig.own(0, 1);
    rig.ask(0, 0, 0);
    rig.ask(0, 1, 10, false, 1);
    const auto submit = [&](std::uint64_t page, WalkSource source) {
      Walk& walk = rig.gmmu(0).walkers().make(WalkKind::Update, PageKey{0, page});
      walk.mapping = {PhysPage{DeviceId{0}, page}, true, 0};
      rig.gmmu(0).walkers().submit(walk, source);
    };
    rig.at(0, 100, [&] { submit(20, response_first ? WalkSource::Response : WalkSource::Request); });
    rig.at(0, 110, [&] { submit(21, response_first ? WalkSource::Request : WalkSource::Response); });
    Cycle first_alone = 0;
    for (Cycle when = 500; when < 2000; when += 10) {
      rig.at(0, when, [&, when] {
        const PageTable& table = rig.gmmu(0).table(0);
        EXPECT_TRUE(table.read(20).valid() || !table.read(21).valid()) << "at " << when;
        if (table.read(20).valid() && !table.read(21).valid()) first_alone = when;
      });
    }
    rig.run();
    EXPECT_GT(first_alone, 0U);
    EXPECT_TRUE(rig.gmmu(0).table(0).read(21).valid());
    EXPECT_TRUE(rig.idle());
  }
}

TEST(WalkCache, EvictsTheLeastRecentlyUsed) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.cache.entries = 4;
  Rig rig(options, 0, 1);
  const std::uint64_t a = 0;
  const std::uint64_t b = kRegion * kRegion * kRegion;
  for (const std::uint64_t page : {a, b, a + 1})
    rig.gmmu(0).write_mapping({0, page}, {PhysPage{DeviceId{0}, page % 7}, true, 0});
  rig.ask(0, a, 0);
  rig.ask(0, b, 1000);
  rig.ask(0, a + 1, 2000);
  rig.run();
  EXPECT_EQ(rig.answered(0, a + 1), 2412U);
  EXPECT_EQ(hits(rig.gmmu(0).walkers(), 5), 2U);
}

/// One request after another, far apart: then a TLB is a plain LRU list.
TEST(L2TlbHits, AreThoseOfAPlainLruOverTheSameRequests) {
  RigOptions options = RigOptions::mmu(1);
  options.l2_tlb = {{{16, 4, 10}, 0}, 8};
  Rig rig(options, 0, 128);
  std::vector<std::vector<std::uint64_t>> sets(4);
  std::uint64_t expected = 0;
  std::uint64_t state = 12345;
  for (std::uint64_t p = 0; p < 64; ++p) rig.own(0, p);
  for (unsigned i = 0; i < 4000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const std::uint64_t page = (state >> 33) % (i % 3 == 0 ? 64 : 12);
    std::vector<std::uint64_t>& set = sets[page % 4];
    const auto found = std::find(set.begin(), set.end(), page);
    if (found != set.end()) {
      ++expected;
      set.erase(found);
    } else if (set.size() == 4) {
      set.pop_back();
    }
    set.insert(set.begin(), page);
    rig.ask(0, page, i * 1000);
  }
  rig.run();
  EXPECT_EQ(rig.l2(0).stats().hits, expected);
  EXPECT_EQ(rig.l2(0).stats().lookups, 4000U);
}

// ---------------------------------------------------------------------------------------------------------------- ATS

TEST(Ats, WalkAndIommuHit) {
  RigOptions options = RigOptions::with_iommu(1);
  options.l2_tlb = {{{1, 1, 10}, 0}, 16};
  Rig rig(options, 0, 64);
  rig.ask(0, 7, 0);
  rig.ask(0, 8, 2000);  // evicts 7 from the L2 TLB
  rig.ask(0, 7, 5000);
  rig.run();
  EXPECT_EQ(rig.answers[0].when, 1011U);
  EXPECT_EQ(rig.answers[2].when, 5511U);
  EXPECT_EQ(rig.iommu().stats().all.hits, 1U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_EQ(rig.part(LatencyComponent::IommuWalk), 1000U);
  EXPECT_TRUE(rig.idle());
}

TEST(Ats, GpusShareAWalk) {
  Rig rig(RigOptions::with_iommu(2), 0, 64);
  rig.ask(0, 7, 0);
  rig.ask(1, 7, 20);
  rig.run();
  EXPECT_EQ(rig.answered(0, 7), 1011U);
  EXPECT_EQ(rig.answered(1, 7), 1011U);
  EXPECT_EQ(rig.iommu().stats().merges, 1U);
  EXPECT_EQ(walks(rig.iommu().walkers(), WalkKind::Demand), 1U);
}

TEST(Ats, TlbsAreMostlyInclusive) {
  Rig rig(RigOptions::with_iommu(1), 0, 64);
  rig.ask(0, 7, 0);
  rig.run();
  const PageKey page{0, 7};
  EXPECT_NE(rig.iommu().tlb().peek(page), nullptr);
  EXPECT_NE(rig.l2(0).array().peek(page), nullptr);
  rig.iommu().remove(page);
  EXPECT_NE(rig.l2(0).array().peek(page), nullptr);
}

TEST(Ats, ProcessesDoNotHitOneAnother) {
  Rig rig(RigOptions::with_iommu(1), 0, 64, 2);
  rig.ask(0, 7, 0, false, 0, 0);
  rig.ask(0, 7, 5000, false, 0, 1);
  rig.run();
  EXPECT_EQ(rig.answered(0, 7, 0, 1), 6011U);
  EXPECT_EQ(walks(rig.iommu().walkers(), WalkKind::Demand), 2U);
}

TEST(Ats, UnlimitedTlbMissesEachPageOnce) {
  RigOptions options = RigOptions::with_iommu(1);
  options.iommu.tlb.entries = 0;
  options.l2_tlb = {{{1, 1, 10}, 0}, 256};
  Rig rig(options, 0, 10'000);
  for (std::uint64_t i = 0; i < 20'000; ++i) rig.ask(0, i % 10'000, i * 600);
  rig.run();
  EXPECT_EQ(rig.iommu().stats().all.misses, 10'000U);
  EXPECT_EQ(rig.iommu().stats().all.hits, 10'000U);
  EXPECT_EQ(rig.iommu().stats().all.evictions, 0U);
}

// --------------------------------------------------------------------------------------------------- faults and moves

TEST(FarFault, FromHostMemory) {
  Rig rig(RigOptions::mmu(1), 0, 64);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 9), 1673U);
  EXPECT_EQ(rig.part(LatencyComponent::GmmuCache), 1U);
  EXPECT_EQ(rig.part(LatencyComponent::GmmuUpper), 400U);
  EXPECT_EQ(rig.part(LatencyComponent::GmmuLeaf), 100U);
  EXPECT_EQ(rig.part(LatencyComponent::LinkToHost), 150U);
  EXPECT_EQ(rig.part(LatencyComponent::HostTlb), 20U);
  EXPECT_EQ(rig.part(LatencyComponent::HostCache), 1U);
  EXPECT_EQ(rig.part(LatencyComponent::HostUpper) + rig.part(LatencyComponent::HostLeaf), 500U);
  EXPECT_EQ(rig.part(LatencyComponent::MigrationTransfer), 278U);
  EXPECT_EQ(rig.part(LatencyComponent::GmmuUpdate), 101U);
  EXPECT_EQ(rig.part(LatencyComponent::Replay), 111U);
  EXPECT_EQ(rig.latency(), 1662U);
  EXPECT_EQ(rig.all_parts(), 1662U);
  EXPECT_TRUE(rig.idle());
}

TEST(FarFault, ShortReplayEndsWithTheTable) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.replay = Replay::Short;
  Rig rig(options, 0, 64);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 9), 1562U);
}

// Without the update's walk the replay comes 101 cycles sooner, and has to walk from the same entry of the walk cache.
TEST(FarFault, UpdateOfZeroLatencyTakesNoWalk) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.update = UpdateHow::ZeroLatency;
  Rig rig(options, 0, 64);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 9), 1673U - 101U);
  EXPECT_EQ(rig.part(LatencyComponent::GmmuUpdate), 0U);
  EXPECT_EQ(rig.gmmu(0).walkers().stats().walks[static_cast<std::size_t>(WalkKind::Update)], 0U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(FarFault, WithNoWalkBehindItEndsWithThePage) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.update = UpdateHow::ZeroLatency;
  options.gmmu.gmmu.replay = Replay::Short;
  Rig rig(options, 0, 64);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 9), 1673U - 101U - 111U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(OnTouch, FromAnotherGpu) {
  Rig rig(RigOptions::mmu(2), 0, 64);
  rig.own(1, 9);
  rig.warm(1, 9);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 9), 2224U);
  EXPECT_EQ(rig.uvm().invalidations_sent, 1U);
  EXPECT_EQ(rig.gmmu(1).stats().necessary, 1U);
  EXPECT_EQ(rig.part(LatencyComponent::MigrationInvalidate), 401U);
  EXPECT_EQ(rig.part(LatencyComponent::MigrationTransfer), 428U);
  EXPECT_EQ(rig.uvm().total, 2263U - 1183U);
  EXPECT_EQ(rig.mapping_of(0, 9).page.device(), DeviceId{0});
  EXPECT_TRUE(rig.idle());
}

TEST(OnTouch, FaultParksWhileThePageMoves) {
  Rig rig(RigOptions::mmu(3), 0, 64);
  rig.own(1, 9);
  rig.warm(1, 9);
  rig.ask(0, 9, 0);
  rig.ask(2, 9, 917);  // its fault reaches the driver at 1700: the host's walk cache knows the region by then
  rig.run();
  EXPECT_EQ(rig.answered(0, 9), 2224U);
  EXPECT_EQ(rig.uvm().migrations, 2U);
  EXPECT_EQ(rig.uvm().parked, 1U);
  EXPECT_EQ(rig.part(LatencyComponent::DriverParked), 2263U - 1700U);
  EXPECT_EQ(rig.mapping_of(2, 9).page.device(), DeviceId{2});
  EXPECT_EQ(rig.all_parts(), rig.latency());
}

// GPU 1's page is its own when the host hears so, at 1712; GPU 0's fault, whose host
// walk is a short one, would be decided at 3783.
TEST(OnTouch, RetainedPageLeavesWhenItsTimeIsOver) {
  const auto second = [](Cycle retention) {
    RigOptions options = RigOptions::mmu(2);
    options.host.uvm.migration.retention = retention;
    Rig rig(options, 0, 64);
    rig.ask(1, 9, 0);
    rig.ask(0, 9, 3000);
    rig.run();
    EXPECT_EQ(rig.part(LatencyComponent::DriverParked), retention == 10'000 ? 1712U + 10'000U - 3783U : 0U);
    EXPECT_EQ(rig.uvm().migrations, 2U);
    EXPECT_EQ(rig.all_parts(), rig.latency());
    EXPECT_TRUE(rig.idle());
    return rig.answered(0, 9);
  };
  EXPECT_EQ(second(2071), second(0));
  EXPECT_EQ(second(10'000), second(0) + 1712U + 10'000U - 3783U);
}

TEST(FirstTouch, OthersMapThePageWhereItIs) {
  Rig rig(RigOptions::mmu(3, PagePolicy::FirstTouch), 0, 64);
  rig.own(0, 9);
  rig.warm_host(9);
  rig.ask(1, 9, 0);
  rig.ask(2, 9, 10'000);
  rig.run();
  EXPECT_EQ(rig.answered(1, 9), 1145U);
  EXPECT_EQ(rig.answered(2, 9), 11'044U);
  EXPECT_EQ(rig.uvm().invalidations_sent, 0U);
  EXPECT_EQ(rig.uvm().remote_mappings, 2U);
  EXPECT_EQ(rig.mapping_of(1, 9).page.device(), DeviceId{0});
  EXPECT_EQ(rig.host().stats().hits, 1U);
}

TEST(Driver, TakesFaultsInBatches) {
  RigOptions options = RigOptions::mmu(2);
  options.l2_tlb.mshrs = 256;
  options.gmmu.gmmu.walkers = 0;
  options.gmmu.gmmu.cache.entries = 0;
  options.host.mmu.walkers = 0;
  options.host.mmu.cache.entries = 0;
  options.host.uvm.uvm.batch_fixed = 100;
  options.host.uvm.uvm.concurrent_migrations = 1000;
  Rig rig(options, 0, 1024);
  for (unsigned p = 0; p < 150; ++p) {
    rig.ask(0, p, 0, false, p);
    rig.ask(1, 512 + p, 0, false, p);
  }
  rig.run();
  EXPECT_EQ(rig.uvm().batches, 2U);
  EXPECT_EQ(rig.uvm().batch_size.max, 256U);
  EXPECT_EQ(rig.part(LatencyComponent::DriverBatch), 256U * 100 + 44U * 200);
}

TEST(Driver, MayAnswerABatchTogether) {
  RigOptions options = RigOptions::mmu(2);
  options.gmmu.gmmu.cache.entries = 0;
  options.host.mmu.cache.entries = 0;
  options.host.uvm.uvm.replay = BatchReplay::PerBatch;
  Rig rig(options, 0, 64);
  rig.own(1, 9);
  rig.ask(0, 8, 0, false, 0);  // from the host
  rig.ask(0, 9, 0, false, 1);  // from GPU 1, whose entry takes 401 + 400 cycles to invalidate
  rig.run();
  // Both are decided at 1183. Page 9 may leave at 1984, and page 8 leaves with it.
  EXPECT_EQ(rig.part(LatencyComponent::MigrationInvalidate), 801U);
  EXPECT_EQ(rig.answered(0, 8, 0), 1984U + 278 + 501 + 10 + 501);
  EXPECT_EQ(rig.answered(0, 9, 1), 1984U + 428 + 501 + 10 + 501);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(Invalidation, MakesAWalkUnderWayStale) {
  Rig rig(RigOptions::mmu(2), 0, 64);
  rig.own(1, 9);
  // GPU 0's fault is sent so that the invalidation reaches GPU 1 at 300, while its own walk of 11 to 512 goes on.
  rig.ask(1, 9, 1033);
  rig.ask(0, 9, 0);
  rig.run();
  // Decision at 1183, invalidation at 1333; GPU 1's walk began at 1044 and would have ended at 1545.
  EXPECT_EQ(rig.l2(1).stats().stale_results, 1U);
  EXPECT_GT(rig.answered(1, 9), rig.answered(0, 9));
  EXPECT_EQ(rig.mapping_of(1, 9).page.device(), DeviceId{1});
  EXPECT_EQ(rig.uvm().migrations, 2U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(Invalidation, WaitsForAccessesOnTheirWay) {
  Rig rig(RigOptions::mmu(2), 0, 64);
  rig.own(1, 9);
  rig.warm(1, 9);
  const PhysPage frame = rig.host().driver().record({0, 9}).owner;
  rig.at(1, 1000, [&] { rig.frames(1).enter(frame, 1); });
  rig.at(1, 2500, [&] { rig.frames(1).leave(frame, 1); });
  rig.ask(0, 9, 0);
  rig.run();
  // Without the access the acknowledgement leaves at 1434.
  EXPECT_EQ(rig.answered(0, 9), 2224U + 2500U - 1434U);
}

TEST(Invalidation, MayWaitForNoAccess) {
  RigOptions options = RigOptions::mmu(2);
  options.gmmu.waits = MigrationWaits::None;
  Rig rig(options, 0, 64);
  rig.own(1, 9);
  rig.warm(1, 9);
  const PhysPage frame = rig.host().driver().record({0, 9}).owner;
  rig.at(1, 1000, [&] { rig.frames(1).enter(frame, 1); });
  rig.at(1, 2500, [&] { rig.frames(1).leave(frame, 1); });
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 9), 2224U);
  EXPECT_TRUE(rig.idle());
}

TEST(Invalidation, OfZeroLatencyWaitsOnlyForTheTlbs) {
  RigOptions options = RigOptions::mmu(2);
  options.gmmu.how = InvalidateHow::ZeroLatency;
  Rig rig(options, 0, 64);
  rig.own(1, 9);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.part(LatencyComponent::MigrationInvalidate), 310U);
}

// -------------------------------------------------------------------------------------------------- access counters

TEST(AccessCounter, AsksOnceAtItsThreshold) {
  Rig rig(RigOptions::mmu(3, PagePolicy::AccessCounter), 0, 64);
  rig.own(0, 9);
  rig.map(1, 9);
  rig.warm(0, 9);
  rig.warm(1, 9);
  rig.warm_host(9);
  const PhysPage frame = rig.host().driver().record({0, 9}).owner;
  for (unsigned i = 0; i < 9; ++i) rig.at(1, i, [&] { rig.frames(1).count_remote(frame, 1); });
  rig.run();
  EXPECT_EQ(rig.gmmu(1).stats().move_requests, 1U);
  EXPECT_EQ(rig.uvm().migrations, 1U);
  EXPECT_EQ(rig.uvm().invalidations_sent, 3U);
  EXPECT_EQ(rig.gmmu(2).stats().unnecessary, 1U);
  // The request leaves at 3. GPU 2's table is walked from the root: its acknowledgement is the last.
  EXPECT_EQ(rig.uvm().wait, 801U);
  EXPECT_EQ(rig.uvm().total, 1630U - 150U);
  EXPECT_EQ(rig.host().driver().record({0, 9}).owner.device(), DeviceId{1});
  EXPECT_TRUE(rig.idle());
}

// A counter for 64 KiB counts for 16 pages, and those touched are asked for: page 9 twice, page 12 once, page 16 is in
// another region, page 10 is not touched.
TEST(AccessCounter, OfARegionAsksForThePagesTouched) {
  RigOptions options = RigOptions::mmu(2, PagePolicy::AccessCounter);
  options.counter_region = CounterRegion::Of64K;
  Rig rig(options, 0, 64);
  for (const std::uint64_t page : {9, 10, 12, 16}) {
    rig.own(0, page);
    rig.map(1, page);
  }
  const auto touch = [&](std::uint64_t page, Cycle when) {
    const PhysPage frame = rig.host().driver().record({0, page}).owner;
    rig.at(1, when, [&rig, frame] { rig.frames(1).count_remote(frame, 1); });
  };
  for (const auto& [page, when] : {std::pair{9, 0}, {16, 1}, {9, 2}, {16, 3}, {12, 4}, {16, 5}}) {
    touch(static_cast<std::uint64_t>(page), static_cast<Cycle>(when));
  }
  rig.at(1, 6, [&rig] { EXPECT_EQ(rig.gmmu(1).stats().move_requests, 0U); });
  touch(12, 7);
  rig.at(1, 8, [&rig] { EXPECT_EQ(rig.gmmu(1).stats().move_requests, 2U); });
  rig.run();
  EXPECT_EQ(rig.uvm().migrations, 2U);
  for (const auto& [page, owner] : {std::pair{9, 1}, {10, 0}, {12, 1}, {16, 0}}) {
    EXPECT_EQ(rig.host().driver().record({0, static_cast<std::uint64_t>(page)}).owner.device().value, owner) << page;
  }
  EXPECT_TRUE(rig.idle());
}

TEST(AccessCounter, RequestForARetainedPageIsDropped) {
  const auto migrations = [](Cycle retention) {
    RigOptions options = RigOptions::mmu(3, PagePolicy::AccessCounter);
    options.host.uvm.migration.retention = retention;
    Rig rig(options, 0, 64);
    rig.own(0, 9);
    rig.map(1, 9);
    rig.fill_counter(1, 9, 0);
    // GPU 2 maps the page where it is then, and has its own counter full.
    rig.ask(2, 9, 5000);
    rig.at(2, 9000, [&] { rig.frames(2).count_remote(rig.host().driver().record({0, 9}).owner, kThreshold); });
    rig.run();
    EXPECT_TRUE(rig.idle());
    EXPECT_EQ(rig.uvm().requests_dropped, retention == 0 ? 0U : 1U);
    return rig.uvm().migrations;
  };
  EXPECT_EQ(migrations(0), 2U);
  EXPECT_EQ(migrations(20'000), 1U);
}

TEST(AccessCounter, RequestForAMovingPageIsDropped) {
  Rig rig(RigOptions::mmu(3, PagePolicy::AccessCounter), 0, 64);
  rig.own(0, 9);
  rig.map(1, 9);
  rig.map(2, 9);
  rig.fill_counter(1, 9, 0);
  rig.fill_counter(2, 9, 50);
  rig.run();
  EXPECT_EQ(rig.uvm().requests_dropped, 1U);
  EXPECT_EQ(rig.uvm().migrations, 1U);
}

// ------------------------------------------------------------------------------------------------------- replication

TEST(Replication, ReadersShareAndAWriterEndsIt) {
  Rig rig(RigOptions::mmu(3, PagePolicy::Replication), 0, 64);
  rig.ask(0, 9, 0);
  rig.ask(1, 9, 10'000);
  rig.ask(2, 9, 20'000);
  rig.ask(1, 9, 30'000, true);
  rig.run();
  EXPECT_EQ(rig.uvm().replications, 2U);
  EXPECT_EQ(rig.gmmu(0).stats().downgrades, 1U);
  EXPECT_EQ(rig.uvm().write_upgrades, 1U);
  EXPECT_EQ(rig.gmmu(1).stats().invalidations, 0U);
  EXPECT_EQ(rig.gmmu(1).stats().protection_faults, 1U);
  EXPECT_EQ(rig.gmmu(0).stats().necessary + rig.gmmu(2).stats().necessary, 2U);
  const PageRecord& record = rig.host().driver().record({0, 9});
  EXPECT_EQ(record.owner.device(), DeviceId{1});
  EXPECT_EQ(record.holders.count(), 1U);
  EXPECT_FALSE(record.shared);
  EXPECT_TRUE(rig.mapping_of(1, 9).writable);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

// A GPU that lost its entry of a page which others read too may read it again, and no more.
TEST(Replication, ReaderThatAsksAgainMayNotWrite) {
  Rig rig(RigOptions::mmu(2, PagePolicy::Replication), 0, 64);
  rig.own(0, 9);
  PageRecord& record = rig.host().driver().record({0, 9});
  record.shared = true;
  record.holders.set(1);
  rig.ask(1, 9, 0);
  rig.run();
  EXPECT_GT(rig.answered(1, 9), 0U);
  EXPECT_FALSE(rig.mapping_of(1, 9).writable);
  EXPECT_EQ(rig.uvm().replications, 0U);
}

// The load alone would get a copy that lets nobody write. The store of another compute unit comes while its walk goes
// on.
TEST(Replication, StoreThatJoinsALoadsMissGetsThePageToWriteTo) {
  Rig rig(RigOptions::mmu(2, PagePolicy::Replication), 0, 64);
  rig.ask(0, 9, 0);
  rig.ask(1, 9, 10'000, false, 0);
  rig.ask(1, 9, 10'050, true, 1);
  rig.run();
  EXPECT_EQ(rig.l2(1).stats().merges, 1U);
  EXPECT_EQ(rig.uvm().replications, 0U);
  EXPECT_GT(rig.answered(1, 9, 1), 10'050U);
  for (const Answer& answer : rig.answers) {
    EXPECT_TRUE(answer.gpu != 1 || answer.mapping.writable) << "compute unit " << answer.cu;
  }
  EXPECT_EQ(rig.host().driver().record({0, 9}).owner.device(), DeviceId{1});
  EXPECT_TRUE(rig.idle());
}

TEST(Replication, TwoWritersTakeTurns) {
  Rig rig(RigOptions::mmu(2, PagePolicy::Replication), 0, 64);
  rig.ask(0, 9, 0);
  rig.ask(1, 9, 10'000);
  rig.ask(0, 9, 20'000, true);
  rig.ask(1, 9, 20'000, true);
  rig.run();
  const PageRecord& record = rig.host().driver().record({0, 9});
  EXPECT_EQ(record.holders.count(), 1U);
  EXPECT_FALSE(record.shared);
  EXPECT_EQ(rig.uvm().write_upgrades, 1U);
  EXPECT_EQ(rig.uvm().parked, 1U);
  EXPECT_TRUE(rig.idle());
}

// -------------------------------------------------------------------------------------------------------- full memory

TEST(FullMemory, SendsTheOldestPageBackToTheHost) {
  RigOptions options = RigOptions::mmu(1);
  options.host.uvm.gpu_pages = 2;
  options.host.uvm.migration.evict = true;
  Rig rig(options, 0, 64);
  for (unsigned p = 0; p < 3; ++p) rig.ask(0, p, p * 10'000, false, p);
  rig.ask(0, 0, 50'000);
  rig.run();
  EXPECT_EQ(rig.uvm().evictions, 2U);
  EXPECT_EQ(rig.uvm().migrations, 4U);
  EXPECT_EQ(rig.host().driver().record({0, 1}).owner.device(), rig.host_device());
  EXPECT_GT(rig.answered(0, 0), 50'000U);
  EXPECT_TRUE(rig.idle());
}

TEST(PageRequests, PlaceAPageAndAskAgain) {
  Rig rig(RigOptions::with_iommu(2, PagePolicy::FirstTouch), 0, 16);
  rig.ask(0, 3, 0);
  rig.run();
  // The walk ends at 861 without a mapping: told 1011, page request at the host 1161, page at the GPU 150 + 128 later;
  // the second request finds it mapped and walks.
  EXPECT_EQ(rig.answered(0, 3), 1161U + 278 + 1000);
  EXPECT_EQ(rig.mapping_of(0, 3).page.device().value, 0U);
  EXPECT_EQ(rig.iommu().stats().faults, 1U);
  EXPECT_EQ(rig.uvm().first_touches, 1U);
  EXPECT_EQ(rig.part(LatencyComponent::LinkToHost), 150U);
  EXPECT_EQ(rig.part(LatencyComponent::MigrationTransfer), 278U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(PageRequests, OfASecondGpuMapWhereTheFirstPlaced) {
  Rig rig(RigOptions::with_iommu(2, PagePolicy::FirstTouch), 0, 16);
  rig.ask(0, 3, 0);
  rig.ask(1, 3, 5);  // joins the walk; its page request parks until the page has come and the host knows, at 1589
  rig.run();
  EXPECT_EQ(rig.mapping_of(1, 3).page, rig.mapping_of(0, 3).page);
  EXPECT_EQ(rig.answered(1, 3), 2439U) << "it joins the walk of GPU 0's second request";
  EXPECT_EQ(rig.uvm().parked, 1U);
  EXPECT_EQ(rig.uvm().remote_mappings, 1U);
  EXPECT_EQ(rig.uvm().migrations, 1U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(PageRequests, AreTakenInBatches) {
  RigOptions options = RigOptions::with_iommu(1, PagePolicy::FirstTouch);
  options.l2_tlb.mshrs = 300;
  options.iommu.walkers = 0;
  options.host.uvm.uvm.batch_fixed = 100;
  options.host.uvm.uvm.concurrent_migrations = 1000;
  Rig rig(options, 0, 300);
  for (unsigned p = 0; p < 300; ++p) rig.ask(0, p, 0, false, p);
  rig.run();
  EXPECT_EQ(rig.uvm().batches, 2U);
  EXPECT_EQ(rig.uvm().batch_size.max, 256U);
  EXPECT_EQ(rig.answered(0, 299, 299) - rig.answered(0, 0, 0), 100U);
  EXPECT_TRUE(rig.idle());
}

TEST(IommuPendingTable, HoldsUpRequestsWhenItIsFull) {
  RigOptions options = RigOptions::with_iommu(1);
  options.iommu.pending = 1;
  Rig rig(options, 0, 16);
  rig.ask(0, 1, 0);
  rig.ask(0, 2, 10);
  rig.ask(0, 1, 20, false, 1);
  rig.run();
  EXPECT_EQ(rig.answered(0, 1), 1011U);
  EXPECT_EQ(rig.answered(0, 2), 1511U) << "it waited for the first to end, at 861";
  EXPECT_EQ(rig.iommu().stats().pending_waits, 1U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

// GPU 1 takes five pages of GPU 0. Its faults leave 101 cycles apart, but their walks at the host, each shorter by a
// level than the one before, end one cycle apart, and so the invalidations come. The first walks (501 cycles, the
// others 101), the second has the place in the queue, the third that in the buffer. The last two wait on the link until
// the first and the second walk have ended.
TEST(Ingress, OfAFullBufferStopsItsChannel) {
  RigOptions options = RigOptions::mmu(2);
  options.gmmu.gmmu.walkers = 1;
  options.gmmu.gmmu.queue = 1;
  const auto run = [&](std::uint32_t ingress) {
    options.gmmu.gmmu.ingress = ingress;
    auto rig = std::make_unique<Rig>(options, 0, 16);
    for (std::uint64_t page = 0; page < 5; ++page) {
      rig->own(0, page);
      rig->ask(1, page, 0, false, static_cast<unsigned>(page));
    }
    rig->run();
    EXPECT_TRUE(rig->idle());
    EXPECT_EQ(rig->all_parts(), rig->latency());
    EXPECT_EQ(rig->gmmu(0).stats().necessary, 5U);
    return rig;
  };
  const auto narrow = run(1);
  EXPECT_EQ(narrow->gmmu(0).stats().stopped, 2U);
  EXPECT_EQ(narrow->gmmu(0).stats().stopped_cycles, (501U - 3U) + (602U - 4U));
  // What reaches the buffer is forgotten by the TLBs at once, and its page is acknowledged no sooner for that.
  const auto wide = run(64);
  EXPECT_EQ(wide->gmmu(0).stats().stopped, 0U);
  EXPECT_EQ(wide->gmmu(0).stats().invalidation_cycles,
            narrow->gmmu(0).stats().invalidation_cycles + narrow->gmmu(0).stats().stopped_cycles);
  for (std::uint64_t page = 0; page < 5; ++page) {
    EXPECT_EQ(wide->answered(1, page, static_cast<unsigned>(page)),
              narrow->answered(1, page, static_cast<unsigned>(page)));
  }
}

}  // namespace
}  // namespace nearfar::scenario_test
