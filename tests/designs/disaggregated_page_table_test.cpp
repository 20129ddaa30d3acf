// The disaggregated page table request by request, cycle by cycle, in storms and on whole machines.
#include <gtest/gtest.h>

#include "config/error.h"
#include "designs/design.h"
#include "designs/disaggregated_page_table/messages.h"
#include "designs/disaggregated_page_table/start.h"
#include "designs/tiny_machine.h"
#include "machine/sharing.h"
#include "machine/statistics.h"
#include "translation/storm.h"

namespace nearfar::disaggregated_page_table_test {
namespace {

RigOptions options_of(unsigned gpus, PagePolicy policy) {
  RigOptions options = RigOptions::mmu(gpus, policy);
  options.gmmu.gmmu.replay = Replay::Short;
  return options;
}

struct Dpt {
  Rig rig;
  unsigned gpus;
  std::vector<LeafTablesOfGpu*> parts;
  TableRegistry* registry = nullptr;
  std::uint64_t first;
  std::uint64_t count;

  explicit Dpt(const RigOptions& options, DptSpec spec = {}, std::uint64_t first_page = 0, std::uint64_t pages = 64)
      : rig(options, first_page, pages), gpus(options.gpus), first(first_page), count(pages), spec_(spec) {
    const PagePolicy policy = options.host.uvm.policy;
    for (unsigned g = 0; g < gpus; ++g) {
      const LeafTableOptions of_gpu{rig.host_device(), gpus, options.gmmu.size.bits != 0, policy != PagePolicy::OnTouch,
                                    spec};
      parts.push_back(
          &rig.parts(g).add(std::make_unique<LeafTablesOfGpu>(rig.gmmu(g), rig.l2(g), rig.wire(g), of_gpu)));
      rig.gmmu(g).set_leaf_tables(*parts.back());
    }
    registry = &rig.parts(gpus).add(std::make_unique<TableRegistry>(rig.host(), rig.wire(gpus), gpus, spec.access_bits,
                                                                    policy == PagePolicy::AccessCounter));
  }
  /// All pages that start on a GPU are there.
  void begin() {
    StartOfLeafTables start{spec_, rig.host(), *registry, parts};
    start.add_process(0, first, count, 0, gpus);
  }
  void run() {
    rig.run();
    EXPECT_TRUE(rig.idle());
    EXPECT_EQ(rig.all_parts(), rig.latency());
  }
  LeafTableStats sum() {
    LeafTableStats all;
    for (LeafTablesOfGpu* part : parts) {
      LeafTableStats& s = part->stats();
      all.forwarded += s.forwarded;
      all.refused_updates += s.refused_updates;
      all.waited += s.waited;
      all.migrations += s.migrations;
      all.remote_updates += s.remote_updates;
    }
    return all;
  }

 private:
  DptSpec spec_;
};

// ------------------------------------------------------------------------------------------------------------- misses

// S64. Page 9 is GPU 1's, and so is its leaf table. GPU 0 misses with warm upper levels: 11 + 1, a link, 1 + 100, a
// link.
TEST(LeafTables, MissOfAnotherGpuIsServedByTheHome) {
  Dpt dpt(options_of(2, PagePolicy::AccessCounter));
  dpt.rig.own(1, 9);
  dpt.begin();
  dpt.rig.warm(0, 9);
  dpt.rig.ask(0, 9, 0);
  dpt.run();
  EXPECT_EQ(dpt.rig.answered(0, 9), 413U);
  EXPECT_EQ(dpt.rig.mapping_of(0, 9).page.device(), DeviceId{1});
  EXPECT_EQ(dpt.rig.part(LatencyComponent::GmmuCache), 1U);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::RemoteLink), 300U);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::RemoteQueue), 0U);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::RemoteWalk), 101U);
  EXPECT_EQ(dpt.parts[0]->stats().remote_reads, 1U);
  EXPECT_EQ(dpt.parts[1]->stats().served_reads, 1U);
  EXPECT_EQ(dpt.rig.gmmu(0).stats().far_faults, 0U);
}

TEST(LeafTables, MissOfTheHomeIsAWalkAsInTheBaseline) {
  Dpt dpt(options_of(2, PagePolicy::AccessCounter));
  dpt.rig.own(1, 9);
  dpt.begin();
  dpt.rig.warm(1, 9);
  dpt.rig.ask(1, 9, 0);
  dpt.run();
  EXPECT_EQ(dpt.rig.answered(1, 9), 112U);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::GmmuLeaf), 100U);
  EXPECT_EQ(dpt.parts[1]->stats().local_reads, 1U);
}

// A cold walk reads the four upper levels here, and the leaf there.
TEST(LeafTables, UpperLevelsAreReadHere) {
  Dpt dpt(options_of(2, PagePolicy::AccessCounter));
  dpt.rig.own(1, 9);
  dpt.begin();
  dpt.rig.ask(0, 9, 0);
  dpt.run();
  EXPECT_EQ(dpt.rig.answered(0, 9), 413U + 400);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::GmmuUpper), 400U);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::GmmuLeaf), 0U);
}

// The home reads the leaf entry alone, however cold its own page-walk cache is; it has one walker, which is busy with a
// walk of its own from 11 to 512. The request comes at 162.
TEST(LeafTables, RequestWaitsForAWalkerOfTheHome) {
  RigOptions options = options_of(2, PagePolicy::AccessCounter);
  options.gmmu.gmmu.walkers = 1;
  Dpt dpt(options);
  dpt.rig.own(1, 9);
  dpt.rig.own(1, 10);
  dpt.begin();
  dpt.rig.warm(0, 9);
  dpt.rig.ask(0, 9, 0);
  dpt.rig.ask(1, 10, 0);
  dpt.run();
  EXPECT_EQ(dpt.rig.answered(1, 10), 512U);
  EXPECT_EQ(dpt.rig.answered(0, 9), 512U + 101 + 150);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::RemoteQueue), 512U - 162);
}

// On touch, an entry is of use to the GPU alone whose memory it names: GPU 0 reads it, faults, and the page comes.
TEST(LeafTables, EntryOfAnotherGpuIsOfNoUseWherePagesFollowEveryTouch) {
  Dpt dpt(options_of(2, PagePolicy::OnTouch));
  dpt.rig.own(1, 9);
  dpt.begin();
  dpt.rig.ask(0, 9, 0);
  dpt.run();
  EXPECT_EQ(dpt.parts[1]->stats().unmapped_reads, 1U);
  EXPECT_EQ(dpt.rig.gmmu(0).stats().far_faults, 1U);
  EXPECT_EQ(dpt.rig.mapping_of(0, 9).page.device(), DeviceId{0});
  EXPECT_EQ(dpt.rig.uvm().migrations, 1U);
  // GPU 1 alone had its bit set.
  EXPECT_EQ(dpt.rig.uvm().invalidations_sent, 1U);
}

// ------------------------------------------------------------------------------------------------------------ updates

// GPU 0 touches page 10, which is on the host; the leaf table is on GPU 1. The entry has nothing at 413; the fault is
// at the host at 563, its TLB and its walk answer at 684; the page is there at 962, its entry is written at 1213.
TEST(LeafTables, MappingIsWrittenAtTheHome) {
  Dpt dpt(options_of(2, PagePolicy::FirstTouch));
  dpt.rig.own(1, 9);
  dpt.begin();
  dpt.rig.warm(0, 10);
  dpt.rig.warm_host(10);
  dpt.rig.ask(0, 10, 0);
  dpt.run();
  EXPECT_EQ(dpt.rig.answered(0, 10), 1363U);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::GmmuUpdate), 1363U - 962);
  EXPECT_EQ(dpt.parts[1]->stats().updates, 1U);
  EXPECT_EQ(dpt.sum().remote_updates, 1U);
}

// Nothing is mapped in the leaf table: the walk ends above it at 412, since it has no home. The page is at GPU 0 at
// 412 + 150 + 20 + 101 + 278 = 961, which asks the host for a home and has it, itself, at 1261; then a walk from level
// 3 on, whose entry of level 2 is new.
TEST(LeafTables, FirstTouchMakesAHome) {
  Dpt dpt(options_of(2, PagePolicy::FirstTouch));
  dpt.begin();
  dpt.rig.warm_host(10);
  dpt.rig.ask(0, 10, 0);
  dpt.rig.ask(1, 10, 5000);
  dpt.run();
  EXPECT_EQ(dpt.registry->stats().homes_given, 1U);
  EXPECT_EQ(dpt.rig.answered(0, 10), 1261U + 1 + 200);
  // The mapping is at its home for all.
  EXPECT_EQ(dpt.rig.answered(1, 10), 5000U + 413 + 400);
  EXPECT_EQ(dpt.rig.gmmu(1).stats().far_faults, 0U);
}

TEST(LeafTables, HashGivesHomesToAll) {
  DptSpec spec;
  spec.home = TableHome::Hash;
  Dpt dpt(options_of(3, PagePolicy::FirstTouch), spec, 0, std::uint64_t{512} * 90);
  dpt.begin();
  std::vector<unsigned> tables(3);
  for (unsigned t = 0; t < 90; ++t) ++tables.at(dpt.registry->homes().of({0, t * 512}).home);
  for (const unsigned each : tables) EXPECT_NEAR(each, 30, 12);
  dpt.rig.ask(0, 10, 0);
  dpt.rig.ask(0, 1000, 0);
  dpt.run();
  EXPECT_EQ(dpt.registry->stats().homes_given, 0U);
}

// ------------------------------------------------------------------------------------------------- migration of pages

// Page 9 is GPU 1's, its table is GPU 2's since page 8 is. GPU 0 has read it and takes it at 5000. The request is at
// the host at 5150, the home has made the entry invalid at 5401, the host knows whom to invalidate at 5551: GPUs 0
// and 1. Both have forgotten it at 5711, and the host knows at 5861. The page is at GPU 0 at 6289, the entry is written
// at 6540.
TEST(LeafTables, MigrationOfAPageGoesOverItsHome) {
  Dpt dpt(options_of(3, PagePolicy::AccessCounter));
  dpt.rig.own(2, 8);
  dpt.rig.own(1, 9);
  dpt.begin();
  dpt.rig.ask(0, 9, 0);
  dpt.rig.fill_counter(0, 9, 5000);
  dpt.run();
  EXPECT_EQ(dpt.parts[2]->stats().clears, 1U);
  EXPECT_EQ(dpt.registry->stats().targets, 2U);
  EXPECT_EQ(dpt.rig.uvm().invalidations_sent, 2U);
  EXPECT_EQ(dpt.rig.uvm().wait, 5861U - 5150);
  EXPECT_EQ(dpt.rig.uvm().total, 6690U - 5150);
  EXPECT_EQ(dpt.rig.host().driver().record({0, 9}).owner.device(), DeviceId{0});
}

// With one access bit, all GPUs share it.
TEST(LeafTables, GpusThatShareABitAreToldToo) {
  DptSpec spec;
  spec.access_bits = 1;
  Dpt dpt(options_of(3, PagePolicy::AccessCounter), spec);
  dpt.rig.own(1, 9);
  dpt.begin();
  dpt.rig.ask(0, 9, 0);
  dpt.rig.fill_counter(0, 9, 5000);
  dpt.run();
  EXPECT_EQ(dpt.registry->stats().targets, 3U);
  EXPECT_EQ(dpt.rig.gmmu(2).stats().unnecessary, 1U);
}

// GPU 1 takes page 9 of GPU 2 while the answer to GPU 0's request, which has read the old mapping, is on a slow link:
// the invalidation waits for it, and the mapping is used once.
TEST(LeafTables, InvalidationWaitsForAnAnswerThatHasReadTheOldMapping) {
  Dpt dpt(options_of(3, PagePolicy::AccessCounter));
  dpt.rig.own(2, 9);
  dpt.begin();
  dpt.rig.warm(0, 9);
  dpt.rig.wire(2).slow_to = DeviceId{0};
  dpt.rig.wire(2).slow = 2000;
  dpt.rig.ask(1, 9, 0);
  dpt.rig.fill_counter(1, 9, 5000);
  // Read at 5263, before the entry is made invalid at 5401.
  dpt.rig.ask(0, 9, 5000);
  dpt.rig.at(0, 7262, [&] { EXPECT_EQ(dpt.rig.gmmu(0).stats().invalidations, 0U); });
  dpt.run();
  EXPECT_EQ(dpt.rig.answered(0, 9), 7263U);
  EXPECT_EQ(dpt.rig.mapping_of(0, 9).page.device(), DeviceId{2});
  EXPECT_EQ(dpt.rig.gmmu(0).stats().invalidations, 1U);
  EXPECT_EQ(dpt.rig.gmmu(0).stats().necessary, 1U);
  EXPECT_EQ(dpt.rig.uvm().wait, 7263U + 10 + 150 - 5150);
}

// A request that comes to the home behind the Clear finds nothing, faults, and is parked until the page has moved.
TEST(LeafTables, RequestBehindTheClearFaults) {
  Dpt dpt(options_of(3, PagePolicy::AccessCounter));
  dpt.rig.own(2, 9);
  dpt.begin();
  dpt.rig.warm(0, 9);
  dpt.rig.ask(1, 9, 0);
  dpt.rig.fill_counter(1, 9, 5000);
  dpt.rig.ask(0, 9, 5200);
  dpt.run();
  EXPECT_EQ(dpt.rig.gmmu(0).stats().far_faults, 1U);
  EXPECT_EQ(dpt.rig.uvm().parked, 1U);
  EXPECT_EQ(dpt.rig.mapping_of(0, 9).page.device(), DeviceId{1});
}

// ------------------------------------------------------------------------------------------- migration of leaf tables

// S64, second half. With a threshold of 0 the first read of GPU 0, at 263, moves the table there.
TEST(LeafTables, MigrateToWhereTheyAreRead) {
  DptSpec spec;
  spec.threshold = 0;
  Dpt dpt(options_of(2, PagePolicy::AccessCounter), spec);
  dpt.rig.own(1, 9);
  dpt.rig.own(1, 10);
  dpt.begin();
  dpt.rig.warm(0, 9);
  dpt.rig.ask(0, 9, 0);
  dpt.rig.at(0, 5000, [&] { dpt.rig.warm(0, 10); });
  dpt.rig.ask(0, 10, 5000);
  dpt.run();
  EXPECT_EQ(dpt.rig.answered(0, 9), 413U);
  EXPECT_EQ(dpt.rig.answered(0, 10), 5000U + 112);
  EXPECT_EQ(dpt.parts[0]->stats().migrations, 1U);
  // The table is there at 541. The host hears of it at 413, and GPU 0 hears that at 563.
  EXPECT_EQ(dpt.parts[0]->stats().migration_cycles, 300U);
  EXPECT_FALSE(dpt.parts[1]->is_here({0, 9}));
  EXPECT_TRUE(dpt.parts[0]->is_here({0, 9}));
}

TEST(LeafTables, StayWhereMigrationIsOff) {
  DptSpec spec;
  spec.threshold = 0;
  spec.migrate = false;
  Dpt dpt(options_of(2, PagePolicy::AccessCounter), spec);
  dpt.rig.own(1, 9);
  dpt.begin();
  dpt.rig.ask(0, 9, 0);
  dpt.run();
  EXPECT_EQ(dpt.sum().migrations, 0U);
  EXPECT_TRUE(dpt.parts[1]->is_here({0, 9}));
}

TEST(LeafTables, MigrateAboveTheThresholdAlone) {
  for (const unsigned reads : {2U, 3U}) {
    DptSpec spec;
    spec.threshold = 1;
    Dpt dpt(options_of(2, PagePolicy::AccessCounter), spec);
    for (std::uint64_t n = 8; n < 12; ++n) dpt.rig.own(1, n);
    dpt.begin();
    dpt.rig.ask(1, 8, 0);  // once by the home
    for (unsigned i = 0; i < reads; ++i) dpt.rig.ask(0, 9 + i, 1000 * (i + 1));
    dpt.run();
    EXPECT_EQ(dpt.sum().migrations, reads == 3 ? 1U : 0U) << reads;
  }
}

// GPU 0's read moves the table at 263. GPU 2 hears of that at 413; its request leaves at 212, is at the old home at
// 362, goes on, and waits at GPU 0 from 512 until all have heard, at 563.
TEST(LeafTables, RequestAtAnOldHomeIsSentOnOnce) {
  DptSpec spec;
  spec.threshold = 0;
  Dpt dpt(options_of(3, PagePolicy::AccessCounter), spec);
  dpt.rig.own(1, 9);
  dpt.rig.own(1, 10);
  dpt.begin();
  dpt.rig.warm(0, 9);
  dpt.rig.warm(2, 9);
  dpt.rig.ask(0, 9, 0);
  dpt.rig.ask(2, 10, 200);
  dpt.run();
  EXPECT_EQ(dpt.rig.answered(2, 10), 563U + 101 + 150);
  EXPECT_EQ(dpt.sum().forwarded, 1U);
  EXPECT_EQ(dpt.parts[0]->stats().waited, 1U);
  EXPECT_EQ(dpt.parts[0]->stats().waited_cycles, 51U);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::RemoteQueue), 51U);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::RemoteLink), 300U + 450);
}

// One walker: GPU 2's request stands behind GPU 0's at the home when the table leaves, and goes after it at once.
TEST(LeafTables, RequestsThatWaitForAWalkerGoAfterTheirTable) {
  RigOptions options = options_of(3, PagePolicy::AccessCounter);
  options.gmmu.gmmu.walkers = 1;
  DptSpec spec;
  spec.threshold = 0;
  Dpt dpt(options, spec);
  dpt.rig.own(1, 9);
  dpt.rig.own(1, 10);
  dpt.begin();
  dpt.rig.warm(0, 9);
  dpt.rig.warm(2, 9);
  dpt.rig.ask(0, 9, 0);
  dpt.rig.ask(2, 10, 50);
  dpt.run();
  EXPECT_EQ(dpt.rig.gmmu(1).walkers().stats().withdrawn, 1U);
  // At the home at 212, on at 263, held from 413 to 563.
  EXPECT_EQ(dpt.rig.answered(2, 10), 563U + 101 + 150);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::RemoteQueue), 51U + 150);
}

// Two walkers: GPU 2's request is being walked when the table leaves at 263. Its walk ends at 313 and has found
// nothing.
TEST(LeafTables, WalkUnderWhichItsTableLeavesIsMadeAgainThere) {
  DptSpec spec;
  spec.threshold = 0;
  Dpt dpt(options_of(3, PagePolicy::AccessCounter), spec);
  dpt.rig.own(1, 9);
  dpt.rig.own(1, 10);
  dpt.begin();
  dpt.rig.warm(0, 9);
  dpt.rig.warm(2, 9);
  dpt.rig.ask(0, 9, 0);
  dpt.rig.ask(2, 10, 50);
  dpt.run();
  EXPECT_EQ(dpt.rig.answered(2, 10), 563U + 101 + 150);
  EXPECT_EQ(dpt.sum().forwarded, 1U);
}

// The driver's word that GPU 1 is the first home comes to GPU 2 after that of GPU 1 that GPU 0 is the second.
TEST(LeafTables, LaterHomeStandsWhateverComesFirst) {
  DptSpec spec;
  spec.threshold = 0;
  Dpt dpt(options_of(3, PagePolicy::AccessCounter), spec);
  dpt.begin();
  dpt.rig.wire(3).slow_to = DeviceId{2};
  dpt.rig.wire(3).slow = 9000;
  dpt.rig.ask(1, 9, 0);
  dpt.rig.ask(0, 9, 3000);
  dpt.rig.at(2, 8000, [&] { EXPECT_EQ(dpt.parts[2]->homes().of({0, 9}).home, 0); });
  dpt.run();
  EXPECT_EQ(dpt.sum().migrations, 1U);
  EXPECT_EQ(dpt.parts[2]->homes().of({0, 9}).home, 0);
}

// The new home's own miss, while the table is on its way.
TEST(LeafTables, MissOfTheNewHomeWaitsForItsTable) {
  DptSpec spec;
  spec.threshold = 0;
  Dpt dpt(options_of(2, PagePolicy::AccessCounter), spec);
  dpt.rig.own(1, 9);
  dpt.rig.own(1, 10);
  dpt.begin();
  dpt.rig.warm(0, 9);
  dpt.rig.ask(0, 9, 0);
  // The table is there at 541 and not yet open at 551 + 1 + 1.
  dpt.rig.at(0, 541, [&] { dpt.rig.warm(0, 9); });
  dpt.rig.ask(0, 10, 541);
  dpt.run();
  EXPECT_EQ(dpt.rig.answered(0, 10), 563U + 101);
  EXPECT_EQ(dpt.rig.part(LatencyComponent::RemoteQueue), 563U - 553);
}

// --------------------------------------------------------------------------------------------------------- the memory

TEST(LeafTables, ReportTheirMemoryAndWhoSharesThem) {
  DptSpec spec;
  spec.migrate = false;
  Dpt dpt(options_of(3, PagePolicy::AccessCounter), spec, 0, 1536);
  dpt.rig.own(1, 9);     // used by GPU 1 alone
  dpt.rig.own(1, 600);   // one page of a table by two
  dpt.rig.own(1, 1100);  // two pages of a table by one each
  dpt.rig.own(2, 1101);
  dpt.begin();
  dpt.rig.ask(0, 600, 0);
  dpt.run();
  std::vector<StatInfo> listed;
  StatLister lister(listed, "");
  dpt.parts[1]->describe(lister);
  const LeafTableStats& stats = dpt.parts[1]->stats();
  EXPECT_EQ(stats.tables, 3U);
  EXPECT_EQ(stats.bytes, 3 * kPageBytes);
  EXPECT_EQ(stats.replicated_bytes, 5 * kPageBytes);
  EXPECT_EQ(stats.shared_tables, 2U);
  EXPECT_EQ(stats.tables_with_shared_entries, 1U);
}

TEST(LeafTables, WithAPrivatePageAreReplicated) {
  Dpt dpt(options_of(2, PagePolicy::AccessCounter), {}, 0, 1024);
  dpt.rig.own(1, 9);
  dpt.rig.own(1, 600);
  dpt.rig.host().driver().record({0, 20}).pinned = true;
  dpt.begin();
  EXPECT_FALSE(dpt.parts[0]->keeps({0, 9}));
  EXPECT_TRUE(dpt.parts[0]->keeps({0, 600}));
  dpt.rig.ask(0, 9, 0);
  dpt.rig.fill_counter(0, 9, 8000);
  dpt.run();
  EXPECT_EQ(dpt.parts[0]->stats().remote_reads, 0U);
  EXPECT_EQ(dpt.rig.gmmu(0).stats().far_faults, 1U);
  EXPECT_EQ(dpt.rig.host().driver().record({0, 9}).owner.device(), DeviceId{0});
}

// ------------------------------------------------------------------------------------------------------------- storms

class StormOfLeafTables : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, StormOfLeafTables, ::testing::Range<std::uint64_t>(0, 120));

void weather(std::uint64_t seed, LeafTableStats& seen) {
  Storm storm = make_storm(seed);
  std::mt19937_64 random(seed * 31 + 5);
  const auto one_of = [&](std::initializer_list<unsigned> values) {
    return *(values.begin() + static_cast<std::ptrdiff_t>(random() % values.size()));
  };
  RigOptions& o = storm.options;
  if (o.host.uvm.policy == PagePolicy::Replication) o.host.uvm.policy = PagePolicy::AccessCounter;
  o.gmmu.how = InvalidateHow::Walk;
  o.gmmu.gmmu.update = UpdateHow::Walk;
  o.gmmu.gmmu.replay = Replay::Short;
  o.gmmu.table.upper = one_of({0, 1}) == 0 ? UpperLevels::Prebuilt : UpperLevels::OnDemand;
  o.host.uvm.invalidate.targets = InvalidateTargets::Auto;
  o.host.uvm.host_first_touch = one_of({0, 1}) == 0 ? HostFirstTouch::Move : HostFirstTouch::Map;
  DptSpec spec;
  spec.home = one_of({0, 1}) == 0 ? TableHome::FirstTouch : TableHome::Hash;
  spec.migrate = one_of({0, 1, 1}) == 1;
  spec.threshold = one_of({0, 1, 5});
  spec.access_bits = one_of({1, 2, 11});
  Dpt dpt(o, spec);
  dpt.begin();
  // Links of different lengths let messages overtake one another.
  for (unsigned d = 0; d <= dpt.gpus; ++d) {
    dpt.rig.wire(d).slow_to = DeviceId{static_cast<std::uint16_t>(random() % (dpt.gpus + 1))};
    dpt.rig.wire(d).slow = kLink + random() % 1500;
  }
  // The host need not know who has read an entry.
  const auto unknown = [&](unsigned g, PageKey page) { return !dpt.rig.host().driver().record(page).holders.test(g); };
  expect_weathered(dpt.rig, storm, seed, false, {}, unknown);
  for (unsigned p = 0; p < storm.pages; ++p) {
    unsigned homes = 0;
    for (unsigned g = 0; g < dpt.gpus; ++g) {
      homes += dpt.parts[g]->is_here({0, p});
      const Pte given = dpt.rig.gmmu(g).usable({0, p});
      if (!given.valid()) continue;
      EXPECT_EQ(given.page(), dpt.rig.host().driver().record({0, p}).owner);
    }
    EXPECT_LE(homes, 1U);
  }
  const LeafTableStats stats = dpt.sum();
  seen.forwarded += stats.forwarded;
  seen.refused_updates += stats.refused_updates;
  seen.waited += stats.waited;
  seen.migrations += stats.migrations;
}

TEST_P(StormOfLeafTables, AnswersEveryRequestOnce) {
  LeafTableStats seen;
  weather(GetParam(), seen);
}

TEST(LeafTables, StormsMeetWhatCanRace) {
  LeafTableStats seen;
  for (std::uint64_t seed = 0; seed < 60; ++seed) weather(seed, seen);
  EXPECT_GT(seen.migrations, 0U);
  EXPECT_GT(seen.forwarded, 0U);
  EXPECT_GT(seen.waited, 0U);
  EXPECT_GT(seen.refused_updates, 0U);
}

// ----------------------------------------------------------------------------------------------------- whole machines

TEST(LeafTables, AreTheSameOnOneTwoAndThreeThreads) {
  for (const std::uint64_t seed : {3U, 4U}) {
    const SystemSpec system = tiny_machine(TranslationKind::Mmu, {"disaggregated-page-table"}, seed);
    std::string first;
    for (const unsigned threads : {1U, 2U, 3U}) {
      const Outcome run = simulate(system, storm_programs(seed, false), true, threads);
      std::string all;
      for (const StatValue& value : run.result.statistics) all += value.name + std::to_string(value.count) + "\n";
      if (threads == 1) first = all;
      EXPECT_EQ(all, first) << threads << " threads, seed " << seed;
    }
  }
}

TEST(LeafTables, RefuseSettingsByName) {
  const auto error_of = [](const std::string& setting) -> std::string {
    try {
      load_system_with(Names{"disaggregated-page-table"}, "mmu-4gpu", Names{setting});
    } catch (const InputError& error) {
      return error.what();
    }
    return {};
  };
  for (const char* setting :
       {"placement.policy=replication", "placement.policy=no-fault", "invalidate.targets=broadcast",
        "invalidate.how=zero-latency", "migration.ideal=true", "walk.timing=fixed-total"}) {
    const std::string key = std::string(setting).substr(0, std::string(setting).find('='));
    EXPECT_NE(error_of(setting).find(key), std::string::npos) << setting << ": " << error_of(setting);
  }
  EXPECT_EQ(error_of("placement.policy=first-touch"), "");
}

TEST(LeafTables, RefuseDesignsByNameAndWithAReason) {
  for (const char* other : {"trans-fw", "trans-fw-prt", "trans-fw-ft", "idyll", "idyll-dir", "idyll-inmem",
                            "idyll-lazy", "zero-latency-invalidation", "replication", "ideal-no-fault",
                            "ideal-migration", "neighborhood", "neighborhood-leaf", "pte-cache"}) {
    for (const bool first : {false, true}) {
      Names names = {"disaggregated-page-table", other};
      if (first) std::swap(names[0], names[1]);
      try {
        choose_designs(names);
        ADD_FAILURE() << other;
      } catch (const InputError& error) {
        const std::string text = error.what();
        EXPECT_NE(text.find("`disaggregated-page-table`"), std::string::npos) << text;
        EXPECT_NE(text.find("cannot be combined: "), std::string::npos) << text;
      }
    }
  }
}

// -------------------------------------------------------------------------------------------------- replicated tables

// Pages 510 and 511 are in one table, 512 to 1023 in the next.
TEST(SharedLeafTables, AreCountedByGpusAndByPagesInCommon) {
  PageTouches one;
  PageTouches other;
  one.start(510, 1030);
  other.start(510, 1030);
  one.note(510, 1, false);
  other.note(511, 1, true);
  one.note(600, 1, false);
  other.note(600, 1, false);
  one.note(1030, 1, false);
  SharingStats sharing;
  sharing.add_touches({&one, &other});
  EXPECT_EQ(sharing.leaf_tables[0], 1U);
  EXPECT_EQ(sharing.leaf_tables[1], 2U);
  EXPECT_EQ(sharing.leaf_tables_without_shared_page, 1U);
  EXPECT_EQ(sharing.leaf_tables_replicated, 5U);
}

}  // namespace
}  // namespace nearfar::disaggregated_page_table_test
