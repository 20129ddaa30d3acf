// Trans-FW request by request, cycle by cycle.
#include <gtest/gtest.h>

#include "designs/design.h"
#include "designs/mmu_parts.h"
#include "designs/trans_fw/messages.h"

namespace nearfar::trans_fw_test {
namespace {

constexpr std::uint64_t kRegion = 512;
constexpr std::uint64_t kFar = kRegion * kRegion * kRegion;  ///< pages apart that share no upper entry but the root's

/// All keys have one fingerprint in one bucket.
std::uint64_t one_for_all(std::uint64_t, std::uint64_t) { return 0; }

TEST(Prt, ShortCircuitsAWalkThatWouldFault) {
  Rig rig(RigOptions::mmu(2), 0, 64);
  MmuParts parts;
  parts.add_prt(rig, 2);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(parts.prt[0]->stats().short_circuits, 1U);
  EXPECT_EQ(walks_of(rig.gmmu(0).walkers(), WalkKind::Demand), 0U);
  // The fault leaves at 12 where the baseline's leaves at 512, and the update's walk finds a cold cache.
  EXPECT_EQ(rig.part(LatencyComponent::Filter), 1U);
  EXPECT_EQ(rig.answered(0, 9), 1673U - 500 + 400);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(Prt, FalsePositiveWalksOneCycleLater) {
  Rig rig(RigOptions::mmu(2), 0, 64);
  MmuParts parts;
  parts.add_prt(rig, 2, {}, one_for_all);
  rig.own(0, 8);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(parts.prt[0]->stats().false_positives, 1U);
  EXPECT_EQ(rig.part(LatencyComponent::GmmuUpper) + rig.part(LatencyComponent::GmmuLeaf), 500U);
  EXPECT_EQ(rig.answered(0, 9), 1674U);
}

TEST(Prt, InvalidationOfAPageNeverMappedDeletesNothing) {
  Rig rig(RigOptions::mmu(3, PagePolicy::AccessCounter), 0, 64);
  MmuParts parts;
  parts.add_prt(rig, 3, {}, one_for_all);
  rig.own(0, 9);
  rig.map(1, 9);
  rig.own(2, 8);
  rig.fill_counter(1, 9, 0);
  rig.ask(2, 8, 5000);
  rig.run();
  EXPECT_EQ(rig.gmmu(2).stats().unnecessary, 1U);
  EXPECT_EQ(parts.prt[2]->stats().deletes, 0U);
  EXPECT_EQ(parts.prt[2]->stats().short_circuits, 0U);
  EXPECT_EQ(rig.answered(2, 8) - 5000, 113U);  // the invalidation's walk has warmed the cache
}

TEST(Prt, ThatDropsSendsAnOwnersMissToTheHost) {
  Rig rig(RigOptions::mmu(2), 0, 64);
  MmuParts parts;
  PrtSpec spec;
  spec.filter.buckets = spec.filter.slots = 1;
  spec.filter.max_kicks = 0;
  spec.filter.overflow = FilterOverflow::Drop;
  parts.add_prt(rig, 2, spec);
  rig.own(0, 8);
  rig.own(0, 9);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(parts.prt[0]->stats().false_negatives, 1U);
  EXPECT_EQ(rig.uvm().migrations, 0U);
  EXPECT_EQ(rig.mapping_of(0, 9).page, rig.host().driver().record({0, 9}).owner);
  EXPECT_EQ(rig.all_parts(), rig.latency());
}

TEST(Prt, OfRegionsCountsThePagesInEach) {
  Rig rig(RigOptions::mmu(2), 0, 64);
  MmuParts parts;
  PrtSpec spec;
  spec.region_pages = 16;
  parts.add_prt(rig, 2, spec);
  rig.own(1, 17);
  rig.own(1, 18);
  EXPECT_EQ(parts.prt[1]->filter().stored(), 1U);
  rig.ask(0, 17, 0);
  rig.ask(0, 18, 20'000);
  rig.run();
  EXPECT_EQ(parts.prt[1]->stats().deletes, 1U);
  EXPECT_EQ(parts.prt[1]->filter().stored(), 0U);
  EXPECT_EQ(parts.prt[0]->filter().stored(), 1U);
}

// ------------------------------------------------------------------------------------------------------- forwarding

struct Busy {
  unsigned walkers;
  unsigned waiting;
  std::uint32_t threshold_percent;
  bool forwards;
};

TEST(Ft, ForwardsWhenMoreThanTheThresholdWait) {
  for (const Busy& busy : {Busy{2, 0, 50, false}, {2, 1, 50, true}, {2, 0, 0, true}, {3, 0, 0, false}}) {
    RigOptions options = RigOptions::mmu(2);
    options.host.mmu.walkers = busy.walkers;
    options.host_level = 2000;
    Rig rig(options, 0, 64);
    MmuParts parts;
    FtSpec spec;
    spec.threshold_percent = busy.threshold_percent;
    parts.add_ft(rig, 2, spec);
    rig.own(1, 9);
    for (unsigned i = 0; i < 2 + busy.waiting; ++i) occupy_host(rig, kFar * (i + 1), 0);
    rig.ask(0, 9, 0);
    rig.run();
    EXPECT_EQ(parts.ft->stats().forwards, busy.forwards ? 1U : 0U)
        << busy.walkers << " walkers, " << busy.waiting << " waiting, " << busy.threshold_percent << " %";
    EXPECT_EQ(parts.ft->stats().positives, 1U);
    EXPECT_TRUE(rig.idle());
  }
}

TEST(Ft, ForwardTakesTheWalkBackAndThePageMoves) {
  RigOptions options = RigOptions::mmu(2);
  options.host.mmu.walkers = 2;
  options.host_level = 2000;
  Rig rig(options, 0, 64);
  MmuParts parts;
  parts.add_prt(rig, 2);
  parts.add_ft(rig, 2);
  rig.own(1, 9);
  rig.warm(1, 9);
  for (unsigned i = 0; i < 3; ++i) occupy_host(rig, kFar * (i + 1), 0);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 9), 2024U);
  EXPECT_EQ(rig.part(LatencyComponent::RemoteLink), 300U);
  EXPECT_EQ(rig.part(LatencyComponent::RemoteQueue), 0U);
  EXPECT_EQ(rig.part(LatencyComponent::RemoteWalk), 101U);
  EXPECT_EQ(rig.part(LatencyComponent::MigrationInvalidate), 984U - 583U);
  EXPECT_EQ(rig.part(LatencyComponent::HostQueue), 0U);
  EXPECT_EQ(rig.host().walkers().stats().withdrawn, 1U);
  EXPECT_EQ(parts.ft->stats().successes, 1U);
  EXPECT_EQ(parts.responder[0]->stats().direct, 1U);
  EXPECT_EQ(rig.uvm().migrations, 1U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(Ft, SecondAnswerIsDropped) {
  RigOptions options = RigOptions::mmu(2, PagePolicy::AccessCounter);
  options.host.mmu.walkers = 1;
  Rig rig(options, 0, 64);
  MmuParts parts;
  parts.add_prt(rig, 2);
  parts.add_ft(rig, 2);
  rig.own(1, 9);
  rig.warm(1, 9);
  rig.warm_host(9);
  // Two accesses below an entry of level 3: the walker is busy from 99 to 300.
  rig.host().walkers().cache().fill(PageKey{0, kFar}, 1, 3);
  occupy_host(rig, kFar, 99);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(parts.ft->stats().forwards, 1U);
  EXPECT_EQ(rig.gmmu(0).stats().duplicates, 1U);
  // The notice, and the walk that kept the walker busy for nobody.
  EXPECT_EQ(rig.host().stats().duplicates, 2U);
  EXPECT_EQ(rig.part(LatencyComponent::HostQueue), 300U - 182U);
  // The mapping comes at 551; update from the root, lookup, walk.
  EXPECT_EQ(rig.answered(0, 9), 551U + 501 + 10 + 101);
  EXPECT_EQ(rig.uvm().remote_mappings, 1U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(Ft, DirectTranslationIsTheRemoteMapping) {
  RigOptions options = RigOptions::mmu(2, PagePolicy::AccessCounter);
  options.host.mmu.walkers = 1;
  options.host_level = 2000;
  Rig rig(options, 0, 64);
  MmuParts parts;
  parts.add_ft(rig, 2);
  parts.add_prt(rig, 2);
  rig.own(1, 9);
  rig.warm(1, 9);
  occupy_host(rig, kFar, 0);
  rig.ask(0, 9, 0);
  rig.run();
  // At GPU 0 at 583, as the notice at the host, which sends nothing more.
  EXPECT_EQ(rig.answered(0, 9), 583U + 501 + 10 + 101);
  EXPECT_EQ(rig.gmmu(0).stats().duplicates, 0U);
  EXPECT_EQ(rig.uvm().remote_mappings, 1U);
  EXPECT_TRUE(rig.host().driver().record({0, 9}).holders.test(0));
  EXPECT_EQ(rig.part(LatencyComponent::RemoteLink), 300U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

TEST(Ft, ThatNamesTheWrongGpuCostsNothingButTheForward) {
  RigOptions options = RigOptions::mmu(3);
  options.host.mmu.walkers = 1;
  Rig rig(options, 0, 64);
  MmuParts parts;
  parts.add_ft(rig, 3);
  rig.own(1, 9);
  parts.ft->left({0, 9}, DeviceId{1});
  parts.ft->came({0, 9}, DeviceId{2});
  occupy_host(rig, kFar, 600);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(parts.ft->stats().forwards, 1U);
  EXPECT_EQ(parts.ft->stats().failures, 1U);
  EXPECT_EQ(parts.responder[0]->stats().direct, 0U);
  EXPECT_EQ(rig.host().walkers().stats().withdrawn, 0U);
  EXPECT_EQ(rig.mapping_of(0, 9).page.device(), DeviceId{0});
  EXPECT_TRUE(rig.idle());
}

TEST(Ft, DirectTranslationOfAnOldEpochIsAskedForAgain) {
  RigOptions options = RigOptions::mmu(3, PagePolicy::AccessCounter);
  options.host.mmu.walkers = 1;
  options.host_level = 200;
  Rig rig(options, 0, 64);
  rig.wire(1).slow_to = DeviceId{0};
  rig.wire(1).slow = 600;
  MmuParts parts;
  parts.add_prt(rig, 3);
  parts.add_ft(rig, 3);
  rig.own(1, 9);
  rig.map(2, 9);
  rig.warm(1, 9);
  occupy_host(rig, kFar, 0);
  rig.fill_counter(2, 9, 150);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.gmmu(0).stats().reissues, 1U);
  EXPECT_EQ(parts.ft->stats().successes, 1U);
  EXPECT_EQ(rig.mapping_of(0, 9).page.device(), DeviceId{2});
  EXPECT_EQ(rig.mapping_of(0, 9).page, rig.host().driver().record({0, 9}).owner);
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

// GPU 0's fault for a page of GPU 1 is forwarded there and comes at 332. GPU 2 takes the page: the invalidation comes
// at 450.
struct OvertakenForward {
  static RigOptions options(std::uint32_t gmmu_walkers, Cycle host_level) {
    RigOptions o = RigOptions::mmu(3, PagePolicy::AccessCounter);
    o.host.mmu.walkers = 1;
    o.gmmu.gmmu.walkers = gmmu_walkers;
    o.host_level = host_level;
    return o;
  }
  OvertakenForward(std::uint32_t gmmu_walkers, Cycle host_level) : rig(options(gmmu_walkers, host_level), 0, 64) {
    parts.add_prt(rig, 3);
    parts.add_ft(rig, 3);
    rig.own(1, 9);
    rig.map(2, 9);
    occupy_host(rig, kFar, 0);
    rig.fill_counter(2, 9, 150);
    rig.ask(0, 9, 0);
  }
  void run() {
    rig.run();
    EXPECT_EQ(parts.ft->stats().forwards, 1U);
    EXPECT_EQ(parts.ft->stats().failures, 1U);
    EXPECT_EQ(rig.mapping_of(0, 9).page.device(), DeviceId{2});
    EXPECT_EQ(rig.all_parts(), rig.latency());
    EXPECT_TRUE(rig.idle());
  }

  Rig rig;
  MmuParts parts;
};

// GPU 1 walks for GPU 0 from 332 to 833, and its own walk ends later.
TEST(Ft, InvalidationFailsAForwardThatIsWalked) {
  OvertakenForward forward(8, 200);
  forward.run();
  EXPECT_EQ(forward.rig.gmmu(1).walkers().stats().withdrawn, 0U);
}

// GPU 1 has its only walker in use from 311 to 812: the forward waits, and leaves the queue.
TEST(Ft, InvalidationFailsAForwardThatWaitsAtOnce) {
  OvertakenForward forward(1, 2000);
  Rig& rig = forward.rig;
  rig.own(1, 20);
  rig.ask(1, 20, 300);
  rig.at(1, 449, [&] { EXPECT_EQ(rig.gmmu(1).walkers().waiting(), 1U); });
  rig.at(3, 599, [&] { EXPECT_EQ(forward.parts.ft->stats().failures, 0U); });
  rig.at(3, 600, [&] { EXPECT_EQ(forward.parts.ft->stats().failures, 1U); });
  forward.run();
  EXPECT_EQ(rig.gmmu(1).walkers().stats().walks[static_cast<std::size_t>(trans_fw::kForwardedWalk)], 0U);
  EXPECT_EQ(rig.gmmu(1).walkers().stats().withdrawn, 1U);
}

TEST(Ft, GpuThatIsAskedMayFindItInItsL2Tlb) {
  RigOptions options = RigOptions::mmu(2, PagePolicy::AccessCounter);
  options.host.mmu.walkers = 1;
  options.host_level = 2000;
  Rig rig(options, 0, 64);
  MmuParts parts;
  FtSpec spec;
  spec.probe_l2_tlb = true;
  parts.add_ft(rig, 2, spec);
  rig.own(1, 9);
  rig.ask(1, 9, 0);
  occupy_host(rig, kFar, 0);
  rig.ask(0, 9, 1000);
  rig.run();
  EXPECT_EQ(parts.responder[1]->stats().tlb_hits, 1U);
  EXPECT_EQ(walks_of(rig.gmmu(1).walkers(), trans_fw::kForwardedWalk), 0U);
  EXPECT_EQ(rig.part(LatencyComponent::RemoteWalk), 10U);
  EXPECT_EQ(rig.mapping_of(0, 9).page.device(), DeviceId{1});
  EXPECT_EQ(rig.all_parts(), rig.latency());
}

TEST(Ft, FollowsReplicas) {
  Rig rig(RigOptions::mmu(3, PagePolicy::Replication), 0, 64);
  MmuParts parts;
  parts.add_ft(rig, 3);
  const auto named = [&](unsigned g) {
    return parts.ft->filter().look_up(filter_key(PageKey{0, 9}, DeviceId{static_cast<std::uint16_t>(g)})) !=
           CuckooFilter::Match::None;
  };
  rig.ask(0, 9, 0);
  rig.ask(1, 9, 10'000);
  rig.at(3, 19'000, [&] { EXPECT_TRUE(named(0) && named(1) && !named(2)); });
  rig.ask(2, 9, 20'000, true);
  rig.run();
  EXPECT_TRUE(!named(0) && !named(1) && named(2));
}

TEST(TransFw, CostsWhatItsTablesTake) {
  const auto costs = cost_of(std::vector<std::string>{"trans-fw"}, "mmu-4gpu", {});
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0].items[0].bits, 6000U);
  EXPECT_TRUE(costs[0].items[0].per_gpu);
  EXPECT_EQ(costs[0].items[1].bits, 1000U);
  EXPECT_EQ(costs[1].items[0].bits, 24'000U);
}

}  // namespace
}  // namespace nearfar::trans_fw_test
