// Coherence directories in the machine beyond the scenarios of coherence_scenarios_test.cpp: stores that fetch, kernel
// boundaries with and without markers, fences of each scope, equalities, and what is refused. GPU 0 is the home of the
// lines unless a step says otherwise; every run is under the oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pcg_random.hpp>

#include "config/error.h"
#include "designs/design.h"
#include "machine/coherence_scene.h"
#include "machine/run.h"
#include "machine/script.h"

namespace nearfar::coherence_protocol_test {
namespace {

using coherence_scene::hits;
using coherence_scene::kCus;
using coherence_scene::kGpus;
using coherence_scene::requests;
using coherence_scene::Scene;
using coherence_scene::Step;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;
using Kind = Step::Kind;

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

/// Invalidations are never refused: those that come together wait for a slow link, on which each takes 120 cycles.
TEST(CoherenceProtocol, InvalidationsWaitForTheLink) {
  for (const unsigned apart : {0U, 1000U}) {
    Scene scene({"link.bandwidth=100MB/s"});
    std::vector<Step> steps;
    for (unsigned line = 0; line < 4; ++line) {
      steps.push_back({1, line, 0, Kind::Load, line});
      steps.push_back({0, line, 40'000 + line * apart, Kind::Store, line});
    }
    scene.kernel(steps);
    const Outcome run = scene.run();
    EXPECT_EQ(hits(run, 1), 4U);
    const std::uint64_t most = run.count("gpu0.invalidation.waiting.max");
    if (apart == 0) {
      EXPECT_GE(most, 2U) << "ahead of the last one";
    } else {
      EXPECT_EQ(most, 0U);
    }
  }
}

// -------------------------------------------------------------------------------------------------- kernel boundaries

TEST(CoherenceProtocol, BoundaryDropsThemWithoutADirectory) {
  Scene scene({"coherence=boundary"});
  scene.kernel({{1, 0, 0}});
  scene.kernel({{1, 0, 0}});
  EXPECT_EQ(requests(scene.run(), 1), 2U);
}

/// The way over the host is quick, and the one between GPUs is long.
TEST(CoherenceProtocol, BoundaryWaitsForInvalidationsThatTakeLongerThanTheHost) {
  Scene scene({"link.latency=5000", "link.host_latency=2"});
  scene.kernel({{1, 0, 0}});
  scene.kernel({{0, 0, 0, Kind::Store}});
  scene.kernel({{1, 1, 0}});
  EXPECT_EQ(requests(scene.run(), 1), 2U) << "the third kernel must not find the old line";
}

/// Cycles of three kernels: GPU 1 reads a line, GPU 0 writes it, GPU 1 reads it again.
Outcome passed_on(std::vector<std::string> settings) {
  Scene scene(std::move(settings));
  scene.kernel({{1, 0, 0}});
  scene.kernel({{0, 0, 0, Kind::Store}});
  scene.kernel({{1, 1, 0}});
  return scene.run();
}

TEST(CoherenceProtocol, BoundaryWithoutMarkersWaitsForInvalidationsInFlight) {
  const std::vector<std::vector<std::string>> kLinks = {{"link.bandwidth=100MB/s"},
                                                        {"link.latency=5000", "link.host_latency=2"},
                                                        {"link.topology=ring", "link.latency=1000"},
                                                        {"link.topology=pcie-tree", "link.gpus_per_switch=1"}};
  for (std::vector<std::string> link : kLinks) {
    const Outcome with = passed_on(link);
    link.emplace_back("boundary.markers=false");
    const Outcome without = passed_on(link);
    EXPECT_EQ(requests(without, 1), 2U) << link[0] << ": the third kernel must not find the old line";
    EXPECT_EQ(hits(without, 1), 1U);
    EXPECT_EQ(without.count("gpus.invalidation.markers"), 0U);
    EXPECT_EQ(without.count("gpus.link.coherence_packets"), 1U) << "the invalidation";
    EXPECT_LT(without.result.cycles, with.result.cycles);
  }
}

TEST(CoherenceProtocol, BoundaryWithoutMarkersCostsNothingWhereNothingIsUnderWay) {
  Scene scene({"boundary.markers=false"});
  scene.kernel({{1, 0, 0}});
  scene.kernel({{2, 0, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpus.invalidation.boundaries"), 2U * kGpus);
  EXPECT_EQ(run.count("gpus.invalidation.boundary_marker_cycles"), 0U);
  EXPECT_EQ(run.count("gpus.link.coherence_packets"), 0U);
}

TEST(CoherenceProtocol, KernelWithoutMarkersWaitsForInvalidationsOfACopy) {
  Scene scene({"link.latency=5000", "link.host_latency=2", "boundary.markers=false"});
  scene.kernel({{1, 0, 0}});
  scene.copy_in(0);
  scene.kernel({{1, 1, 0}});
  EXPECT_EQ(requests(scene.run(), 1), 2U) << "the second kernel must not find the old line";
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
                                     unsigned threads = 1, Cycle window = 0) {
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
  request.window = window;
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

TEST(CoherenceProtocol, IsTheSameWithoutMarkersOnAnyNumberOfThreads) {
  const std::vector<std::string> settings = {"boundary.markers=false", "remote_write_miss=fetch",
                                             "perturb.message_jitter=32", "perturb.draw=3"};
  const auto one = statistics_of({"rec"}, settings);
  expect_same(one, statistics_of({"rec"}, settings, 2));
  expect_same(one, statistics_of({"rec"}, settings, 3));
  expect_same(one, statistics_of({"rec"}, settings, 1, 7));
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

TEST(CoherenceProtocol, MarkersNeedDirectories) {
  for (const char* where : {"coherence=boundary", "remote_cache=l1"}) {
    EXPECT_THAT(
        [&] {
          test_system({"boundary.markers=false", "coherence=boundary", where}, "rec-4gpu");
        },
        ThrowsMessage<InputError>(HasSubstr("`boundary.markers` = false needs `coherence: directory`")));
  }
}

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
