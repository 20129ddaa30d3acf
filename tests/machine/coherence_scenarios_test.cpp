// The scenarios of docs/coherence.md on whole machines, by their numbers: what GPUs send one another, and what it
// costs. Those about the bits and sets of a directory alone are in tests/coherence/scenarios_test.cpp. Four GPUs; line
// X is line 0 of GPU 0's page; "d" is whom its directory has on record.
#include <gtest/gtest.h>

#include "machine/coherence_scene.h"

namespace nearfar::coherence_scenarios_test {
namespace {

using coherence_scene::hits;
using coherence_scene::kGpus;
using coherence_scene::requests;
using coherence_scene::Scene;
using coherence_scene::sent;
using coherence_scene::Step;
using Kind = Step::Kind;

constexpr unsigned kOtherRange = 16;  ///< a line of the next range of 1 KiB, and of X's bank

/// An L2 of one line a bank, so that kOtherRange takes the place of X.
const std::vector<std::string> kTinyL2 = {"gpu.l2.size=1KiB", "gpu.l2.ways=1"};

std::vector<std::string> entries(unsigned count) {
  return {"directory.entries=" + std::to_string(count), "directory.ways=" + std::to_string(count)};
}

Outcome play(std::vector<Step> steps, std::vector<std::string> settings = {}, std::vector<std::string> designs = {}) {
  Scene scene(std::move(settings), designs);
  scene.kernel(std::move(steps));
  return scene.run();
}

// -------------------------------------------------------------------------------------------------- reads and writes

TEST(CoherenceScenarios, S01AReadCostsItsTwoMessagesAndTheSumOfItsLatencies) {
  const Outcome cold = play({{1, 0, 0}});
  EXPECT_EQ(cold.count("gpu1.link.request_bytes"), 12U);
  EXPECT_EQ(cold.count("gpu0.link.reply_bytes"), 68U);
  EXPECT_EQ(cold.count("latency.load.total_cycles"), 1U + 652);
  EXPECT_EQ(cold.count("gpu0.directory.allocations"), 1U);
  EXPECT_EQ(play({{0, 0, 0}, {1, 0, 3000}}).count("latency.load.total_cycles"), (1U + 240) + (1 + 510));
}

TEST(CoherenceScenarios, S02AnotherUnitOfTheGpuHitsItsOwnL2) {
  const Outcome run = play({{1, 0, 0}, {1, 1, 3000}});
  EXPECT_EQ(requests(run, 1), 1U);
  EXPECT_EQ(run.count("latency.load.total_cycles"), (1U + 652) + (1 + 98));
}

TEST(CoherenceScenarios, S03AReaderJoinsAndReadsAgainAfterASilentEviction) {
  const Outcome run = play({{1, 0, 0}, {2, 0, 3000}, {2, 1, 6000, Kind::Load, kOtherRange}, {2, 2, 9000}}, kTinyL2);
  EXPECT_EQ(requests(run, 2), 3U);
  EXPECT_EQ(run.count("gpu0.directory.remote_reads"), 4U);
  EXPECT_EQ(run.count("gpu0.directory.remote_read_hits"), 2U);
  EXPECT_EQ(run.count("gpu0.directory.allocations"), 2U);
  EXPECT_EQ(sent(run, 0), 0U);
}

TEST(CoherenceScenarios, S04AWriteOfTheHomeInvalidatesEverySharer) {
  const Outcome run = play({{1, 0, 0}, {2, 0, 0}, {0, 0, 3000, Kind::Store}, {1, 1, 6000}, {2, 1, 6000}});
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 2U);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_bytes"), 24U);
  EXPECT_EQ(hits(run, 1), 1U);
  EXPECT_EQ(hits(run, 2), 1U);
  EXPECT_EQ(requests(run, 1), 2U) << "the second read misses again";
  EXPECT_EQ(requests(run, 2), 2U);
  EXPECT_EQ(run.count("gpu1.l2.lookup.misses_after_write_invalidation"), 1U);
}

TEST(CoherenceScenarios, S05AWriteOfTheHomeInvalidatesALineThatItHasEvicted) {
  const Outcome run =
      play({{1, 0, 0}, {2, 0, 0}, {0, 0, 3000, Kind::Load, kOtherRange}, {0, 1, 6000, Kind::Store}}, kTinyL2);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 2U);
  EXPECT_EQ(hits(run, 1), 1U);
  EXPECT_EQ(hits(run, 2), 1U);
}

TEST(CoherenceScenarios, S06AReadOfTheHomeIsNobodysBusiness) {
  const Outcome run = play({{1, 0, 0}, {2, 0, 0}, {0, 0, 3000}, {0, 1, 6000, Kind::Load, 1}, {1, 1, 9000}});
  EXPECT_EQ(run.count("gpu0.directory.remote_reads"), 2U);
  EXPECT_EQ(run.count("gpu0.directory.local_writes"), 0U);
  EXPECT_EQ(sent(run, 0), 0U);
  EXPECT_EQ(requests(run, 1), 1U) << "its copy is still there";
}

TEST(CoherenceScenarios, S07AWriteOfTheHomeToAnUntrackedLineSendsNothing) {
  const Outcome run = play({{0, 0, 0, Kind::Store}});
  EXPECT_EQ(run.count("gpu0.directory.local_writes"), 1U);
  EXPECT_EQ(run.count("gpu0.directory.local_write_hits"), 0U);
  EXPECT_EQ(run.count("gpu0.directory.allocations"), 0U);
  EXPECT_EQ(sent(run, 0), 0U);
}

TEST(CoherenceScenarios, S08TheOnlySharerWritesTheWholeLineAndKeepsIt) {
  const Outcome run = play({{1, 0, 0}, {1, 1, 3000, Kind::StoreLine}, {1, 2, 6000}});
  EXPECT_EQ(run.count("gpu1.link.request_bytes"), 12U + 76);
  EXPECT_EQ(run.count("gpu0.link.reply_bytes"), 68U + 4);
  EXPECT_EQ(sent(run, 0), 0U);
  EXPECT_EQ(run.count("gpu0.directory.remote_write_hits"), 1U);
  EXPECT_EQ(requests(run, 1), 2U) << "its copy has the new data";
}

/// If the writer were not recorded, the last invalidation would be lost and its copy stale for ever.
TEST(CoherenceScenarios, S09AWriterKeepsItsCopyAndIsTheOnlySharer) {
  const Outcome run = play({{1, 0, 0},
                            {2, 0, 0},
                            {3, 0, 0},
                            {1, 1, 3000, Kind::StoreLine},
                            {1, 2, 6000},
                            {0, 0, 9000, Kind::Store},
                            {1, 3, 12000}});
  EXPECT_EQ(run.count("gpu1.link.request_bytes"), 12U + 76 + 12) << "the read behind its own write hits";
  EXPECT_EQ(hits(run, 2), 1U);
  EXPECT_EQ(hits(run, 3), 1U);
  EXPECT_EQ(hits(run, 1), 1U) << "by the home's write";
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 3U);
}

TEST(CoherenceScenarios, S10AWriterOfPartOfALineKeepsNothingAndIsTracked) {
  const Outcome run = play({{2, 0, 0}, {1, 0, 3000, Kind::Store}, {0, 0, 6000, Kind::Store}});
  EXPECT_EQ(run.count("gpu1.link.request_bytes"), 24U);
  EXPECT_EQ(run.count("gpu1.l2.remote.write_allocations"), 0U);
  EXPECT_EQ(hits(run, 2), 1U);
  EXPECT_EQ(run.count("gpu1.invalidation.miss_write"), 1U) << "it is recorded, and holds nothing";
}

TEST(CoherenceScenarios, S10AWriterOfAWholeLineHoldsIt) {
  const Outcome run = play({{2, 0, 0}, {1, 0, 3000, Kind::StoreLine}, {1, 1, 6000}});
  EXPECT_EQ(run.count("gpu1.l2.remote.write_allocations"), 1U);
  EXPECT_EQ(requests(run, 1), 1U);
  EXPECT_EQ(hits(run, 2), 1U);
}

TEST(CoherenceScenarios, S11AWriteAllocatesAnEntry) {
  const Outcome run = play({{3, 0, 0, Kind::StoreLine}, {0, 0, 3000, Kind::Store}});
  EXPECT_EQ(run.count("gpu0.directory.allocations"), 1U);
  EXPECT_EQ(run.count("gpu0.directory.remote_write_hits"), 0U);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 1U);
  EXPECT_EQ(hits(run, 3), 1U);
}

TEST(CoherenceScenarios, S12ASilentEvictionLeavesASharerOnRecord) {
  const Outcome run = play({{1, 0, 0}, {1, 1, 3000, Kind::Load, kOtherRange}, {0, 0, 6000, Kind::Store}}, kTinyL2);
  EXPECT_EQ(run.count("gpu1.invalidation.miss_write"), 1U);
  EXPECT_EQ(hits(run, 1), 0U);
}

// -------------------------------------------------------------------------------------------------------- replacement

TEST(CoherenceScenarios, S13TwoEntriesForThreeLines) {
  const std::vector<Step> steps = {
      {1, 0, 0}, {1, 1, 3000, Kind::Load, 1}, {1, 2, 6000, Kind::Load, 2}, {1, 3, 9000, Kind::Load, 0}};
  const Outcome line = play(steps, entries(2));
  EXPECT_EQ(requests(line, 1), 4U);
  EXPECT_EQ(line.count("gpu0.invalidation.sent_eviction"), 2U);
  EXPECT_EQ(line.count("gpu1.invalidation.hit_eviction"), 2U);
  EXPECT_EQ(line.count("gpu1.l2.lookup.misses_after_eviction_invalidation"), 1U);
  EXPECT_EQ(line.count("gpus.link.request_packets"), 4U);

  const Outcome rec = play(steps, entries(2), {"rec"});
  EXPECT_EQ(requests(rec, 1), 3U);
  EXPECT_EQ(sent(rec, 0), 0U);
  EXPECT_EQ(rec.count("gpus.link.request_packets"), 3U);
}

TEST(CoherenceScenarios, S14FifoAndLruReplaceDifferentEntries) {
  for (const bool lru : {false, true}) {
    std::vector<std::string> settings = entries(2);
    settings.push_back(lru ? "directory.replacement=lru" : "directory.replacement=fifo");
    const Outcome run =
        play({{1, 0, 0}, {1, 1, 3000, Kind::Load, 1}, {2, 0, 6000}, {1, 2, 9000, Kind::Load, 2}}, settings);
    EXPECT_EQ(run.count("gpu0.invalidation.sent_eviction"), lru ? 1U : 2U);
    EXPECT_EQ(hits(run, 1), 1U);
    EXPECT_EQ(hits(run, 2), lru ? 0U : 1U);
  }
}

TEST(CoherenceScenarios, S15AFreeWayIsTakenFirst) {
  const Outcome run = play({{1, 0, 0},
                            {1, 1, 3000, Kind::Load, 1},
                            {0, 0, 6000, Kind::Store},
                            {1, 2, 9000, Kind::Load, 2},
                            {1, 3, 12000, Kind::Load, 3},
                            {1, 0, 15000, Kind::Load, 2},
                            {1, 2, 18000, Kind::Load, 1}},
                           entries(2));
  EXPECT_EQ(run.count("gpu0.directory.evictions"), 2U) << "line 3 replaces line 1, which then replaces line 2";
  EXPECT_EQ(run.count("gpu1.l2.lookup.misses_after_eviction_invalidation"), 1U)
      << "line 1 alone has gone when it is read";
  EXPECT_EQ(requests(run, 1), 5U);
}

// ------------------------------------------------------------------------------------------- ranges (16 is about bits)

/// Line 0 is GPU 1's and line 14 GPU 3's; then what the next scenarios add. A directory of one entry.
Outcome range_written(unsigned steps) {
  const std::vector<Step> all = {{0, 0, 3000, Kind::Store, 0},
                                 {2, 0, 6000, Kind::StoreLine, 14},
                                 {0, 1, 9000, Kind::Store, 14},
                                 {1, 1, 12000, Kind::Load, kOtherRange}};
  std::vector<Step> played = {{1, 0, 0, Kind::Load, 0}, {3, 0, 0, Kind::Load, 14}};
  played.insert(played.end(), all.begin(), all.begin() + steps);
  return play(std::move(played), entries(1), {"rec"});
}

TEST(CoherenceScenarios, S17AWriteOfTheHomeConcernsOneLineOfARange) {
  const Outcome run = range_written(1);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 1U);
  EXPECT_EQ(hits(run, 1), 1U);
  EXPECT_EQ(hits(run, 3), 0U);
}

TEST(CoherenceScenarios, S18AWriteOfAnotherGpuLikewise) {
  const Outcome run = range_written(2);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 2U);
  EXPECT_EQ(hits(run, 3), 1U);
  EXPECT_EQ(hits(run, 2), 0U);
  EXPECT_EQ(run.count("gpu0.directory.remote_write_hits"), 1U);
}

TEST(CoherenceScenarios, S19TheLastLineOfARangeFreesItsEntry) {
  const Outcome run = range_written(4);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 3U);
  EXPECT_EQ(hits(run, 2), 1U);
  EXPECT_EQ(run.count("gpu0.directory.allocations"), 2U);
  EXPECT_EQ(run.count("gpu0.directory.evictions"), 0U) << "the way is free";
}

TEST(CoherenceScenarios, S20LinesOfARangeThatNobodyHasReadAreNotTracked) {
  const Outcome run =
      play({{1, 0, 0}, {2, 0, 3000, Kind::StoreLine, 1}, {0, 0, 6000, Kind::Store, 2}}, entries(1), {"rec"});
  EXPECT_EQ(sent(run, 0), 0U);
  EXPECT_EQ(run.count("gpu0.directory.allocations"), 1U);
  EXPECT_EQ(run.count("gpu0.directory.remote_write_hits"), 0U);
  EXPECT_EQ(run.count("gpu0.directory.local_write_hits"), 0U);
}

TEST(CoherenceScenarios, S21AReplacedRangeLeavesLineByLine) {
  const Outcome run = play({{1, 0, 0}, {2, 0, 0}, {3, 0, 0, Kind::Load, 1}, {1, 1, 3000, Kind::Load, kOtherRange}},
                           entries(1), {"rec"});
  EXPECT_EQ(run.count("gpu0.invalidation.sent_eviction"), 3U);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_bytes"), 36U);
  for (const unsigned gpu : {1U, 2U, 3U}) EXPECT_EQ(hits(run, gpu), 1U);
  EXPECT_EQ(run.count("gpu0.directory.evictions"), 1U);
}

// ------------------------------------------------------------------------------------------------------------- blocks

TEST(CoherenceScenarios, S22AWriteInvalidatesAWholeBlock) {
  const std::vector<Step> steps = {{1, 0, 0}, {2, 0, 0, Kind::Load, 1}, {0, 0, 3000, Kind::Store, 2}};
  const Outcome hmg = play(steps, {}, {"hmg"});
  EXPECT_EQ(hmg.count("gpu0.invalidation.sent_write"), 2U);
  EXPECT_EQ(hmg.count("gpu1.invalidation.hit_collateral"), 1U);
  EXPECT_EQ(hmg.count("gpu2.invalidation.hit_collateral"), 1U);
  EXPECT_EQ(sent(play(steps), 0), 0U);
  EXPECT_EQ(sent(play(steps, {}, {"rec"}), 0), 0U);
}

TEST(CoherenceScenarios, S23AWriterKeepsItsLinesOfABlockAndIsTrackedForAll) {
  const Outcome run =
      play({{1, 0, 0}, {2, 0, 0, Kind::Load, 1}, {1, 1, 3000, Kind::StoreLine, 0}, {0, 0, 6000, Kind::Store, 1}}, {},
           {"hmg"});
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 2U);
  EXPECT_EQ(run.count("gpu2.invalidation.hit_collateral"), 1U);
  EXPECT_EQ(run.count("gpu1.invalidation.hit_collateral"), 1U) << "line 0, by the home's write of line 1";
  EXPECT_EQ(run.count("gpu1.invalidation.miss_write"), 1U) << "it never had line 1";
}

// -------------------------------------------------------------------------------------------------------------- races

TEST(CoherenceScenarios, S24AnInvalidationThatOvertakesAFillPoisonsIt) {
  // GPU 1's read waits in memory; the home writes the line meanwhile.
  const Outcome run = play({{1, 0, 0}, {0, 0, 100, Kind::Store}, {1, 1, 8000}}, {"gpu.dram.latency=2000"});
  EXPECT_EQ(run.count("gpu1.invalidation.pending_write"), 1U);
  EXPECT_EQ(run.count("gpu1.l2.remote.poisoned_fills"), 1U);
  EXPECT_EQ(requests(run, 1), 2U);
}

TEST(CoherenceScenarios, S25ALoadBehindAPoisonedFillAsksAgain) {
  const Outcome run = play({{1, 0, 0}, {0, 0, 100, Kind::Store}, {1, 1, 300}, {1, 2, 8000}}, {"gpu.dram.latency=2000"});
  EXPECT_EQ(requests(run, 1), 2U) << "the third load finds what the second fetched";
  EXPECT_EQ(run.count("gpu1.l2.remote.poisoned_fills"), 1U);
  EXPECT_EQ(run.count("gpu1.l2.remote.fills"), 1U);
}

TEST(CoherenceScenarios, S26WritesThatCrossInvalidationsEndWithTheLastWriter) {
  const Outcome run = play(
      {{1, 0, 0}, {2, 0, 0}, {2, 1, 3000, Kind::StoreLine}, {1, 1, 3010, Kind::StoreLine}, {1, 2, 8000}, {2, 2, 8000}});
  EXPECT_EQ(hits(run, 1), 1U) << "by the first write, though its own is on its way";
  EXPECT_EQ(hits(run, 2), 1U) << "by the second";
  EXPECT_EQ(requests(run, 1), 3U);
  EXPECT_EQ(requests(run, 2), 3U);
}

TEST(CoherenceScenarios, S27AnEvictionRacesAReadOfTheSameLine) {
  // GPU 1's copy of line 0 is gone silently; GPU 2's read evicts its entry just before GPU 1 reads it again.
  std::vector<std::string> settings = entries(1);
  settings.insert(settings.end(), kTinyL2.begin(), kTinyL2.end());
  const Outcome run = play(
      {{1, 0, 0}, {1, 1, 3000, Kind::Load, kOtherRange, 3}, {2, 0, 6000, Kind::Load, 1}, {1, 2, 6040}, {1, 3, 12000}},
      settings);
  EXPECT_EQ(run.count("gpu1.invalidation.pending_eviction"), 1U);
  EXPECT_EQ(run.count("gpu1.l2.remote.poisoned_fills"), 1U);
  EXPECT_EQ(requests(run, 1), 4U) << "the last load misses again";
}

TEST(CoherenceScenarios, S28AnL1MayBeStaleUntilTheBoundary) {
  Scene scene;
  scene.kernel({{1, 0, 0}, {0, 0, 3000, Kind::Store}, {1, 0, 6000}, {1, 1, 6000}});
  scene.kernel({{1, 0, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.l1v.load_hits"), 1U) << "unit 0 goes on with the old line";
  EXPECT_EQ(requests(run, 1), 2U) << "unit 1 asks the home";
  EXPECT_EQ(run.count("gpu1.l2.lookup.remote_reads"), 3U) << "after the boundary unit 0 asks the L2";
  EXPECT_EQ(run.count("gpu1.l2.remote.read_hits"), 1U);
}

// -------------------------------------------------------------------------------------------------- kernel boundaries

TEST(CoherenceScenarios, S29CopiesSurviveABoundary) {
  Scene scene;
  scene.kernel({{1, 0, 0}});
  scene.kernel({{1, 0, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(requests(run, 1), 1U);
  EXPECT_EQ(run.count("gpus.invalidation.markers"), 2U * kGpus * (kGpus - 1));
}

TEST(CoherenceScenarios, S30AReleaseWritesBackAndKeepsTheLine) {
  Scene scene;
  scene.kernel({{0, 0, 0, Kind::StoreLine}});
  scene.kernel({{1, 0, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.flushed_lines"), 1U);
  EXPECT_EQ(run.count("latency.load.total_cycles"), 1U + 510);
}

TEST(CoherenceScenarios, S31ABoundaryWaitsForInvalidationsInFlight) {
  // The home's link is slow: its invalidation is still on its way when the kernel has ended.
  Scene scene({"link.bandwidth=100MB/s"});
  scene.kernel({{1, 0, 0}});
  scene.kernel({{0, 0, 0, Kind::Store}});
  scene.kernel({{1, 1, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(hits(run, 1), 1U);
  EXPECT_EQ(requests(run, 1), 2U) << "the third kernel must not find the old line";
}

// ------------------------------------------------------------------------- order, policies (34 and 35 are about
// storage)

TEST(CoherenceScenarios, S32AReadFollowsItsOwnWrite) {
  EXPECT_EQ(requests(play({{1, 0, 0, Kind::Store}, {1, 0, 1}}), 1), 2U);
}

TEST(CoherenceScenarios, S33WithoutCopiesInL2CachesThereIsNoDirectory) {
  const std::vector<std::string> l1 = {"remote_cache=l1", "coherence=boundary"};
  const std::vector<std::string> none = {"remote_cache=none", "coherence=boundary"};
  const std::vector<Step> two_units = {{1, 0, 0}, {1, 1, 3000}};
  const std::vector<Step> one_unit = {{1, 0, 0}, {1, 0, 3000}};
  for (const auto& [settings, steps, asked] :
       {std::tuple(l1, two_units, 2U), std::tuple(l1, one_unit, 1U), std::tuple(none, one_unit, 2U)}) {
    const Outcome run = play(steps, settings);
    EXPECT_EQ(requests(run, 1), asked);
    EXPECT_EQ(run.count("gpu0.directory.remote_reads"), 0U);
  }
}

// ----------------------------------------------------------------------------------- migration, atomics, no limit

/// The page of GPU 0 moves to GPU 1, which reads it most. GPU 0 is then a remote GPU like any other.
TEST(CoherenceScenarios, S36APageLeavesWithItsEntriesAndWithoutInvalidations) {
  const std::vector<std::string> settings = {"placement.access_counter.threshold=8",
                                             "placement.access_counter.granularity=page",
                                             "placement.initial=interleave"};
  Scene scene(settings, {"rec"}, "rec-mmu-4gpu");
  std::vector<Step> steps = {{2, 0, 0, Kind::Load, 0}, {3, 0, 0, Kind::Load, 1}, {2, 1, 0, Kind::Load, 33}};
  for (unsigned line = 0; line < 12; ++line) steps.push_back({1, 0, 20'000 + 1000 * line, Kind::Load, 4 * line});
  scene.kernel(steps);
  scene.kernel({{0, 0, 0, Kind::Load, 5}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("uvm.migration.count"), 1U);
  EXPECT_GT(run.count("gpu0.directory.allocations"), 2U) << "ranges of the page were tracked";
  EXPECT_EQ(run.count("gpus.invalidation.received"), 0U);
  EXPECT_EQ(run.count("gpu1.directory.remote_reads"), 1U) << "by the former home";
}

TEST(CoherenceScenarios, S37AnAtomicIsAWriteToTheDirectoryAndDropsTheCopy) {
  const Outcome run = play({{1, 0, 0}, {2, 0, 0}, {1, 1, 3000, Kind::Atomic}, {0, 0, 6000, Kind::Store}});
  EXPECT_EQ(run.count("gpu1.link.request_bytes"), 12U + 16);
  EXPECT_EQ(run.count("gpu0.link.reply_bytes"), 2 * 68U + 8);
  EXPECT_EQ(hits(run, 2), 1U);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 2U) << "to GPU 2, and later to GPU 1";
  EXPECT_EQ(run.count("gpu1.invalidation.miss_write"), 1U) << "its copy left with its own atomic";
}

/// More lines than GPU 1's L2 of 32 lines holds. With 100,000 lines: IdealScenarios of tests/coherence.
TEST(CoherenceScenarios, S38AnIdealDirectoryForgetsNothing) {
  std::vector<Step> loads;
  std::vector<Step> stores;
  for (unsigned line = 0; line < 64; ++line) {
    loads.push_back({1, 0, 0, Kind::Load, line});
    stores.push_back({0, 0, 0, Kind::Store, line});
  }
  Scene scene({"gpu.l2.size=2KiB", "gpu.l2.ways=2"}, {"dir-ideal"});
  scene.kernel(loads);
  scene.kernel(stores);
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.invalidation.sent_eviction"), 0U);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 64U);
  EXPECT_EQ(hits(run, 1), 32U);
  EXPECT_EQ(run.count("gpu1.invalidation.miss_write"), 32U);
}

}  // namespace
}  // namespace nearfar::coherence_scenarios_test
