// Pages that move: who waits for whom, and what must not be left behind.
#include <gtest/gtest.h>

#include "translation/rig.h"

namespace nearfar::movement_test {
namespace {

TEST(Driver, FaultWaitsForItsTurnToMove) {
  RigOptions options = RigOptions::mmu(1);
  options.host.uvm.uvm.concurrent_migrations = 1;
  Rig rig(options, 0, 64);
  rig.warm(0, 8);
  rig.warm_host(8);
  rig.ask(0, 8, 0, false, 0);
  rig.ask(0, 9, 0, false, 1);
  rig.run();
  // Both reach the driver at 11 + 101 + 150 + 20 + 101. The first page comes 278 cycles later, is written in 101, and
  // the host hears of it 150 cycles after that.
  EXPECT_EQ(rig.part(LatencyComponent::DriverTurn), 278U + 101 + 150);
  EXPECT_EQ(rig.part(LatencyComponent::DriverBatch), 0U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
}

struct Wait {
  std::uint32_t batch_size;
  Cycle answered;
  std::uint64_t batches;
};

// Without the wait the first page is answered at 2473: its fault is with the driver at 1183, those of the others come
// at 1193.
TEST(Driver, WaitsForAFullerBatchUntilItIsFull) {
  for (const Wait& wait : {Wait{4, 2473 + 10, 1}, {5, 2473 + 5000, 1}, {1, 2473, 4}}) {
    RigOptions options = RigOptions::mmu(1);
    options.gmmu.gmmu.walkers = options.host.mmu.walkers = 0;
    options.gmmu.gmmu.cache.entries = options.host.mmu.cache.entries = 0;
    options.host.uvm.uvm.batch_wait = 5000;
    options.host.uvm.uvm.batch_size = wait.batch_size;
    Rig rig(options, 0, 64);
    rig.ask(0, 0, 0, false, 0);
    for (unsigned p = 1; p < 4; ++p) rig.ask(0, p, 10, false, p);
    rig.run();
    EXPECT_EQ(rig.answered(0, 0), wait.answered) << "a batch of " << wait.batch_size;
    EXPECT_EQ(rig.uvm().batches, wait.batches) << "a batch of " << wait.batch_size;
    EXPECT_TRUE(rig.idle());
  }
}

// Both fault while the page moves to GPU 0, GPU 2 first. It gets the page first, and GPU 3 then takes it away.
TEST(Driver, FaultsThatWaitedForAPageAreDecidedInOrder) {
  Rig rig(RigOptions::mmu(4), 0, 64);
  rig.own(1, 9);
  rig.warm(1, 9);
  rig.ask(0, 9, 0);
  rig.ask(2, 9, 900);
  rig.ask(3, 9, 950);
  rig.run();
  EXPECT_GE(rig.uvm().parked, 2U);
  EXPECT_LT(rig.answered(2, 9), rig.answered(3, 9));
  EXPECT_EQ(rig.host().driver().record({0, 9}).owner.device(), DeviceId{3});
  EXPECT_TRUE(rig.idle());
}

TEST(Driver, GivesAFrameToTheNextPage) {
  Rig rig(RigOptions::mmu(2), 0, 64);
  rig.own(0, 9);
  const PhysPage frame = rig.host().driver().record({0, 9}).owner;
  rig.ask(1, 9, 0);
  rig.ask(0, 10, 10'000);
  rig.run();
  EXPECT_EQ(rig.host().driver().record({0, 9}).owner.device(), DeviceId{1});
  EXPECT_EQ(rig.host().driver().record({0, 10}).owner, frame);
}

// The answer to a fault that this GPU has not sent, or not any more, is not taken for that to its present one.
TEST(Fault, IsAnsweredByItsOwnAnswer) {
  Rig rig(RigOptions::mmu(1), 0, 64);
  rig.ask(0, 9, 0);
  rig.at(0, 700, [&] {
    Message other;
    other.kind = MessageKind::Map;
    other.page = {0, 9};
    other.mapping = {PhysPage{DeviceId{0}, 77}, true, 0};
    other.faulted = true;
    other.number = 1000;
    rig.gmmu(0).receive(other);
  });
  rig.run();
  EXPECT_EQ(rig.gmmu(0).stats().duplicates, 1U);
  EXPECT_EQ(rig.answered(0, 9), 1673U);
  EXPECT_EQ(rig.mapping_of(0, 9).page, rig.host().driver().record({0, 9}).owner);
}

// GPU 0's answer takes another way than the invalidation that follows it and is behind it: GPU 2 has taken the page
// meanwhile. The mapping is void, and GPU 0 asks again.
TEST(Fault, IsSentAgainWhenAnInvalidationOvertakesItsAnswer) {
  Rig rig(RigOptions::mmu(3, PagePolicy::AccessCounter), 0, 64);
  rig.own(1, 9);
  rig.map(2, 9);
  rig.warm_host(9);
  rig.ask(0, 9, 0);  // answered at 783
  const auto slow_down = [&](Cycle slow) {
    rig.wire(3).slow_to = DeviceId{0};
    rig.wire(3).slow = slow;
  };
  rig.at(3, 700, [=] { slow_down(5000); });
  rig.at(3, 850, [=] { slow_down(kLink); });
  rig.fill_counter(2, 9, 900);
  rig.run();
  EXPECT_EQ(rig.uvm().migrations, 1U);
  EXPECT_EQ(rig.gmmu(0).stats().reissues, 1U);
  EXPECT_EQ(rig.host().driver().record({0, 9}).owner.device(), DeviceId{2});
  EXPECT_EQ(rig.mapping_of(0, 9).page, rig.host().driver().record({0, 9}).owner);
  EXPECT_TRUE(rig.idle());
}

// One walker, one place in the queue, walks of 501 cycles. Page 9 comes from the host at 1461, when page 20 is walked,
// 21 is queued and 22 to 24 wait for a place. The update takes the next place, and the replay, which is submitted last
// but whose miss is the oldest, the next one that is free: before page 24.
TEST(Replay, EntersByTheAgeOfItsMiss) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.walkers = options.gmmu.gmmu.queue = 1;
  options.gmmu.gmmu.cache.entries = options.host.mmu.cache.entries = 0;
  Rig rig(options, 0, 64);
  rig.ask(0, 9, 0, false, 0);
  for (unsigned i = 0; i < 5; ++i) {
    rig.own(0, 20 + i);
    rig.ask(0, 20 + i, 1400 + i, false, 1 + i);
  }
  rig.run();
  const Cycle walk = 501;
  const Cycle updated = 1411 + 3 * walk;  // behind pages 20 and 21
  EXPECT_EQ(rig.answered(0, 22, 3), updated + walk);
  EXPECT_EQ(rig.answered(0, 23, 4), updated + 2 * walk);
  EXPECT_EQ(rig.answered(0, 9), updated + 3 * walk);
  EXPECT_EQ(rig.answered(0, 24, 5), updated + 4 * walk);
  EXPECT_TRUE(rig.idle());
}

RigOptions ideal(unsigned gpus, PagePolicy policy) {
  RigOptions options = RigOptions::mmu(gpus, policy);
  options.gmmu.ideal_migration = options.host.uvm.migration.ideal = true;
  return options;
}

// GPU 0's remote mapping is in its walker when GPU 2 takes the page: it must not be written behind the invalidation.
TEST(IdealMigration, LeavesNoOldMappingBehind) {
  RigOptions options = ideal(3, PagePolicy::AccessCounter);
  options.gmmu.gmmu.walkers = 1;
  Rig rig(options, 0, 1 << 15);
  rig.own(1, 9);
  rig.map(2, 9);
  rig.warm_host(9);
  rig.ask(0, 9, 0);
  rig.fill_counter(2, 9, 683);
  rig.run();
  const PageRecord& record = rig.host().driver().record({0, 9});
  EXPECT_EQ(record.owner.device(), DeviceId{2});
  const Pte entry = rig.gmmu(0).table(0).read(9);
  EXPECT_EQ(entry.valid(), record.holders.test(0));
  EXPECT_EQ(entry.page(), record.owner);
  EXPECT_EQ(rig.mapping_of(0, 9).page, record.owner);
}

TEST(IdealMigration, DowngradeKeepsTheReadersMapping) {
  Rig rig(ideal(2, PagePolicy::Replication), 0, 64);
  rig.ask(0, 9, 0, true);
  rig.ask(1, 9, 10'000);
  rig.run();
  const Pte entry = rig.gmmu(0).table(0).read(9);
  EXPECT_TRUE(entry.valid());
  EXPECT_FALSE(entry.writable());
  EXPECT_EQ(rig.gmmu(0).stats().necessary, 0U);
  EXPECT_EQ(rig.uvm().replications, 1U);
}

// The invalidations' round takes what it takes, and the page itself nothing.
TEST(IdealMigration, MayKeepTheInvalidations) {
  RigOptions options = RigOptions::mmu(2);
  options.host.uvm.migration = {.ideal = true, .keep_invalidation = true};
  Rig rig(options, 0, 64);
  rig.own(1, 9);
  rig.warm(1, 9);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.part(LatencyComponent::MigrationInvalidate), 401U);
  EXPECT_EQ(rig.part(LatencyComponent::MigrationTransfer), 0U);
  EXPECT_EQ(rig.part(LatencyComponent::LinkToGpu), 150U);
  EXPECT_EQ(rig.answered(0, 9), 2224U - (428U - 150U));  // as with a transfer of 428 cycles
  EXPECT_TRUE(rig.idle());
}

// Without the wait the answer comes at 1673. A line of the page is on its way to the host's cache when the page is to
// leave, and at the next two looks, 16 cycles apart.
TEST(Transfer, FromTheHostWaitsForLinesUnderWay) {
  Rig rig(RigOptions::mmu(1), 0, 64);
  unsigned looks = 0;
  rig.line_pending = [&] { return ++looks <= 3; };
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.answered(0, 9), 1673U + 3 * 16);
  EXPECT_EQ(rig.all_parts(), rig.latency());
}

/// A GPU with room for one page wants a second one: the first goes back to the host.
void expect_evicted(Rig& rig) {
  EXPECT_EQ(rig.uvm().evictions, 1U);
  EXPECT_EQ(rig.uvm().migrations, 2U);
  EXPECT_EQ(rig.host().driver().record({0, 8}).owner.device(), rig.host_device());
  EXPECT_EQ(rig.host().driver().record({0, 9}).owner.device(), DeviceId{0});
  EXPECT_FALSE(rig.gmmu(0).table(0).read(8).valid());
  EXPECT_TRUE(rig.gmmu(0).table(0).read(9).valid());
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

// The page that leaves takes no time: a fault waits for it no longer than for the batch that decides it.
TEST(IdealMigration, EvictsInNoTime) {
  RigOptions options = ideal(1, PagePolicy::OnTouch);
  options.host.uvm.gpu_pages = 1;
  options.host.uvm.migration.evict = true;
  Rig rig(options, 0, 64);
  rig.ask(0, 8, 0);
  rig.ask(0, 9, 10'000);
  rig.run();
  expect_evicted(rig);
  EXPECT_EQ(rig.part(LatencyComponent::DriverParked), 0U);
  EXPECT_EQ(rig.uvm().wait, 0U);
}

// With the invalidations' round kept, the fault waits for it alone.
TEST(IdealMigration, EvictionMayKeepItsInvalidation) {
  RigOptions options = RigOptions::mmu(1);
  options.host.uvm.gpu_pages = 1;
  options.host.uvm.migration = {.ideal = true, .keep_invalidation = true, .evict = true};
  Rig rig(options, 0, 64);
  rig.ask(0, 8, 0);
  rig.ask(0, 9, 10'000);
  rig.run();
  expect_evicted(rig);
  EXPECT_EQ(rig.part(LatencyComponent::DriverParked), 150U + 101U + 150U);
}

// What lies on a GPU from the start can be evicted too.
TEST(Eviction, SendsAPageAwayThatWasThereBeforeTheFirstCycle) {
  RigOptions options = RigOptions::mmu(1);
  options.host.uvm.gpu_pages = 1;
  options.host.uvm.migration.evict = true;
  Rig rig(options, 0, 64);
  rig.own(0, 8);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.uvm().evictions, 1U);
  EXPECT_EQ(rig.host().driver().record({0, 8}).owner.device(), rig.host_device());
  EXPECT_EQ(rig.host().driver().record({0, 9}).owner.device(), DeviceId{0});
  EXPECT_TRUE(rig.idle());
}

// Two faults wait for room on a full GPU. One page leaves for the first of them, and the next one only then.
TEST(Eviction, SendsOnePageAwayAtATime) {
  RigOptions options = RigOptions::mmu(1);
  options.host.uvm.gpu_pages = 2;
  options.host.uvm.migration.evict = true;
  Rig rig(options, 0, 64);
  rig.own(0, 8);
  rig.own(0, 9);
  rig.ask(0, 10, 0, false, 0);
  rig.ask(0, 11, 0, false, 1);
  unsigned most = 0;
  for (Cycle when = 100; when < 5000; when += 50) {
    rig.at(1, when, [&] {
      unsigned moving = 0;
      for (const std::uint64_t page : {8, 9}) moving += rig.host().driver().record({0, page}).moving ? 1 : 0;
      most = std::max(most, moving);
    });
  }
  rig.run();
  EXPECT_EQ(most, 1U);
  EXPECT_EQ(rig.uvm().evictions, 2U);
  EXPECT_GT(rig.answered(0, 11, 1), 0U);
  EXPECT_TRUE(rig.idle());
}

// GPU 1's only frame has a copy of a page that GPU 0 owns. For another page the copies are given up.
TEST(Eviction, MakesRoomWhereAReplicaLies) {
  RigOptions options = RigOptions::mmu(2, PagePolicy::Replication);
  options.host.uvm.gpu_pages = 1;
  options.host.uvm.migration.evict = true;
  Rig rig(options, 0, 64);
  rig.ask(0, 8, 0);
  rig.ask(1, 8, 10'000);
  rig.ask(1, 9, 20'000);
  rig.run();
  EXPECT_EQ(rig.uvm().replications, 1U);
  EXPECT_EQ(rig.uvm().evictions, 1U);
  EXPECT_EQ(rig.host().driver().record({0, 9}).owner.device(), DeviceId{1});
  EXPECT_GT(rig.answered(1, 9), 0U);
  EXPECT_TRUE(rig.idle());
}

// GPU 2's mapping is void from 300 on: accesses that were on their way say nothing of the page's next place.
TEST(AccessCounter, CountsNothingWhileItsMappingIsVoid) {
  Rig rig(RigOptions::mmu(3, PagePolicy::AccessCounter), 0, 64);
  rig.own(0, 9);
  rig.map(1, 9);
  rig.map(2, 9);
  rig.fill_counter(1, 9, 0);
  rig.fill_counter(2, 9, 310);
  rig.run();
  EXPECT_EQ(rig.gmmu(2).stats().invalidations, 1U);
  EXPECT_EQ(rig.gmmu(2).stats().move_requests, 0U);
  EXPECT_EQ(rig.uvm().migrations, 1U);
}

// GPU 2 asks for the page before GPU 1 gets it, but is heard after that: what it counted says nothing of the new place.
TEST(AccessCounter, RequestThatComesAfterThePageHasMovedIsDropped) {
  Rig rig(RigOptions::mmu(3, PagePolicy::AccessCounter), 0, 64);
  rig.own(0, 9);
  rig.map(1, 9);
  rig.map(2, 9);
  rig.wire(2).slow_to = rig.host_device();
  rig.wire(2).slow = 9000;
  rig.at(2, 100, [&] { rig.wire(2).slow = kLink; });
  rig.fill_counter(1, 9, 0);
  rig.fill_counter(2, 9, 50);
  rig.run();
  EXPECT_EQ(rig.gmmu(2).stats().move_requests, 1U);
  EXPECT_EQ(rig.uvm().requests_dropped, 1U);
  EXPECT_EQ(rig.uvm().migrations, 1U);
  EXPECT_EQ(rig.host().driver().record({0, 9}).owner.device(), DeviceId{1});
}

// Three of four accesses to a frame were for another page than the one that is mapped there now.
TEST(AccessCounter, BeginsAnewWithEachPageOfAFrame) {
  Rig rig(RigOptions::mmu(2, PagePolicy::AccessCounter), 0, 64);
  rig.own(0, 9);
  const PhysPage frame = rig.host().driver().record({0, 9}).owner;
  PageAccessTracker& frames = rig.frames(1);
  frames.map({0, 9}, frame, 0);
  frames.count_remote(frame, kThreshold - 1);
  frames.map({0, 10}, frame, 0);
  frames.count_remote(frame, kThreshold - 1);
  EXPECT_EQ(rig.gmmu(1).stats().move_requests, 0U);
}

TEST(AccessCounter, PageOnTheHostMayBeMappedThereUntilItIsFull) {
  RigOptions options = RigOptions::mmu(2, PagePolicy::AccessCounter);
  options.host.uvm.host_first_touch = HostFirstTouch::Map;
  Rig rig(options, 0, 64);
  rig.ask(0, 9, 0);
  rig.fill_counter(0, 9, 10'000);
  rig.run();
  EXPECT_EQ(rig.mapping_of(0, 9).page.device(), rig.host_device());
  EXPECT_EQ(rig.uvm().remote_mappings, 1U);
  EXPECT_EQ(rig.host().driver().record({0, 9}).owner.device(), DeviceId{0});
  EXPECT_EQ(rig.uvm().migrations, 1U);
  EXPECT_TRUE(rig.idle());
}

// GPU 0 replays from 1972 to 2473 what brought the page there. GPU 1's fault is parked until the host hears of the page
// at 2112, so the invalidation comes at 2262, waits for the replay, and walks.
TEST(Invalidation, LatencyHasTheWaitForAReplayInIt) {
  RigOptions options = RigOptions::mmu(2);
  options.gmmu.gmmu.cache.entries = options.host.mmu.cache.entries = 0;
  Rig rig(options, 0, 64);
  rig.ask(0, 9, 0);
  rig.ask(1, 9, 900);
  rig.run();
  EXPECT_EQ(rig.answered(0, 9), 2473U);
  EXPECT_EQ(rig.gmmu(0).stats().invalidation_cycles, 2473U - 2262U + 501U);
  EXPECT_TRUE(rig.idle());
}

// As above; and the invalidation of another page comes at 2300. Where there is one place for messages it waits on the
// link until the first one has gone to its walk, or where entries are written at once, to its entry.
TEST(Ingress, InvalidationThatWaitsForAReplayKeepsItsPlace) {
  for (const InvalidateHow how : {InvalidateHow::Walk, InvalidateHow::ZeroLatency}) {
    RigOptions options = RigOptions::mmu(2);
    options.gmmu.gmmu.cache.entries = options.host.mmu.cache.entries = 0;
    options.gmmu.how = how;
    options.gmmu.gmmu.ingress = 1;
    Rig rig(options, 0, 64);
    rig.own(0, 20);
    rig.ask(0, 9, 0);
    rig.ask(1, 9, 900);
    rig.ask(1, 20, 967);
    rig.run();
    EXPECT_EQ(rig.answered(0, 9), 2473U);
    EXPECT_EQ(rig.gmmu(0).stats().stopped, 1U);
    EXPECT_EQ(rig.gmmu(0).stats().stopped_cycles, 2473U - 2300U);
    EXPECT_EQ(rig.mapping_of(1, 20).page.device(), DeviceId{1});
    EXPECT_TRUE(rig.idle());
  }
}

// GPU 1 takes five pages of GPU 0: one invalidation walks, one has the place in the queue, one that in the buffer, and
// two wait on the link. A message that needs no place waits behind them all the same.
TEST(Ingress, NothingOvertakesWhatWaitsOnTheLink) {
  RigOptions options = RigOptions::mmu(2);
  options.gmmu.gmmu.walkers = options.gmmu.gmmu.queue = options.gmmu.gmmu.ingress = 1;
  Rig rig(options, 0, 16);
  for (std::uint64_t page = 0; page < 5; ++page) {
    rig.own(0, page);
    rig.ask(1, page, 0, false, static_cast<unsigned>(page));
  }
  const GmmuStats& stats = rig.gmmu(0).stats();
  bool sent = false;
  for (Cycle when = 1000; when < 3000; when += 10) {
    rig.at(0, when, [&] {
      if (sent || stats.stopped != 2 || stats.stopped_cycles != 0) return;
      sent = true;
      Message transfer;
      transfer.kind = MessageKind::Transfer;
      transfer.page = {0, 7};
      transfer.to = DeviceId{1};
      transfer.mapping = {PhysPage{DeviceId{1}, 500}, true, 0};
      rig.gmmu(0).receive(transfer);
      EXPECT_EQ(stats.stopped, 3U);
    });
  }
  rig.run();
  EXPECT_TRUE(sent);
  EXPECT_TRUE(rig.idle());
}

}  // namespace
}  // namespace nearfar::movement_test
