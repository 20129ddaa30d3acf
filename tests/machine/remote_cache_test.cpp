// Lines of other GPUs in a GPU's own caches (remote_cache: none, l1, l1l2): what is kept, what goes over the links, and
// what it costs. Without a directory a kernel boundary and a fence drop what an L2 holds of other GPUs.
#include <gtest/gtest.h>

#include "config/error.h"
#include "machine/script.h"

namespace nearfar::remote_cache_test {
namespace {

/// One access of lane 0 by a compute unit of a GPU, at a time of its own.
struct Step {
  enum class Kind { Load, Store, StoreLine, Atomic, Fence };
  unsigned gpu = 0;
  unsigned cu = 0;
  unsigned after = 0;  ///< cycles from the start of the kernel, about
  Kind kind = Kind::Load;
  unsigned home = 1;
  unsigned line = 0;
};

constexpr unsigned kCus = 4;

/// A machine of two GPUs of four compute units, whose kernels are lists of steps; page g of its buffer is on GPU g.
class Scene {
 public:
  explicit Scene(const std::string& remote_cache, std::vector<std::string> more = {},
                 const std::string& system = "ideal-4gpu") {
    std::vector<std::string> overrides = {"gpus=2", "gpu.shader_arrays=1", "gpu.cus_per_array=4",
                                          "remote_cache=" + remote_cache, "dispatch.policy=blocks"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    system_ = test_system(overrides, system);
    base_ = script_->buffer(2 * kPageBytes, Placement::Interleave);
  }

  void kernel(std::vector<Step> steps) {
    // One workgroup for each compute unit of each GPU, in order.
    script_->launch(groups_of(2 * kCus, 64), [this, steps](const Script&, const Wave& wave) {
      std::vector<Step> mine;
      for (const Step& step : steps) {
        if (step.gpu * kCus + step.cu == wave.group_x) mine.push_back(step);
      }
      return play(base_, mine);
    });
  }
  Outcome run() const { return simulate(system_, {script_}); }
  const SystemSpec& system() const { return system_; }

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
        case Step::Kind::Load: co_yield load(4, lane0); break;
        case Step::Kind::Store: co_yield store(4, lane0); break;
        case Step::Kind::StoreLine: co_yield store(4, words); break;
        case Step::Kind::Atomic: co_yield atomic(4, lane0); break;
        case Step::Kind::Fence: co_yield fence(); break;
      }
      co_yield wait(0);
    }
  }

  SystemSpec system_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  VirtAddr base_;
};

using Kind = Step::Kind;

TEST(RemoteCache, OfNoneAsksTheHomeForEveryLoad) {
  Scene scene("none");
  scene.kernel({{0, 0, 0}, {0, 0, 3000}});
  EXPECT_EQ(scene.run().count("gpu0.link.request_packets"), 2U);
}

TEST(RemoteCache, OfL1AsksOnceForAComputeUnit) {
  Scene scene("l1");
  scene.kernel({{0, 0, 0}, {0, 0, 3000}, {0, 1, 6000}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 2U);
  EXPECT_EQ(run.count("gpu0.l2.remote.reads"), 0U);
}

TEST(RemoteCache, OfL1L2AsksOnceForAGpu) {
  Scene scene("l1l2");
  scene.kernel({{0, 0, 0}, {0, 1, 3000}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 1U);
  EXPECT_EQ(run.count("gpu0.l2.remote.reads"), 2U);
  EXPECT_EQ(run.count("gpu0.l2.remote.read_hits"), 1U);
  EXPECT_EQ(run.count("gpu0.l2.remote.fills"), 1U);
  // The first: L1, the own L2's tags, the way there, the home's tags and memory, the way back. The second hits.
  const GpuSpec& gpu = scene.system().gpu;
  const Cycle l1 = 2 * (scene.system().translation.latency + gpu.l1v.latency);
  EXPECT_EQ(run.count("latency.load.l1_cycles"), l1);
  EXPECT_EQ(run.count("latency.load.home_cycles"), 3 * gpu.l2.tag_latency + gpu.l2.data_latency);
  EXPECT_EQ(run.count("latency.load.home_wait_cycles"), 0U);
  const Cycle parts = run.count("latency.load.l1_cycles") + run.count("latency.load.request_link_cycles") +
                      run.count("latency.load.home_cycles") + run.count("latency.load.dram_cycles") +
                      run.count("latency.load.reply_link_cycles");
  EXPECT_EQ(run.count("latency.load.total_cycles"), parts);
}

/// The published sums of the REC system: a remote line in the own L2 98 cycles, in the home's L2 510, in its memory
/// 652, and the cycle of ideal translation.
TEST(RemoteCache, RecSystemCostsTheSumsOfItsTable) {
  Scene scene("l1l2", {}, "rec-4gpu");
  scene.kernel({{0, 0, 0}, {0, 1, 3000}});
  EXPECT_EQ(scene.run().count("latency.load.total_cycles"), (1U + 652) + (1 + 98));
  Scene warm("l1l2", {}, "rec-4gpu");
  warm.kernel({{1, 0, 0}, {0, 0, 3000}});
  EXPECT_EQ(warm.run().count("latency.load.total_cycles"), (1U + 240) + (1 + 510));
}

TEST(RemoteCache, RefusesTagsThatCannotTellDevicesApart) {
  EXPECT_THROW(test_system({"remote_cache=l1l2", "gpu.l2.banks=1", "gpu.l2.ways=1", "gpu.l2.size=64",
                            "gpu.dram.capacity=64GiB"}),
               InputError);
}

TEST(RemoteCache, MergesLoadsOfSeveralComputeUnits) {
  Scene scene("l1l2");
  scene.kernel({{0, 0, 0}, {0, 1, 10}, {0, 2, 20}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 1U);
  EXPECT_EQ(run.count("gpu0.l2.remote.merges"), 2U);
}

TEST(RemoteCache, StoresGoThroughAndKeepTheCopyUpToDate) {
  Scene scene("l1l2");
  scene.kernel({{0, 0, 0}, {0, 1, 3000, Kind::Store}, {0, 2, 6000}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 2U) << "a read and a write";
  EXPECT_EQ(run.count("gpu0.l2.remote.write_hits"), 1U);
  EXPECT_EQ(run.count("gpu0.l2.remote.read_hits"), 1U);
  EXPECT_EQ(run.count("gpu1.l2.writes"), 1U) << "the home has it";
}

TEST(RemoteCache, AStoreOfAWholeLineMakesACopyAndOneOfAPartDoesNot) {
  Scene whole("l1l2");
  whole.kernel({{0, 0, 0, Kind::StoreLine}, {0, 1, 3000}});
  const Outcome kept = whole.run();
  EXPECT_EQ(kept.count("gpu0.l2.remote.write_allocations"), 1U);
  EXPECT_EQ(kept.count("gpu0.l2.remote.read_hits"), 1U);
  Scene part("l1l2");
  part.kernel({{0, 0, 0, Kind::Store}, {0, 1, 3000}});
  const Outcome gone = part.run();
  EXPECT_EQ(gone.count("gpu0.l2.remote.write_allocations"), 0U);
  EXPECT_EQ(gone.count("gpu0.l2.remote.read_hits"), 0U);
  EXPECT_EQ(gone.count("gpu0.link.request_packets"), 2U);
}

TEST(RemoteCache, AStoreMakesAFillUnderWayOld) {
  Scene scene("l1l2");
  // The load is still on its way when another compute unit stores; a third loads before the first fill has come.
  scene.kernel({{0, 0, 0}, {0, 1, 60, Kind::Store}, {0, 2, 120}, {0, 3, 6000}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.remote.poisoned_fills"), 1U);
  EXPECT_EQ(run.count("gpu0.l2.remote.fills"), 1U) << "of the second request, behind the store";
  EXPECT_EQ(run.count("gpu0.l2.remote.merges"), 0U);
  EXPECT_EQ(run.count("gpu0.l2.remote.read_hits"), 1U);
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 3U);
}

TEST(RemoteCache, AnAtomicIsPerformedAtTheHomeAndDropsTheCopy) {
  Scene scene("l1l2");
  scene.kernel({{0, 0, 0}, {0, 1, 3000, Kind::Atomic}, {0, 2, 6000}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu1.l2.atomics"), 1U);
  EXPECT_EQ(run.count("gpu0.l2.remote.atomics"), 1U);
  EXPECT_EQ(run.count("gpu0.l2.remote.read_hits"), 0U);
}

TEST(RemoteCache, AKernelBoundaryAndAFenceDropWhatIsHeldOfOthers) {
  Scene boundary("l1l2");
  boundary.kernel({{0, 0, 0}});
  boundary.kernel({{0, 0, 0}});
  const Outcome two = boundary.run();
  EXPECT_EQ(two.count("gpu0.link.request_packets"), 2U);
  EXPECT_EQ(two.count("gpu0.l2.remote.dropped"), 1U);
  Scene fenced("l1l2");
  fenced.kernel({{0, 0, 0}, {0, 1, 3000, Kind::Fence}, {0, 2, 6000}});
  const Outcome dropped = fenced.run();
  EXPECT_EQ(dropped.count("gpu0.link.request_packets"), 2U);
  EXPECT_EQ(dropped.count("gpu0.l2.remote.dropped"), 1U);
}

TEST(RemoteCache, LinesOfTheHostAreNotKeptInAnL2) {
  const SystemSpec system = test_system({"remote_cache=l1l2", "placement.initial=host"});
  auto script = std::make_shared<Script>();
  const VirtAddr at = script->buffer(kPageBytes, Placement::Host);
  script->launch(groups_of(2), [at](const Script&, const Wave& wave) -> Stream {
    return [](VirtAddr where, bool late) -> Stream {
      if (late) co_yield salu(4000);
      co_yield load(4, [where](unsigned lane) { return lane == 0 ? where : kIdle; });
      co_yield wait(0);
    }(at, wave.group_x == 1);
  });
  const Outcome run = simulate(system, {script});
  EXPECT_EQ(run.count("gpu0.l2.remote.reads"), 0U);
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 2U);
}

TEST(RemoteCache, ACopyThatIsReplacedLeavesSilently) {
  // One set of one way in one bank: the second line takes the place of the first.
  Scene scene("l1l2", {"gpu.l2.banks=1", "gpu.l2.ways=1", "gpu.l2.size=64", "gpu.l1v.ways=1", "gpu.l1v.size=64",
                       "gpu.dram.capacity=64MiB", "host.dram.capacity=64MiB"});
  scene.kernel({{0, 0, 0, Kind::Load, 1, 0}, {0, 0, 3000, Kind::Load, 1, 1}, {0, 1, 6000, Kind::Load, 1, 0}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.remote.evictions"), 2U);
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 3U);
}

TEST(RemoteCacheThreads, TheSameBitsOnAnyNumberOfThreads) {
  const auto statistics = [](unsigned threads) {
    const SystemSpec system = test_system({"remote_cache=l1l2"});
    auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(16 * kPageBytes, Placement::Interleave);
    script->launch(groups_of(64), [base](const Script&, const Wave& wave) -> Stream {
      return [](VirtAddr from, std::uint32_t group) -> Stream {
        for (std::uint32_t i = 0; i < 20; ++i) {
          const VirtAddr at = from + ((group * 7 + i * 13) % 256) * 256;
          co_yield load(4, [at](unsigned lane) { return at + lane * 4; });
          if (i % 3 == 0) co_yield store(4, [at](unsigned lane) { return lane < 20 ? at + lane * 4 : kIdle; });
          co_yield wait(0);
        }
      }(base, wave.group_x);
    });
    const Outcome run = simulate(system, {script}, true, threads);
    std::string text;
    for (const StatValue& value : run.result.statistics) text += value.name + " " + std::to_string(value.count) + "\n";
    return text;
  };
  const std::string one = statistics(1);
  EXPECT_EQ(statistics(2), one);
  EXPECT_EQ(statistics(3), one);
}

/// Where the queue to the home has no room, a request waits at its bank of the L2, and with it what comes behind it.
TEST(RemoteLinesInL2, WaitForRoomOnTheWayToTheirHome) {
  const auto waited = [](const char* queue) {
    Scene scene("l1l2", {queue, "link.bandwidth=1GB/s", "gpu.l2.banks=1"});
    std::vector<Step> steps;
    for (unsigned line = 0; line < 12; ++line) steps.push_back({0, line % 4, 0, Step::Kind::Store, 1, line});
    steps.push_back({0, 0, 1, Step::Kind::Load, 0, 20});
    scene.kernel(steps);
    return scene.run().count("latency.load.home_wait_cycles");
  };
  EXPECT_GT(waited("link.queue=1"), waited("link.queue=64") + 20);
}

}  // namespace
}  // namespace nearfar::remote_cache_test
