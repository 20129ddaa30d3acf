// Memory management of today: a UVM driver that fetches pages ahead and evicts them in blocks, and a link over which a
// GPU caches lines of the host's memory until access counters move their pages.
#include <gtest/gtest.h>

#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::oversubscription_test {
namespace {

/// One wavefront touches a word in each of a run of pages, 64 at a time, run after run.
struct PageRun {
  std::uint64_t first = 0;
  std::uint64_t pages = 0;
};

Stream touches(VirtAddr base, std::vector<PageRun> runs) {
  for (const PageRun& run : runs) {
    for (std::uint64_t done = 0; done < run.pages; done += 64) {
      const std::uint64_t first = run.first + done;
      const std::uint64_t count = std::min<std::uint64_t>(run.pages - done, 64);
      co_yield load(4, [=](unsigned lane) { return lane < count ? base + (first + lane) * kPageBytes : kIdle; });
      co_yield wait(0);
    }
  }
}

Outcome touch(const SystemSpec& system, std::uint64_t pages, const std::vector<PageRun>& runs) {
  const auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(pages * kPageBytes, Placement::Host);
  script->launch(groups_of(1), [=](const Script&, const Wave&) { return touches(base, runs); });
  return simulate(system, {script});
}

SystemSpec uvm(std::vector<std::string> settings = {}) { return test_system(std::move(settings), "uvm-1gpu"); }

// ----------------------------------------------------------------------------------------------------------
// prefetching

TEST(TreePrefetcher, BringsThePieceOfAPage) {
  const Outcome run = touch(uvm(), 32, {{5, 1}});
  EXPECT_EQ(run.count("uvm.faults"), 1U);
  EXPECT_EQ(run.count("uvm.prefetch.pages"), 15U);
  EXPECT_EQ(run.count("uvm.migration.count"), 16U);
  EXPECT_EQ(touch(uvm({"uvm.prefetch=none"}), 32, {{5, 1}}).count("uvm.migration.count"), 1U);
}

/// Half of a region is not more than 51 % of it; with the next piece it is all, and of the region above it half again.
TEST(TreePrefetcher, BringsARegionOfWhichMoreThanTheThresholdIsThere) {
  EXPECT_EQ(touch(uvm(), 32, {{0, 1}}).count("uvm.migration.count"), 16U);
  EXPECT_EQ(touch(uvm({"uvm.prefetch_threshold=49"}), 32, {{0, 1}}).count("uvm.migration.count"), 32U);
  EXPECT_EQ(touch(uvm(), 512, {{0, 1}, {16, 1}}).count("uvm.migration.count"), 32U);
  // Three of four pieces are more, so that the fourth follows; five of eight are too.
  EXPECT_EQ(touch(uvm(), 512, {{0, 1}, {16, 1}, {32, 1}}).count("uvm.migration.count"), 64U);
  const Outcome half = touch(uvm(), 512, {{0, 1}, {16, 1}, {32, 1}, {64, 1}});
  EXPECT_EQ(half.count("uvm.migration.count"), 128U);
  EXPECT_EQ(half.count("uvm.faults"), 4U);
}

TEST(TreePrefetcher, KnowsWhereABufferEnds) {
  const Outcome run = touch(uvm(), 5, {{2, 1}});
  EXPECT_EQ(run.count("uvm.migration.count"), 5U);
}

TEST(TreePrefetcher, TakesNoPlaceOfAnotherPage) {
  // 256 pages of 4 KiB.
  const Outcome run = touch(uvm({"gpu.dram.capacity=1MiB"}), 512, {{0, 250}, {256, 1}});
  EXPECT_GT(run.count("uvm.migration.evictions"), 0U);
  EXPECT_LE(run.count("uvm.migration.count") - run.count("uvm.migration.evictions"), 256U);
}

// -------------------------------------------------------------------------------------------------------------
// eviction

SystemSpec two_blocks(const char* unit) {
  return uvm({"uvm.prefetch=none", "gpu.dram.capacity=4MiB", std::string("migration.evict_unit=") + unit});
}

TEST(Eviction, SendsABlockOrAPage) {
  const std::vector<PageRun> runs = {{0, 1024}, {1024, 1}};
  EXPECT_EQ(touch(two_blocks("block"), 1536, runs).count("uvm.migration.evictions"), 512U);
  EXPECT_EQ(touch(two_blocks("page"), 1536, runs).count("uvm.migration.evictions"), 1U);
}

/// The block that a page has come to last stays, however old its first page is.
TEST(Eviction, TakesTheBlockThatIsLeastRecentlyInUse) {
  const std::vector<PageRun> fill = {{0, 511}, {512, 512}, {511, 1}, {1024, 1}};
  const auto with = [&](PageRun last) {
    std::vector<PageRun> runs = fill;
    runs.push_back(last);
    return touch(two_blocks("block"), 1536, runs).count("uvm.migration.count");
  };
  EXPECT_EQ(with({0, 64}), 1025U) << "block 0 is still there";
  EXPECT_EQ(with({512, 64}), 1025U + 64) << "block 1 is not";
}

TEST(Eviction, OfBlocksKeepsProgramsRight) {
  // Two matrices of 2 MiB in a memory of 3.
  const auto program = make_workload("MT", SizeClass::Small, std::vector<ParameterSetting>{{"width", 704}}, 1);
  const Outcome run = simulate(uvm({"gpu.dram.capacity=3MiB", "gpu.shader_arrays=4"}), {program});
  EXPECT_GT(run.count("uvm.prefetch.pages"), 0U);
  EXPECT_GT(run.count("uvm.migration.evictions"), 0U);
}

// -------------------------------------------------------------------------------------------------------- coherent
// link

Stream late(VirtAddr at, Cycle cycles) {
  if (cycles != 0) co_yield salu(static_cast<unsigned>(cycles));
  co_yield load(4, [at](unsigned lane) { return lane == 0 ? at : kIdle; });
  co_yield wait(0);
}

TEST(CoherentLink, KeepsLinesOfTheHostInTheL2) {
  const auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Host);
  script->launch(groups_of(2), [=](const Script&, const Wave& wave) { return late(base, wave.group_x * 50'000); });
  const Outcome run = simulate(test_system({}, "coherent-1gpu"), {script});
  EXPECT_EQ(run.count("gpus.l2.remote.reads"), 2U);
  EXPECT_EQ(run.count("gpus.l2.remote.read_hits"), 1U);
  EXPECT_EQ(run.count("host.llc.remote_requests"), 1U);
  EXPECT_EQ(run.count("uvm.migration.count"), 0U);
}

/// Reads, then writes every line of a page, from all compute units: its counter fills up, it moves, and what the L2 has
/// of it leaves.
TEST(CoherentLink, MovesPagesThatAreUsedMuch) {
  const auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(4 * kPageBytes, Placement::Host);
  for (int launch = 0; launch < 4; ++launch) {
    script->launch(groups_of(16), [=](const Script&, const Wave& wave) -> Stream {
      return [](VirtAddr page) -> Stream {
        const auto lines = [=](unsigned lane) { return page + std::uint64_t{lane} * 64; };
        co_yield load(4, lines);
        co_yield wait(0);
        co_yield store(4, lines);
        co_yield load(4, lines);
        co_yield wait(0);
      }(base + wave.group_x % 4 * kPageBytes);
    });
  }
  const Outcome run = simulate(test_system({}, "coherent-1gpu"), {script});
  EXPECT_EQ(run.count("uvm.migration.count"), 4U);
  EXPECT_GT(run.count("gpus.l2.remote.read_hits") + run.count("gpus.l2.remote.merges"), 0U);
}

TEST(CoherentLink, KeepsProgramsRight) {
  const auto program = make_workload("MT", SizeClass::Small, std::vector<ParameterSetting>{{"width", 512}}, 1);
  const Outcome run = simulate(
      test_system({"gpu.shader_arrays=4", "placement.access_counter.threshold=16"}, "coherent-1gpu"), {program});
  EXPECT_GT(run.count("uvm.migration.count"), 0U);
}

}  // namespace
}  // namespace nearfar::oversubscription_test
