// Coherence directories in the machine: what GPUs send one another when a line that another GPU's L2 holds is read or
// written, when directory entries are replaced, and at kernel boundaries and fences of each scope. GPU 0 is the home of
// the lines unless a step says otherwise; every run is under the oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pcg_random.hpp>

#include "config/error.h"
#include "designs/design.h"
#include "machine/run.h"
#include "machine/script.h"

namespace nearfar::coherence_protocol_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// One access by a compute unit of a GPU, at a time of its own. Words are of 4 bytes.
struct Step {
  enum class Kind { Load, Store, StoreLine, Atomic, FenceWorkgroup, FenceGpu, FenceSystem };
  unsigned gpu = 0;
  unsigned cu = 0;
  unsigned after = 0;  ///< cycles from the start of the kernel, about
  Kind kind = Kind::Load;
  unsigned line = 0;
  unsigned home = 0;
};
using Kind = Step::Kind;

constexpr unsigned kGpus = 4;
constexpr unsigned kCus = 4;

/// The four GPUs of rec-4gpu with four compute units each, whose kernels are lists of steps; page g of the buffer is on
/// GPU g.
class Scene {
 public:
  explicit Scene(std::vector<std::string> more = {}, const std::vector<std::string>& designs = {}) {
    std::vector<std::string> overrides = {"gpu.shader_arrays=1",     "gpu.cus_per_array=4", "dispatch.policy=blocks",
                                          "remote_cache=l1l2",       "coherence=directory", "gpu.l2.index=modulo",
                                          "gpu.l2.bank_index=modulo"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    system_ = load_system_with(designs, "rec-4gpu", overrides).spec;
    base_ = script_->buffer(kGpus * kPageBytes, Placement::Interleave);
  }

  void kernel(std::vector<Step> steps) {
    script_->launch(groups_of(kGpus * kCus, 64), [this, steps](const Script&, const Wave& wave) {
      std::vector<Step> mine;
      for (const Step& step : steps) {
        if (step.gpu * kCus + step.cu == wave.group_x) mine.push_back(step);
      }
      return play(base_, mine);
    });
  }
  /// The host copies a new page over that of a GPU.
  void copy_in(unsigned home) { script_->add_copy({.from = {}, .to = base_ + home * kPageBytes, .bytes = kPageBytes}); }
  Outcome run() const { return simulate(system_, {script_}); }

 private:
  static Stream play(VirtAddr base, std::vector<Step> steps) {
    unsigned now = 0;
    for (const Step& step : steps) {
      if (step.after > now) co_yield salu(step.after - now);
      now = std::max(now, step.after);
      const VirtAddr at = base + step.home * kPageBytes + step.line * 64;
      const auto lane0 = [at](unsigned lane) { return lane == 0 ? at : kIdle; };
      const auto words = [at](unsigned lane) { return lane < 16 ? at + lane * 4 : kIdle; };
      switch (step.kind) {
        case Kind::Load: co_yield load(4, lane0); break;
        case Kind::Store: co_yield store(4, lane0); break;
        case Kind::StoreLine: co_yield store(4, words); break;
        case Kind::Atomic: co_yield atomic(4, lane0); break;
        case Kind::FenceWorkgroup: co_yield fence(Scope::Workgroup); break;
        case Kind::FenceGpu: co_yield fence(Scope::Gpu); break;
        case Kind::FenceSystem: co_yield fence(Scope::System); break;
      }
      co_yield wait(0);
    }
  }

  SystemSpec system_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  VirtAddr base_;
};

std::uint64_t requests(const Outcome& run, unsigned gpu) {
  return run.count("gpu" + std::to_string(gpu) + ".link.request_packets");
}
std::uint64_t hits(const Outcome& run, unsigned gpu) {
  const std::string prefix = "gpu" + std::to_string(gpu) + ".invalidation.hit_";
  return run.count(prefix + "write") + run.count(prefix + "eviction") + run.count(prefix + "collateral");
}
std::uint64_t sent(const Outcome& run, unsigned gpu) {
  const std::string prefix = "gpu" + std::to_string(gpu) + ".invalidation.sent_";
  return run.count(prefix + "write") + run.count(prefix + "eviction");
}

TEST(CoherenceProtocol, ReadCostsItsTwoMessagesAndTheSumOfItsLatencies) {
  Scene cold;
  cold.kernel({{1, 0, 0}});
  const Outcome run = cold.run();
  EXPECT_EQ(run.count("gpu1.link.request_bytes"), 12U);
  EXPECT_EQ(run.count("gpu0.link.reply_bytes"), 68U);
  EXPECT_EQ(run.count("latency.load.total_cycles"), 1U + 652);
  EXPECT_EQ(run.count("gpu0.directory.allocations"), 1U);
  Scene warm;
  warm.kernel({{0, 0, 0}, {1, 0, 3000}});
  EXPECT_EQ(warm.run().count("latency.load.total_cycles"), (1U + 240) + (1 + 510));
}

TEST(CoherenceProtocol, SecondReadOfAGpuHitsItsOwnL2) {
  Scene scene;
  scene.kernel({{1, 0, 0}, {1, 1, 3000}});
  const Outcome run = scene.run();
  EXPECT_EQ(requests(run, 1), 1U);
  EXPECT_EQ(run.count("latency.load.total_cycles"), (1U + 652) + (1 + 98));
}

TEST(CoherenceProtocol, LocalWriteInvalidatesEverySharer) {
  Scene scene;
  scene.kernel({{1, 0, 0}, {2, 0, 0}, {0, 0, 3000, Kind::Store}, {1, 1, 6000}, {2, 1, 6000}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 2U);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_bytes"), 24U);
  EXPECT_EQ(hits(run, 1), 1U);
  EXPECT_EQ(hits(run, 2), 1U);
  EXPECT_EQ(requests(run, 1), 2U) << "the second read misses again";
  EXPECT_EQ(requests(run, 2), 2U);
  EXPECT_EQ(run.count("gpu1.l2.lookup.misses_after_write_invalidation"), 1U);
}

TEST(CoherenceProtocol, LocalReadsDoNotLookTheDirectoryUp) {
  Scene scene;
  scene.kernel({{1, 0, 0}, {0, 0, 3000}, {0, 1, 6000, Kind::Load, 1}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.directory.remote_reads"), 1U);
  EXPECT_EQ(run.count("gpu0.directory.local_writes"), 0U);
  EXPECT_EQ(sent(run, 0), 0U);
}

TEST(CoherenceProtocol, LocalWriteOfALineThatTheHomeHasEvictedInvalidatesToo) {
  // An L2 of one line a bank: another line of the bank takes its place.
  Scene scene({"gpu.l2.size=1KiB", "gpu.l2.ways=1"});
  scene.kernel({{1, 0, 0}, {0, 0, 3000, Kind::Load, 16}, {0, 1, 6000, Kind::Store}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 1U);
  EXPECT_EQ(hits(run, 1), 1U);
}

TEST(CoherenceProtocol, WriterOfALineKeepsItsCopyAndIsTracked) {
  Scene scene;
  scene.kernel({{1, 0, 0},
                {2, 0, 0},
                {3, 0, 0},
                {1, 1, 3000, Kind::StoreLine},
                {1, 2, 6000},
                {0, 0, 9000, Kind::Store},
                {1, 3, 12000}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.link.request_bytes"), 12U + 76 + 12) << "the read behind its own write hits";
  EXPECT_EQ(hits(run, 2), 1U);
  EXPECT_EQ(hits(run, 3), 1U);
  EXPECT_EQ(hits(run, 1), 1U) << "by the home's write";
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 3U);
}

TEST(CoherenceProtocol, PartOfALineIsWrittenWithoutAnAllocationAndTracked) {
  Scene scene;
  scene.kernel({{2, 0, 0}, {1, 0, 3000, Kind::Store}, {0, 0, 6000, Kind::Store}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.link.request_bytes"), 24U);
  EXPECT_EQ(run.count("gpu1.l2.remote.write_allocations"), 0U);
  EXPECT_EQ(hits(run, 2), 1U);
  EXPECT_EQ(run.count("gpu1.invalidation.miss_write"), 1U) << "it is recorded, and holds nothing";
}

TEST(CoherenceProtocol, PartOfALineIsFetchedWhereTheSystemSaysSo) {
  Scene scene({"remote_write_miss=fetch"});
  scene.kernel({{1, 0, 0, Kind::Store}, {1, 1, 3000}, {0, 0, 6000, Kind::Store}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.l2.remote.fetches"), 1U);
  EXPECT_EQ(run.count("gpu1.link.request_bytes"), 24U + 12) << "the store, and the read behind it";
  EXPECT_EQ(run.count("gpu1.l2.remote.read_hits"), 1U);
  EXPECT_EQ(hits(run, 1), 1U);
  EXPECT_THAT(
      [] {
        test_system({"remote_write_miss=fetch", "remote_cache=l1l2"}, "mmu-4gpu");
      },
      ThrowsMessage<InputError>(HasSubstr("needs pages that stay")));
}

TEST(CoherenceProtocol, WholeLineWrittenIsHeldByItsWriter) {
  Scene scene;
  scene.kernel({{2, 0, 0}, {1, 0, 3000, Kind::StoreLine}, {1, 1, 6000}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.l2.remote.write_allocations"), 1U);
  EXPECT_EQ(requests(run, 1), 1U);
  EXPECT_EQ(hits(run, 2), 1U);
}

TEST(CoherenceProtocol, SilentEvictionLeavesASharerOnRecord) {
  // GPU 1's L2 holds one line a bank: line 16 evicts line 0.
  Scene scene({"gpu.l2.size=1KiB", "gpu.l2.ways=1"});
  scene.kernel({{1, 0, 0}, {1, 1, 3000, Kind::Load, 16}, {0, 0, 6000, Kind::Store}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.invalidation.miss_write"), 1U);
  EXPECT_EQ(hits(run, 1), 0U);
  Scene again({"gpu.l2.size=1KiB", "gpu.l2.ways=1"});
  again.kernel({{1, 0, 0}, {1, 1, 3000, Kind::Load, 16}, {1, 2, 6000}});
  EXPECT_EQ(again.run().count("gpu0.directory.remote_read_hits"), 1U);
}

TEST(CoherenceProtocol, ReplacedEntriesInvalidateUnnecessarily) {
  Scene scene({"directory.entries=2", "directory.ways=2"});
  scene.kernel({{1, 0, 0}, {1, 1, 3000, Kind::Load, 1}, {1, 2, 6000, Kind::Load, 2}, {1, 3, 9000, Kind::Load, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(requests(run, 1), 4U);
  EXPECT_EQ(run.count("gpu0.invalidation.sent_eviction"), 2U);
  EXPECT_EQ(run.count("gpu1.invalidation.hit_eviction"), 2U);
  EXPECT_EQ(run.count("gpu1.l2.lookup.misses_after_eviction_invalidation"), 1U);
}

TEST(CoherenceProtocol, InvalidationOfABlockDropsAllItsLines) {
  Scene scene({}, {"hmg"});
  scene.kernel({{1, 0, 0}, {1, 1, 0, Kind::Load, 2}, {0, 0, 3000, Kind::Store, 1}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.invalidation.sent_write"), 1U);
  EXPECT_EQ(run.count("gpu1.invalidation.hit_collateral"), 2U);
}

TEST(CoherenceProtocol, AtomicsInvalidateAndAreTrackedAsWrites) {
  Scene scene;
  scene.kernel({{1, 0, 0}, {2, 0, 0}, {1, 1, 3000, Kind::Atomic}, {0, 0, 6000, Kind::Store}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.link.request_bytes"), 12U + 16);
  EXPECT_EQ(run.count("gpu0.link.reply_bytes"), 2 * 68U + 8);
  EXPECT_EQ(hits(run, 2), 1U);
  EXPECT_EQ(run.count("gpu1.invalidation.miss_write"), 1U) << "its copy left with its own atomic";
}

// ------------------------------------------------------------------------------------------------------------- races

TEST(CoherenceProtocol, InvalidationThatOvertakesAFillPoisonsIt) {
  // GPU 1's read waits in memory; the home writes the line meanwhile.
  Scene scene({"gpu.dram.latency=2000"});
  scene.kernel({{1, 0, 0}, {0, 0, 100, Kind::Store}, {1, 1, 8000}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.invalidation.pending_write"), 1U);
  EXPECT_EQ(run.count("gpu1.l2.remote.poisoned_fills"), 1U);
  EXPECT_EQ(requests(run, 1), 2U);
}

TEST(CoherenceProtocol, LoadBehindAPoisonedFillAsksAgain) {
  Scene scene({"gpu.dram.latency=2000"});
  scene.kernel({{1, 0, 0}, {0, 0, 100, Kind::Store}, {1, 1, 300}, {1, 2, 8000}});
  const Outcome run = scene.run();
  EXPECT_EQ(requests(run, 1), 2U) << "the third load finds what the second fetched";
  EXPECT_EQ(run.count("gpu1.l2.remote.poisoned_fills"), 1U);
  EXPECT_EQ(run.count("gpu1.l2.remote.fills"), 1U);
}

TEST(CoherenceProtocol, WritesThatCrossInvalidationsEndWithTheLastWriter) {
  Scene scene;
  scene.kernel(
      {{1, 0, 0}, {2, 0, 0}, {2, 1, 3000, Kind::StoreLine}, {1, 1, 3010, Kind::StoreLine}, {1, 2, 8000}, {2, 2, 8000}});
  const Outcome run = scene.run();
  EXPECT_EQ(hits(run, 1), 1U) << "by the first write, though its own is on its way";
  EXPECT_EQ(hits(run, 2), 1U) << "by the second";
  EXPECT_EQ(requests(run, 1), 3U);
  EXPECT_EQ(requests(run, 2), 3U);
}

TEST(CoherenceProtocol, EvictionRacesAReadOfTheSameLine) {
  // GPU 1's copy of line 0 is gone silently; GPU 2's read evicts its entry just before GPU 1 reads it again.
  Scene scene({"directory.entries=1", "directory.ways=1", "gpu.l2.size=1KiB", "gpu.l2.ways=1"});
  scene.kernel({{1, 0, 0}, {1, 1, 3000, Kind::Load, 16, 3}, {2, 0, 6000, Kind::Load, 1}, {1, 2, 6040}, {1, 3, 12000}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.invalidation.pending_eviction"), 1U);
  EXPECT_EQ(run.count("gpu1.l2.remote.poisoned_fills"), 1U);
  EXPECT_EQ(requests(run, 1), 4U) << "the last load misses again";
}

TEST(CoherenceProtocol, ReadFollowsItsOwnWrite) {
  Scene scene;
  scene.kernel({{1, 0, 0, Kind::Store}, {1, 0, 1}});
  EXPECT_EQ(requests(scene.run(), 1), 2U);
}

// -------------------------------------------------------------------------------------------------- kernel boundaries

TEST(CoherenceProtocol, CopiesSurviveABoundary) {
  Scene scene;
  scene.kernel({{1, 0, 0}});
  scene.kernel({{1, 0, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(requests(run, 1), 1U);
  EXPECT_EQ(run.count("gpus.invalidation.markers"), 2U * kGpus * (kGpus - 1));
}

TEST(CoherenceProtocol, BoundaryDropsThemWithoutADirectory) {
  Scene scene({"coherence=boundary"});
  scene.kernel({{1, 0, 0}});
  scene.kernel({{1, 0, 0}});
  EXPECT_EQ(requests(scene.run(), 1), 2U);
}

TEST(CoherenceProtocol, BoundaryWaitsForInvalidationsInFlight) {
  // The home's link is slow: its invalidation is still on its way when the kernel has ended.
  Scene scene({"link.bandwidth=100MB/s"});
  scene.kernel({{1, 0, 0}});
  scene.kernel({{0, 0, 0, Kind::Store}});
  scene.kernel({{1, 1, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(hits(run, 1), 1U);
  EXPECT_EQ(requests(run, 1), 2U) << "the third kernel must not find the old line";
}

/// The way over the host is quick, and the one between GPUs is long.
TEST(CoherenceProtocol, BoundaryWaitsForInvalidationsThatTakeLongerThanTheHost) {
  Scene scene({"link.latency=5000", "link.host_latency=2"});
  scene.kernel({{1, 0, 0}});
  scene.kernel({{0, 0, 0, Kind::Store}});
  scene.kernel({{1, 1, 0}});
  EXPECT_EQ(requests(scene.run(), 1), 2U) << "the third kernel must not find the old line";
}

TEST(CoherenceProtocol, CopyInvalidatesWhatItOverwrites) {
  Scene scene;
  scene.kernel({{1, 0, 0}});
  scene.copy_in(0);
  scene.kernel({{1, 1, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(hits(run, 1), 1U);
  EXPECT_EQ(requests(run, 1), 2U);
}

TEST(CoherenceProtocol, KernelWaitsForInvalidationsOfACopy) {
  Scene scene({"link.latency=5000", "link.host_latency=2"});
  scene.kernel({{1, 0, 0}});
  scene.copy_in(0);
  scene.kernel({{1, 1, 0}});
  EXPECT_EQ(requests(scene.run(), 1), 2U) << "the second kernel must not find the old line";
}

TEST(CoherenceProtocol, ReleaseWritesBackAndKeepsTheLine) {
  Scene scene;
  scene.kernel({{0, 0, 0, Kind::StoreLine}});
  scene.kernel({{1, 0, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.flushed_lines"), 1U);
  EXPECT_EQ(run.count("latency.load.total_cycles"), 1U + 510);
}

// ------------------------------------------------------------------------------------------------------------- fences

TEST(CoherenceProtocol, SystemFenceHasEveryGpuSendMarkers) {
  Scene scene;
  scene.kernel({{1, 0, 0, Kind::Store}, {1, 0, 1, Kind::FenceSystem}});
  const Outcome run = scene.run();
  const std::uint64_t boundary = std::uint64_t{kGpus} * (kGpus - 1);
  EXPECT_EQ(run.count("gpus.invalidation.markers"), 2 * boundary);
  EXPECT_EQ(run.count("gpu1.invalidation.fences"), 1U);
  // Of the markers three come to GPU 1 itself, which answers none of them by a message.
  EXPECT_EQ(run.count("gpus.link.coherence_packets"), 2 * boundary + (kGpus - 1) + (boundary - (kGpus - 1)));
}

/// Message passing: GPU 0 writes line 0 and releases; later another unit acquires and reads it. The copy in GPU 1's L2
/// is invalidated by the directory; the one in the L1 of the unit only by its own fence.
TEST(CoherenceProtocol, LitmusOfSystemScope) {
  Scene scene;
  scene.kernel({{1, 0, 0},
                {0, 0, 3000, Kind::Store},
                {0, 0, 3001, Kind::FenceSystem},
                {1, 0, 9000, Kind::FenceSystem},
                {1, 0, 9001}});
  EXPECT_EQ(requests(scene.run(), 1), 2U) << "the L1 and the L2 have dropped the old line";
}

TEST(CoherenceProtocol, LitmusOfGpuScope) {
  // Both units are on GPU 1, whose L2 has the new data.
  Scene scene;
  scene.kernel({{1, 0, 0},
                {1, 1, 3000, Kind::StoreLine},
                {1, 1, 3001, Kind::FenceGpu},
                {1, 0, 9000, Kind::FenceGpu},
                {1, 0, 9001}});
  const Outcome run = scene.run();
  EXPECT_EQ(requests(run, 1), 2U) << "a read and a write; the second read hits the L2";
  EXPECT_EQ(run.count("gpu1.l2.lookup.remote_reads"), 2U) << "the L1 has dropped the line";
  EXPECT_EQ(run.count("gpus.invalidation.fences"), 0U);
}

TEST(CoherenceProtocol, LitmusOfWorkgroupScope) {
  Scene scene;
  scene.kernel({{1, 0, 0}, {1, 0, 3000, Kind::FenceWorkgroup}, {1, 0, 3001}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.l2.lookup.remote_reads"), 1U) << "the L1 keeps its lines";
  EXPECT_EQ(run.count("gpus.invalidation.fences"), 0U);
}

TEST(CoherenceProtocol, SystemFencesWithoutADirectoryKeepNothingThatIsUnderWay) {
  Scene scene({"coherence=boundary"});
  scene.kernel({{1, 0, 0}, {1, 1, 100, Kind::FenceSystem}, {1, 2, 3000}});
  EXPECT_EQ(requests(scene.run(), 1), 2U) << "the line that the fence met on its way is old";
}

TEST(CoherenceProtocol, SystemFencesWithoutADirectoryDropRemoteLines) {
  Scene scene({"coherence=boundary"});
  scene.kernel({{1, 0, 0}, {1, 0, 3000, Kind::FenceSystem}, {1, 0, 3001}});
  EXPECT_EQ(requests(scene.run(), 1), 2U);
  Scene gpu({"coherence=boundary"});
  gpu.kernel({{1, 0, 0}, {1, 0, 3000, Kind::FenceGpu}, {1, 0, 3001}});
  EXPECT_EQ(requests(gpu.run(), 1), 1U) << "within the GPU its L2 is one";
}

TEST(CoherenceProtocol, RunsOfOneGpuNeedNoMarkers) {
  const auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Interleave);
  script->launch(groups_of(1, 64), [base](const Script&, const Wave&) -> Stream {
    co_yield store(4, [base](unsigned lane) { return base + lane * 4; });
    co_yield fence();
  });
  const Outcome run =
      simulate(test_system({"gpus=1", "remote_cache=l1l2", "coherence=directory"}, "rec-4gpu"), {script});
  EXPECT_EQ(run.count("gpu0.invalidation.markers"), 0U);
}

// ---------------------------------------------------------------------------------------------------------- equalities

/// All statistics of a run of random traffic of four GPUs: reads, writes and atomics of shared lines.
std::vector<StatValue> statistics_of(const std::vector<std::string>& designs, std::vector<std::string> more,
                                     unsigned threads = 1) {
  std::vector<std::string> overrides = {"gpu.shader_arrays=1", "gpu.cus_per_array=4", "directory.entries=12",
                                        "directory.ways=4"};
  overrides.insert(overrides.end(), more.begin(), more.end());
  const auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(8 * kPageBytes, Placement::Interleave);
  const auto roam = [base](const Script&, Wave wave) -> Stream {  // by value: it lives as long as the stream
    pcg32 random(wave.group_x * 64 + wave.index);
    for (unsigned i = 0; i < 60; ++i) {
      const VirtAddr at = base + random(8) * kPageBytes + random(12) * 64;
      const auto lanes = [at](unsigned lane) { return at + lane * 4; };
      switch (random(8)) {
        case 0: co_yield store(4, lanes); break;
        case 1: co_yield store(4, [at](unsigned lane) { return lane < 5 ? at + lane * 4 : kIdle; }); break;
        case 2: co_yield atomic(4, [at](unsigned lane) { return lane == 0 ? at : kIdle; }); break;
        case 3: co_yield fence(random(2) == 0 ? Scope::Gpu : Scope::System); break;
        default: co_yield load(4, lanes); break;
      }
    }
  };
  for (unsigned launch = 0; launch < 3; ++launch) script->launch(groups_of(kGpus * kCus * 2, 128), roam);
  RunRequest request;
  request.system = load_system_with(designs, "rec-4gpu", overrides).spec;
  request.applications = {script};
  request.check = true;
  request.threads = threads;
  return run(request).statistics;
}

void expect_same(const std::vector<StatValue>& one, const std::vector<StatValue>& other) {
  ASSERT_EQ(one.size(), other.size());
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].name, other[i].name);
    EXPECT_EQ(one[i].as_double(), other[i].as_double()) << one[i].name;
  }
}

TEST(CoherenceProtocol, RangesOfOneLineAreTheBaseline) {
  expect_same(statistics_of({}, {}), statistics_of({"rec"}, {"rec.range=64B", "rec.replacement=fifo"}));
  expect_same(statistics_of({}, {}), statistics_of({"hmg"}, {"hmg.lines=1"}));
}

TEST(CoherenceProtocol, IsTheSameOnAnyNumberOfThreads) {
  for (const char* design : {"hmg", "rec", "dir-ideal", "carve", "multi-grain"}) {
    const auto one = statistics_of({design}, {});
    expect_same(one, statistics_of({design}, {}, 2));
    expect_same(one, statistics_of({design}, {}, 3));
  }
}

TEST(CoherenceProtocol, IdealDirectorySendsNothingUnnecessary) {
  for (const StatValue& stat : statistics_of({"dir-ideal"}, {})) {
    if (stat.name == "gpus.invalidation.sent_eviction") {
      EXPECT_EQ(stat.as_double(), 0);
    } else if (stat.name == "gpus.invalidation.sent_write") {
      EXPECT_GT(stat.as_double(), 0);
    }
  }
}

// ----------------------------------------------------------------------------------------------------------- refusals

TEST(CoherenceProtocol, DirectoriesNeedRemoteLinesInL2Caches) {
  EXPECT_THAT(
      [] {
        test_system({"coherence=directory", "remote_cache=l1"}, "rec-4gpu");
      },
      ThrowsMessage<InputError>(HasSubstr("needs `remote_cache: l1l2`")));
  EXPECT_THAT(
      [] {
        test_system({"gpus=65", "remote_cache=l1l2", "coherence=directory"}, "rec-4gpu");
      },
      ThrowsMessage<InputError>(HasSubstr("at most 64 GPUs")));
  EXPECT_THAT(
      [] {
        test_system({"directory.entries=7", "remote_cache=l1l2", "coherence=directory"}, "rec-4gpu");
      },
      ThrowsMessage<InputError>(HasSubstr("multiple of its ways")));
}

}  // namespace
}  // namespace nearfar::coherence_protocol_test
