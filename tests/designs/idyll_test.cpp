// IDYLL: its merge buffer and VM-Cache against plain references, and migrations cycle by cycle.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <set>

#include "config/error.h"
#include "designs/design.h"
#include "designs/idyll/walk_kind.h"
#include "designs/mmu_parts.h"

namespace nearfar::idyll_test {
namespace {

constexpr std::uint64_t kRegion = 512;
constexpr std::uint64_t kFar = kRegion * kRegion * kRegion;  ///< pages apart that share no upper entry but the root's

// -------------------------------------------------------------------------------------------------------- structures

RC_GTEST_PROP(MergeBuffer, IsAListOfBasesInOrderOfUse, ()) {
  const auto bases = *rc::gen::inRange<std::uint32_t>(1, 5);
  const auto offsets = *rc::gen::inRange<std::uint32_t>(1, 4);
  MergeBuffer buffer(bases, offsets);
  std::deque<std::pair<std::uint64_t, std::vector<std::uint16_t>>> reference;  // the oldest base first
  const auto steps = *rc::gen::container<std::vector<std::tuple<unsigned, unsigned, unsigned>>>(
      rc::gen::tuple(rc::gen::inRange(0U, 7U), rc::gen::inRange(0U, 6U), rc::gen::inRange(0U, 8U)));
  MergedPages evicted;
  for (const auto& [base, offset, action] : steps) {
    const PageKey page{0, base * kRegion + offset};
    const auto found = std::find_if(reference.begin(), reference.end(), [&](const auto& e) { return e.first == base; });
    const bool held = found != reference.end() &&
                      std::find(found->second.begin(), found->second.end(), offset) != found->second.end();
    RC_ASSERT(buffer.holds(page) == held);
    if (action == 0) {
      RC_ASSERT(buffer.remove(page) == held);
      if (held) std::erase(found->second, offset);
      if (held && found->second.empty()) reference.erase(found);
    } else if (action == 1 && !reference.empty()) {
      buffer.take_oldest(evicted);
      RC_ASSERT(evicted.base.number() == reference.front().first);
      RC_ASSERT(evicted.offsets == reference.front().second);
      reference.pop_front();
    } else {
      const MergeBuffer::Way way = buffer.way_of(page);
      evicted.offsets.clear();
      buffer.add(page, evicted);
      std::vector<std::uint16_t> leaving;
      std::vector<std::uint16_t> entry;
      if (found != reference.end()) {
        entry = found->second;
        reference.erase(found);
        if (!held && entry.size() == offsets) leaving.swap(entry);
      } else if (reference.size() == bases) {
        leaving = reference.front().second;
        reference.pop_front();
      }
      if (!held) entry.push_back(static_cast<std::uint16_t>(offset));
      reference.emplace_back(base, entry);
      const bool evicts = way == MergeBuffer::Way::EvictsBase || way == MergeBuffer::Way::EvictsOffsets;
      RC_ASSERT(evicts == !leaving.empty());
      RC_ASSERT(evicted.offsets == leaving);
    }
    RC_ASSERT(buffer.bases() == reference.size());
  }
}

RC_GTEST_PROP(VmCache, IsALruOfEntriesThatArriveWhenFetched, ()) {
  VmCache cache(8, 2);
  std::map<std::uint64_t, std::vector<std::pair<std::uint64_t, Cycle>>> sets;  // the oldest first
  const auto pages = *rc::gen::container<std::vector<std::uint64_t>>(rc::gen::inRange<std::uint64_t>(0, 20));
  Cycle now = 0;
  for (const std::uint64_t page : pages) {
    now += 10;
    auto& set = sets[page % 4];
    const auto found = std::find_if(set.begin(), set.end(), [&](const auto& e) { return e.first == page; });
    const VmCache::Access access = cache.change(PageKey{0, page}, now + 100);
    RC_ASSERT(access.hit == (found != set.end()));
    RC_ASSERT(access.writes_back == (found == set.end() && set.size() == 2));
    const Cycle ready = found == set.end() ? now + 100 : found->second;
    RC_ASSERT(access.ready == ready);
    if (found != set.end()) {
      set.erase(found);
    } else if (set.size() == 2) {
      set.erase(set.begin());
    }
    set.emplace_back(page, ready);
  }
}

TEST(MergeBuffer, MergesByBase) {
  MergeBuffer buffer(32, 16);
  MergedPages evicted;
  buffer.add(PageKey{0, 5 * kRegion + 3}, evicted);
  buffer.add(PageKey{0, 5 * kRegion + 7}, evicted);
  EXPECT_EQ(buffer.way_of(PageKey{0, 5 * kRegion + 3}), MergeBuffer::Way::Held);
  EXPECT_EQ(buffer.bases(), 1U);
  EXPECT_EQ(buffer.pages(), 2U);
  EXPECT_EQ(buffer.way_of(PageKey{1, 5 * kRegion + 3}), MergeBuffer::Way::Opens);  // another process
}

TEST(MergeBuffer, EvictsTheOldestBaseOrAllOffsets) {
  MergeBuffer buffer(2, 2);
  MergedPages evicted;
  const auto page = [](std::uint64_t base, std::uint64_t offset) { return PageKey{0, base * kRegion + offset}; };
  buffer.add(page(1, 1), evicted);
  buffer.add(page(2, 1), evicted);
  buffer.add(page(1, 2), evicted);
  EXPECT_EQ(buffer.way_of(page(3, 1)), MergeBuffer::Way::EvictsBase);
  buffer.add(page(3, 1), evicted);
  EXPECT_EQ(evicted.base.number(), 2U);
  EXPECT_EQ(evicted.offsets, std::vector<std::uint16_t>{1});
  EXPECT_EQ(buffer.way_of(page(1, 3)), MergeBuffer::Way::EvictsOffsets);
  buffer.add(page(1, 3), evicted);
  EXPECT_EQ(evicted.offsets, (std::vector<std::uint16_t>{1, 2}));
  EXPECT_TRUE(buffer.holds(page(1, 3)));
  EXPECT_FALSE(buffer.holds(page(1, 1)));
}

// ------------------------------------------------------------------------------------------------- one migration

/// Page 9 belongs to GPU 0, GPU 1 has a mapping of it and asks for it at cycle 0; GPU 2 has nothing and cold caches.
struct OneMovement {
  explicit OneMovement(InvalidateHow how = InvalidateHow::Walk) : rig(options(how), 0, 64) {}

  static RigOptions options(InvalidateHow how) {
    RigOptions o = RigOptions::mmu(3, PagePolicy::AccessCounter);
    o.gmmu.how = how;
    return o;
  }
  void run() {
    rig.own(0, 9);
    rig.map(1, 9);
    rig.warm(0, 9);
    rig.warm(1, 9);
    rig.warm_host(9);
    rig.fill_counter(1, 9, 0);
    rig.run();
    EXPECT_TRUE(rig.idle());
    EXPECT_EQ(rig.uvm().migrations, 1U);
    EXPECT_EQ(rig.mapping(), DeviceId{1});
  }
  std::uint64_t unnecessary() {
    std::uint64_t sum = 0;
    for (unsigned g = 0; g < 3; ++g) sum += rig.gmmu(g).stats().unnecessary;
    return sum;
  }

  struct MovementRig : Rig {
    using Rig::Rig;
    DeviceId mapping() { return gmmu(1).table(0).read(9).page().device(); }
  } rig;
  MmuParts parts;
};

TEST(WaitOfAMovement, Baseline) {
  OneMovement m;
  m.run();
  EXPECT_EQ(m.rig.uvm().wait, 801U);
  EXPECT_EQ(m.rig.uvm().invalidations_sent, 3U);
  EXPECT_EQ(m.unnecessary(), 1U);
  EXPECT_EQ(m.rig.uvm().total, 1630U - 150U);
}

TEST(WaitOfAMovement, InPteDirectory) {
  OneMovement m;
  m.parts.add_directory(m.rig, 3);
  m.run();
  EXPECT_EQ(m.rig.uvm().wait, 502U);
  EXPECT_EQ(m.rig.uvm().invalidations_sent, 2U);
  EXPECT_EQ(m.unnecessary(), 0U);
  EXPECT_EQ(m.rig.host().access_bits({0, 9}), 2U);
}

TEST(WaitOfAMovement, LazyInvalidation) {
  OneMovement m;
  m.parts.add_irmb(m.rig, 3);
  m.run();
  EXPECT_EQ(m.rig.uvm().wait, 310U);
  EXPECT_EQ(m.rig.uvm().invalidations_sent, 3U);
  EXPECT_EQ(m.unnecessary(), 1U);
}

TEST(WaitOfAMovement, Idyll) {
  OneMovement m;
  m.parts.add_directory(m.rig, 3);
  IrmbSpec spec;
  spec.idle_writeback = false;
  m.parts.add_irmb(m.rig, 3, spec);
  // The new owner's own entry is invalidated like the others', and the new mapping makes that void.
  m.rig.at(1, 400, [&] { EXPECT_FALSE(m.parts.irmb[1]->hides({0, 9})); });
  m.rig.at(1, 402, [&] { EXPECT_TRUE(m.parts.irmb[1]->hides({0, 9})); });
  m.run();
  EXPECT_EQ(m.rig.uvm().wait, 411U);
  EXPECT_EQ(m.rig.uvm().invalidations_sent, 2U);
  EXPECT_EQ(m.parts.irmb[1]->stats().cancelled, 1U);
  EXPECT_EQ(m.parts.irmb[1]->pending(), 0U);
  EXPECT_EQ(m.parts.irmb[0]->pending(), 1U);
  EXPECT_EQ(m.unnecessary(), 0U);
  EXPECT_EQ(m.rig.gmmu(1).stats().necessary, 1U);
  EXPECT_EQ(walks_of(m.rig.gmmu(1).walkers(), WalkKind::Update), 1U);
  EXPECT_EQ(walks_of(m.rig.gmmu(1).walkers(), idyll::kWritebackWalk), 0U);
  EXPECT_EQ(m.rig.host().access_bits({0, 9}), 2U);
}

TEST(WaitOfAMovement, ZeroLatency) {
  OneMovement m(InvalidateHow::ZeroLatency);
  m.run();
  EXPECT_EQ(m.rig.uvm().wait, 310U);
  EXPECT_EQ(m.unnecessary(), 1U);
}

TEST(WaitOfAMovement, InMemoryDirectoryWhoseCacheHits) {
  OneMovement m;
  m.parts.add_vm_table(m.rig, 3);
  m.parts.add_irmb(m.rig, 3);
  m.run();  // GPU 1's mapping has put the entry into the VM-Cache; it came there at cycle 102
  EXPECT_EQ(m.rig.uvm().wait, 312U);
  EXPECT_EQ(m.rig.uvm().invalidations_sent, 2U);
  EXPECT_EQ(m.parts.vm_table->access_bits({0, 9}), 2U);
}

TEST(WaitOfAMovement, InMemoryDirectoryWhoseCacheMisses) {
  OneMovement m;
  VmCacheSpec spec;
  spec.entries = spec.ways = 1;
  m.parts.add_vm_table(m.rig, 3, spec);
  m.parts.add_irmb(m.rig, 3);
  m.rig.at(3, 100, [&] { m.parts.vm_table->add({0, 8}, DeviceId{0}); });  // takes the only place
  m.run();
  EXPECT_EQ(m.rig.uvm().wait, 412U);
  EXPECT_EQ(m.parts.vm_table->stats().writebacks, 2U);
}

TEST(InPteDirectory, GpusThatShareABitAreToldTogether) {
  Rig rig(RigOptions::mmu(4, PagePolicy::AccessCounter), 0, 64);
  MmuParts parts;
  parts.add_directory(rig, 4, {2});
  rig.own(0, 9);
  rig.map(1, 8);  // elsewhere: GPU 1's bit of page 9 stays clear
  rig.host().driver().record({0, 8});
  rig.at(4, 0, [&] {
    Message request;
    request.kind = MessageKind::MoveRequest;
    request.page = {0, 9};
    request.from = DeviceId{3};
    rig.host().on_message(request);
  });
  rig.run();
  EXPECT_EQ(rig.uvm().invalidations_sent, 2U);
  EXPECT_EQ(parts.directory->stats().targets, 2U);
  EXPECT_EQ(parts.directory->stats().alias_targets, 1U);
  EXPECT_EQ(rig.gmmu(2).stats().unnecessary, 1U);
  EXPECT_TRUE(rig.idle());
}

TEST(InPteDirectory, WriteUpgradeKeepsTheWritersBit) {
  Rig rig(RigOptions::mmu(3, PagePolicy::Replication), 0, 64);
  MmuParts parts;
  parts.add_directory(rig, 3);
  parts.add_irmb(rig, 3);
  rig.ask(0, 9, 0);
  rig.ask(1, 9, 10'000);
  rig.ask(2, 9, 20'000);
  rig.at(3, 29'000, [&] { EXPECT_EQ(rig.host().access_bits({0, 9}), 7U); });
  rig.ask(1, 9, 30'000, true);
  rig.run();
  EXPECT_EQ(rig.uvm().write_upgrades, 1U);
  EXPECT_EQ(rig.uvm().invalidations_sent, 2U);
  EXPECT_EQ(rig.host().access_bits({0, 9}), 2U);
  EXPECT_TRUE(rig.idle());
}

// ---------------------------------------------------------------------------------------------------------- the IRMB

IrmbSpec without_idle() {
  IrmbSpec spec;
  spec.idle_writeback = false;
  return spec;
}

TEST(Irmb, WritesBackWhenAWalkerIsIdle) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.walkers = 1;
  Rig rig(options, 0, 64);
  MmuParts parts;
  parts.add_irmb(rig, 1);
  rig.gmmu(0).write_mapping({0, kFar * kRegion}, {PhysPage{DeviceId{0}, 7}, true, 0});
  rig.ask(0, kFar * kRegion, 0);  // busy from 11 to 512
  for (const std::uint64_t offset : {3, 1, 2}) {
    rig.own(0, offset);
    rig.at(0, 100, [&, offset] { parts.irmb[0]->take({0, offset}, 0); });
  }
  const Cycle idle = 512;
  for (const auto& [after, written] : {std::pair{501U, 0U}, {502U, 1U}, {602U, 1U}, {603U, 2U}, {704U, 3U}}) {
    // Before the walk's end within its cycle, since it was scheduled first.
    rig.at(0, idle + after, [&, written = written] { EXPECT_EQ(parts.irmb[0]->stats().ptes_written, written); });
  }
  rig.run();
  WalkStats& walks = rig.gmmu(0).walkers().stats();
  EXPECT_EQ(walks.cache_hits[0][static_cast<std::size_t>(idyll::kWritebackWalk)], 2U);
  EXPECT_EQ(parts.irmb[0]->stats().idle_writebacks, 1U);
  EXPECT_EQ(rig.gmmu(0).stats().necessary, 3U);
  EXPECT_TRUE(rig.idle());
}

TEST(Irmb, MissOfAPageInItFaultsAtOnce) {
  Rig rig(RigOptions::mmu(1), 0, 64);
  MmuParts parts;
  parts.add_irmb(rig, 1, without_idle());
  rig.at(0, 0, [&] { parts.irmb[0]->take({0, 9}, 0); });
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(parts.irmb[0]->stats().bypasses, 1U);
  EXPECT_EQ(walks_of(rig.gmmu(0).walkers(), WalkKind::Demand), 0U);
  // Where the baseline's fault leaves at 512 this one leaves at 11; its update then finds a cold cache.
  EXPECT_EQ(rig.answered(0, 9), 1673U - 501 + 400);
  EXPECT_EQ(parts.irmb[0]->stats().cancelled, 1U);
  EXPECT_EQ(rig.gmmu(0).stats().unnecessary, 1U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
}

TEST(Irmb, MissDuringAWriteBackFaultsUntilItsPageIsWritten) {
  Rig rig(RigOptions::mmu(1), 0, 64);
  MmuParts parts;
  IrmbSpec spec = without_idle();
  spec.bases = 1;
  parts.add_irmb(rig, 1, spec);
  rig.at(0, 0, [&] {
    for (const std::uint64_t offset : {1, 2, 3}) parts.irmb[0]->take({0, offset}, 0);
    parts.irmb[0]->take({0, kRegion}, 0);  // the region's entry leaves
  });
  // Written at 501, 602 and 703.
  rig.at(0, 550, [&] {
    EXPECT_FALSE(parts.irmb[0]->hides({0, 1}));
    EXPECT_TRUE(parts.irmb[0]->hides({0, 2}));
    EXPECT_TRUE(parts.irmb[0]->hides({0, 3}));
  });
  for (unsigned p = 1; p <= 3; ++p) rig.ask(0, p, 550, false, p);
  rig.run();
  EXPECT_EQ(parts.irmb[0]->stats().evictions_base, 1U);
  EXPECT_EQ(parts.irmb[0]->stats().bypasses, 2U);
  EXPECT_EQ(walks_of(rig.gmmu(0).walkers(), WalkKind::Demand), 1U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
}

// One walker, and two misses that wait for it before the first page of an entry of three is written: the second page of
// the entry queues behind them.
TEST(Irmb, NextPageOfAnEntryQueuesBehindMissesThatWait) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.walkers = 1;
  Rig rig(options, 0, 64);
  MmuParts parts;
  IrmbSpec spec = without_idle();
  spec.bases = 1;
  parts.add_irmb(rig, 1, spec);
  rig.own(0, 8);
  rig.own(0, 9);
  rig.at(0, 0, [&] {
    for (const std::uint64_t offset : {1, 2, 3}) parts.irmb[0]->take({0, offset}, 0);
    parts.irmb[0]->take({0, kRegion}, 0);  // the region's entry leaves
  });
  rig.ask(0, 8, 100, false, 0);
  rig.ask(0, 9, 100, false, 1);
  for (const auto& [when, written] : {std::pair{502U, 1U}, {804U, 1U}, {805U, 2U}, {906U, 3U}}) {
    rig.at(0, when, [&, written = written] { EXPECT_EQ(parts.irmb[0]->stats().ptes_written, written); });
  }
  rig.run();
  EXPECT_EQ(rig.answered(0, 8, 0), 501U + 101U);
  EXPECT_EQ(rig.answered(0, 9, 1), 501U + 202U);
}

// One walker, one place in the queue, walks of 501 cycles. A write-back is asked for while page 20 is walked, 21 is
// queued and 22 waits for a place. It comes behind all three, and before page 23, whose miss is younger.
TEST(Irmb, WriteBackEntersAFullQueueByItsAge) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.walkers = options.gmmu.gmmu.queue = 1;
  options.gmmu.gmmu.cache.entries = 0;
  Rig rig(options, 0, 64);
  MmuParts parts;
  IrmbSpec spec = without_idle();
  spec.bases = 1;
  parts.add_irmb(rig, 1, spec);
  for (unsigned i = 0; i < 4; ++i) rig.own(0, 20 + i);
  for (unsigned i = 0; i < 3; ++i) rig.ask(0, 20 + i, i, false, i);
  rig.at(0, 100, [&] {
    parts.irmb[0]->take({0, 1}, 0);
    parts.irmb[0]->take({0, kRegion}, 0);  // page 1 has to be written
  });
  rig.ask(0, 23, 200, false, 3);
  rig.run();
  const Cycle walk = 501;
  EXPECT_EQ(rig.answered(0, 22, 2), 11 + 3 * walk);
  EXPECT_EQ(rig.answered(0, 23, 3), 11 + 5 * walk);
  EXPECT_EQ(parts.irmb[0]->stats().ptes_written, 1U);
  EXPECT_TRUE(rig.idle());
}

TEST(Irmb, MappingAfterTheWriteBackIsTheLastWord) {
  for (const Cycle taken : {300, 600}) {  // the write-back is over, or under way, when the page comes at 961
    Rig rig(RigOptions::mmu(1), 0, 64);
    MmuParts parts;
    parts.add_prt(rig, 1);
    parts.add_irmb(rig, 1);
    rig.ask(0, 9, 0);
    rig.at(0, taken, [&] { parts.irmb[0]->take({0, 9}, 0); });
    rig.run();
    EXPECT_EQ(walks_of(rig.gmmu(0).walkers(), idyll::kWritebackWalk), 1U);
    EXPECT_EQ(walks_of(rig.gmmu(0).walkers(), WalkKind::Update), 1U);
    EXPECT_EQ(parts.irmb[0]->stats().cancelled, 0U);
    EXPECT_TRUE(rig.gmmu(0).table(0).read(9).valid());
    EXPECT_EQ(parts.prt[0]->filter().stored(), 1U);
    EXPECT_EQ(rig.answered(0, 9), taken == 300 ? 961U + 101 + 111 : 600U + 501 + 101 + 111);
  }
}

TEST(Irmb, MappingOverAStaleValidEntryLeavesThePrtAlone) {
  OneMovement m;
  m.parts.add_prt(m.rig, 3);
  m.parts.add_irmb(m.rig, 3, without_idle());
  m.run();
  EXPECT_EQ(m.parts.irmb[1]->stats().cancelled, 1U);
  EXPECT_EQ(m.parts.prt[1]->stats().inserts, 1U);
  EXPECT_EQ(m.parts.prt[1]->stats().deletes, 0U);
  EXPECT_EQ(m.parts.prt[0]->stats().deletes, 0U);  // still hidden, still valid in memory
}

TEST(Irmb, MappingTakesBackAWriteBackThatWaits) {
  RigOptions options = RigOptions::mmu(1);
  options.gmmu.gmmu.walkers = 1;
  Rig rig(options, 0, 64);
  MmuParts parts;
  IrmbSpec spec = without_idle();
  spec.bases = 1;
  parts.add_irmb(rig, 1, spec);
  rig.gmmu(0).write_mapping({0, kFar * kRegion}, {PhysPage{DeviceId{0}, 7}, true, 0});
  // The page's fault bypasses the walk and its mapping comes at 961; the walker is busy from 911 to 1412, and the
  // page's entry waits for it since 950, with another behind it.
  rig.at(0, 0, [&] {
    parts.irmb[0]->take({0, 9}, 0);
    parts.irmb[0]->take({0, 10}, 0);
  });
  rig.ask(0, 9, 0);
  rig.ask(0, kFar * kRegion, 900, false, 1);
  rig.at(0, 950, [&] { parts.irmb[0]->take({0, kRegion}, 0); });
  rig.run();
  EXPECT_EQ(parts.irmb[0]->stats().cancelled, 1U);
  EXPECT_EQ(walks_of(rig.gmmu(0).walkers(), idyll::kWritebackWalk), 1U);
  EXPECT_EQ(rig.gmmu(0).stats().unnecessary, 2U);
  EXPECT_EQ(parts.irmb[0]->pending(), 1U);
  EXPECT_GT(rig.answered(0, 9), 0U);
  EXPECT_TRUE(rig.idle());
}

TEST(Irmb, HidesItsPagesFromForwardedFaults) {
  for (const bool hidden : {false, true}) {
    RigOptions options = RigOptions::mmu(2, PagePolicy::FirstTouch);
    options.host.mmu.walkers = 1;
    options.host_level = 300;
    Rig rig(options, 0, 64);
    MmuParts parts;
    parts.add_ft(rig, 2);
    parts.add_irmb(rig, 2, without_idle());
    rig.own(1, 9);
    occupy_host(rig, kFar, 500);
    if (hidden) rig.at(1, 0, [&] { parts.irmb[1]->take({0, 9}, 0); });
    rig.ask(0, 9, 0);
    rig.run();
    EXPECT_EQ(parts.ft->stats().forwards, 1U);
    EXPECT_EQ(parts.ft->stats().failures, hidden ? 1U : 0U);
  }
}

/// GPU 0 gets a remote mapping of page 9 while GPU 2 takes the page away.
TEST(Irmb, InvalidationOvertakesAMappingThatIsNotWritten) {
  for (const bool walking : {false, true}) {
    RigOptions options = RigOptions::mmu(3, PagePolicy::AccessCounter);
    options.gmmu.gmmu.walkers = 1;
    Rig rig(options, 0, kRegion * 64);
    MmuParts parts;
    parts.add_irmb(rig, 3, without_idle());
    rig.own(1, 9);
    rig.map(2, 9);
    rig.warm_host(9);
    // Its mapping comes at 933 and is written from then on, or behind another walk; the invalidation comes at 983.
    // An older invalidation of the page is void by the mapping, and counts when that is written or taken back.
    rig.at(0, 520, [&] { parts.irmb[0]->take({0, 9}, 0); });
    rig.ask(0, 9, 0);
    if (!walking) {
      rig.own(0, kRegion * 40);
      rig.ask(0, kRegion * 40, 900, false, 1);
    }
    rig.fill_counter(2, 9, 683);
    rig.run();
    EXPECT_EQ(rig.gmmu(0).stats().updates_cancelled, walking ? 0U : 1U);
    EXPECT_EQ(rig.mapping_of(0, 9).page.device(), DeviceId{2});
    EXPECT_EQ(rig.gmmu(0).stats().far_faults, walking ? 2U : 1U);
    EXPECT_EQ(parts.irmb[0]->stats().cancelled, 2U);
    EXPECT_EQ(rig.gmmu(0).stats().necessary + rig.gmmu(0).stats().unnecessary, 2U);
    EXPECT_EQ(rig.all_parts(), rig.latency());
    EXPECT_TRUE(rig.idle());
  }
}

TEST(Irmb, StaleWalkFaultsInItsLastCycle) {
  Rig rig(RigOptions::mmu(2), 0, 64);
  MmuParts parts;
  parts.add_irmb(rig, 2, without_idle());
  rig.own(1, 9);
  // Decision at 1183, invalidation at GPU 1 at 1333, while its own walk goes on until 1545.
  rig.ask(1, 9, 1033);
  rig.ask(0, 9, 0);
  rig.run();
  EXPECT_EQ(rig.l2(1).stats().stale_results, 1U);
  EXPECT_EQ(rig.gmmu(1).stats().far_faults, 1U);
  EXPECT_EQ(walks_of(rig.gmmu(1).walkers(), WalkKind::Demand), 1U);
  EXPECT_EQ(rig.uvm().migrations, 2U);
  EXPECT_EQ(rig.all_parts(), rig.latency());
}

TEST(Irmb, WithoutAFreeBufferMakesInvalidationsWait) {
  RigOptions options = RigOptions::mmu(2);
  options.gmmu.gmmu.walkers = 1;
  Rig rig(options, 0, kRegion * 8);
  MmuParts parts;
  IrmbSpec spec = without_idle();
  spec.bases = spec.offsets = spec.writeback_buffers = 1;
  parts.add_irmb(rig, 2, spec);
  for (unsigned i = 0; i < 4; ++i) {
    rig.own(1, i * kRegion);
    rig.own(1, i * kRegion + 1);
    rig.ask(0, i * kRegion, 0, false, i);
    rig.ask(1, i * kRegion + 1, 1000 + 200 * i, false, i);  // demand has the walker
  }
  rig.run();
  EXPECT_GT(parts.irmb[1]->stats().stall_cycles, 0U);
  EXPECT_EQ(parts.irmb[1]->stats().evictions_base, 3U);
  EXPECT_EQ(parts.irmb[1]->pending(), 1U);
  for (unsigned i = 0; i < 4; ++i) EXPECT_GT(rig.answered(0, i * kRegion, i), 0U);
  EXPECT_TRUE(rig.idle());
}

// Three invalidations reach GPU 1 at 1333. The first goes into the only entry, the second sends it to the only
// write-back buffer, the third waits for that. Its TLB entry is gone at once, and a miss of its page faults as if it
// were in the IRMB; its page leaves when it has been acknowledged.
TEST(Irmb, InvalidationThatWaitsHasShotTheTlbsDown) {
  Rig rig(RigOptions::mmu(2), 0, kRegion * 4);
  MmuParts parts;
  IrmbSpec spec = without_idle();
  spec.bases = spec.offsets = spec.writeback_buffers = 1;
  parts.add_irmb(rig, 2, spec);
  const std::uint64_t waits = 2 * kRegion;
  for (unsigned i = 0; i < 3; ++i) {
    rig.own(1, i * kRegion);
    rig.ask(0, i * kRegion, 0, false, i);
  }
  rig.ask(1, waits, 0);
  rig.at(1, 1332, [&] { EXPECT_NE(rig.l2(1).array().peek({0, waits}), nullptr); });
  rig.at(1, 1334, [&] {
    EXPECT_EQ(rig.l2(1).array().peek({0, waits}), nullptr);
    EXPECT_FALSE(rig.gmmu(1).usable({0, waits}).valid());
    EXPECT_EQ(parts.irmb[1]->stats().inserts, 2U);
    EXPECT_EQ(rig.gmmu(1).stats().invalidations, 3U);
  });
  rig.ask(1, waits, 1340, false, 1);  // its fault is with the host, and parked, before the page has moved
  rig.run();
  EXPECT_EQ(parts.irmb[1]->stats().bypasses, 1U);
  EXPECT_GT(parts.irmb[1]->stats().stall_cycles, 0U);
  EXPECT_EQ(parts.irmb[1]->stats().inserts, 3U);
  EXPECT_GT(rig.answered(0, waits, 2), 1340U);
  EXPECT_GT(rig.answered(1, waits, 1), rig.answered(0, waits, 2));
  EXPECT_EQ(rig.all_parts(), rig.latency());
  EXPECT_TRUE(rig.idle());
}

// As above with five invalidations and one place for messages: the third has it while it waits for the write-back
// buffer, and the others wait on the link, each until the one before it is in the IRMB. Behind them wait the host's
// orders to send the first two pages, which come about 300 cycles later; the first write-back takes 501.
TEST(Irmb, InvalidationThatWaitsKeepsItsPlaceAmongTheMessages) {
  RigOptions options = RigOptions::mmu(2);
  options.gmmu.gmmu.ingress = 1;
  Rig rig(options, 0, kRegion * 8);
  MmuParts parts;
  IrmbSpec spec = without_idle();
  spec.bases = spec.offsets = spec.writeback_buffers = 1;
  parts.add_irmb(rig, 2, spec);
  for (unsigned i = 0; i < 5; ++i) {
    rig.own(1, i * kRegion);
    rig.ask(0, i * kRegion, 0, false, i);
  }
  rig.run();
  EXPECT_EQ(rig.gmmu(1).stats().stopped, 2U + 2U);
  EXPECT_GT(rig.gmmu(1).stats().stopped_cycles, 0U);
  EXPECT_EQ(parts.irmb[1]->stats().inserts, 5U);
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(rig.mapping_of(0, i * kRegion).page.device(), DeviceId{0});
  EXPECT_TRUE(rig.idle());
}

TEST(Irmb, MergesLargePagesOfOneGibibyte) {
  RigOptions options = RigOptions::mmu(2);
  options.gmmu.size.bits = kLargePageBits;
  Rig rig(options, 0, 64);
  MmuParts parts;
  parts.add_irmb(rig, 2, without_idle());
  rig.own(1, 3);
  rig.own(1, 4);
  rig.ask(0, 3, 0, false, 0);
  rig.ask(0, 4, 0, false, 1);
  rig.run();
  EXPECT_EQ(parts.irmb[1]->array().bases(), 1U);
  EXPECT_EQ(parts.irmb[1]->array().pages(), 2U);
  EXPECT_EQ(parts.irmb[1]->stats().merged, 1U);
}

TEST(Idyll, CostsWhatItsBuffersTake) {
  const auto costs = cost_of(std::vector<std::string>{"idyll"}, "mmu-4gpu-counters", {});
  ASSERT_EQ(costs.size(), 2U);
  EXPECT_EQ(costs[0].items[0].bits, 0U);
  EXPECT_EQ(costs[1].items[0].bits, 5760U);
  EXPECT_EQ(costs[1].items[1].bits, 360U);
  const auto in_memory = cost_of(std::vector<std::string>{"idyll-inmem"}, "mmu-4gpu-counters", {});
  ASSERT_EQ(in_memory[0].items.size(), 2U);
  EXPECT_EQ(in_memory[0].items[0].bits, 512U * 8);
  EXPECT_EQ(in_memory[0].items[1].formula, "64 bits of memory for each page");
}

TEST(Idyll, DirectoriesTakeThePlaceOfInvalidateTargets) {
  const std::vector<std::string> broadcast = {"invalidate.targets=broadcast"};
  for (const char* design : {"idyll-dir", "idyll-inmem"}) {
    const std::vector<std::string> designs = {design};
    EXPECT_THROW(load_system_with(designs, "mmu-4gpu-counters", broadcast), InputError) << design;
  }
  EXPECT_NO_THROW(load_system_with(std::vector<std::string>{"idyll-lazy"}, "mmu-4gpu-counters", broadcast));
}

}  // namespace
}  // namespace nearfar::idyll_test
