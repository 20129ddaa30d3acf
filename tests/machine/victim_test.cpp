// When the victim of a miss leaves a cache (`victim: at_fill` or `at_miss`), in L1s of compute units, in scalar L1s and
// in L2s that hold lines of other GPUs.
#include <gtest/gtest.h>

#include "machine/script.h"

namespace nearfar::victim_test {
namespace {

/// One GPU whose L1s have one line each.
SystemSpec one_line_l1s(bool at_miss) {
  return test_system({"gpus=1", "gpu.shader_arrays=1", "gpu.cus_per_array=1", "gpu.dram.capacity=64MiB",
                      "host.dram.capacity=64MiB", "gpu.dram.model=fixed", "gpu.dram.latency=1000", "gpu.l1v.size=64",
                      "gpu.l1v.ways=1", "gpu.l1s.size=64", "gpu.l1s.ways=1",
                      std::string("gpu.l1v.victim=") + (at_miss ? "at_miss" : "at_fill"),
                      std::string("gpu.l1s.victim=") + (at_miss ? "at_miss" : "at_fill")});
}

auto line_at(VirtAddr base, unsigned line) {
  return [=](unsigned lane) { return lane == 0 ? base + line * 64 : kIdle; };
}

template <class Kernel>
Outcome run_on_one_line_l1s(bool at_miss, Kernel kernel) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Distribute);
  script->launch(groups_of(1), [=](const Script&, const Wave&) { return kernel(base); });
  return simulate(one_line_l1s(at_miss), {script});
}

class L1Victim : public ::testing::TestWithParam<bool> {};
INSTANTIATE_TEST_SUITE_P(Times, L1Victim, ::testing::Bool(),
                         [](const auto& time) { return time.param ? "AtMiss" : "AtFill"; });

TEST_P(L1Victim, CanBeHitUntilItLeaves) {
  const Outcome run = run_on_one_line_l1s(GetParam(), [](VirtAddr base) -> Stream {
    co_yield load(4, line_at(base, 0));
    co_yield wait(0);
    co_yield load(4, line_at(base, 1));
    co_yield load(4, line_at(base, 0));
    co_yield wait(0);
  });
  EXPECT_EQ(run.count("gpus.l1v.load_hits"), GetParam() ? 0U : 1U);
  EXPECT_EQ(run.count("gpus.l1v.fills"), GetParam() ? 3U : 2U);
}

// An instruction of four lines has one way: with at_miss each line waits for the one before it.
TEST_P(L1Victim, IsMissingWhereAllWaysAreReservedAndComesWithAFill) {
  const Outcome run = run_on_one_line_l1s(GetParam(), [](VirtAddr base) -> Stream {
    co_yield load(4, [=](unsigned lane) { return base + lane * 4; });
    co_yield wait(0);
  });
  EXPECT_EQ(run.count("gpus.l1v.fills"), 4U);
  EXPECT_EQ(run.count("gpus.cu.stalled_instructions") != 0, GetParam());
  if (GetParam()) {
    EXPECT_GT(run.result.cycles, 4000U);
  } else {
    EXPECT_LT(run.result.cycles, 2000U);
  }
}

// What comes for a load that a store has overtaken is not kept: its way is free again at once.
TEST_P(L1Victim, IsNotKeptFreeForALineThatWillNotBeKept) {
  const Outcome run = run_on_one_line_l1s(GetParam(), [](VirtAddr base) -> Stream {
    co_yield load(4, line_at(base, 0));
    co_yield store(4, line_at(base, 0));
    co_yield load(4, line_at(base, 1));
    co_yield wait(0);
    co_yield load(4, line_at(base, 1));
    co_yield wait(0);
  });
  EXPECT_EQ(run.count("gpus.cu.stalled_instructions"), 0U);
  EXPECT_EQ(run.count("gpus.l1v.load_hits"), 1U);
}

TEST_P(L1Victim, IsNotNeededByAnAtomic) {
  const Outcome run = run_on_one_line_l1s(GetParam(), [](VirtAddr base) -> Stream {
    co_yield load(4, line_at(base, 0));
    co_yield wait(0);
    co_yield atomic(4, line_at(base, 1));
    co_yield load(4, line_at(base, 0));
    co_yield wait(0);
  });
  EXPECT_EQ(run.count("gpus.l1v.load_hits"), 1U);
}

TEST_P(L1Victim, OfAFenceIsFreeForWhatComesAfterIt) {
  const Outcome run = run_on_one_line_l1s(GetParam(), [](VirtAddr base) -> Stream {
    for (unsigned i = 0; i < 4; ++i) {
      co_yield load(4, line_at(base, i));
      co_yield fence();
    }
    co_yield load(4, line_at(base, 3));
    co_yield load(4, line_at(base, 3));
    co_yield wait(0);
  });
  EXPECT_EQ(run.count("gpus.l1v.fills"), 5U);
}

// Two wavefronts of a compute unit load two lines by its scalar L1 of one.
TEST_P(L1Victim, OfAScalarLoadComesWithAFillToo) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Distribute);
  script->launch(groups_of(1, 128), [=](const Script&, const Wave& wave) -> Stream {
    return [](VirtAddr at) -> Stream {
      co_yield scalar_load(4, at);
      co_yield wait(0);
    }(base + wave.index * 64);
  });
  const Outcome run = simulate(one_line_l1s(GetParam()), {script});
  EXPECT_EQ(run.count("gpus.l1s.fills"), 2U);
  if (GetParam()) {
    EXPECT_GT(run.result.cycles, 2000U);
  } else {
    EXPECT_LT(run.result.cycles, 2000U);
  }
}

/// Two GPUs of one compute unit, whose L2s have one line and hold lines of the other GPU too.
class RemoteLineVictim : public ::testing::TestWithParam<bool> {
 protected:
  /// GPU 1 loads its own line; then GPU 0 loads its own and, while that is on its way, plays `kernel` on the line that
  /// GPU 1 holds.
  template <class Kernel>
  Outcome run(Kernel kernel) {
    auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(2 * kPageBytes, Placement::Interleave);
    script->launch(groups_of(2, 128, Split::RoundRobin), [=](const Script&, const Wave& wave) -> Stream {
      if (wave.group_x == 1) return load_line(base + kPageBytes, wave.index == 0 ? 0 : 30'000);
      return wave.index == 0 ? load_line(base, 10'000) : kernel(base + kPageBytes);
    });
    return simulate(
        test_system({"gpus=2", "gpu.shader_arrays=1", "gpu.cus_per_array=1", "gpu.dram.capacity=64MiB",
                     "host.dram.capacity=64MiB", "gpu.dram.model=fixed", "gpu.dram.latency=5000", "gpu.l2.size=64",
                     "gpu.l2.ways=1", "gpu.l2.banks=1", "gpu.cu.scalar_cycles=1", "remote_cache=l1l2",
                     std::string("gpu.l2.victim=") + (GetParam() ? "at_miss" : "at_fill")}),
        {script});
  }

 private:
  static Stream load_line(VirtAddr at, unsigned after) {
    if (after != 0) co_yield salu(after);
    co_yield load(4, line_at(at, 0));
    co_yield wait(0);
  }
};
INSTANTIATE_TEST_SUITE_P(Times, RemoteLineVictim, ::testing::Bool(),
                         [](const auto& time) { return time.param ? "AtMiss" : "AtFill"; });

// The only way is reserved for GPU 0's own line when the remote one comes: it answers the load and is not kept.
TEST_P(RemoteLineVictim, IsNoReservedWay) {
  const Outcome outcome = run([](VirtAddr at) -> Stream {
    co_yield salu(11'000);
    co_yield load(4, line_at(at, 0));
    co_yield wait(0);
  });
  EXPECT_EQ(outcome.count("gpu0.l2.remote.reads"), 1U);
  EXPECT_EQ(outcome.count("gpu0.l2.remote.fills"), GetParam() ? 0U : 1U);
  EXPECT_EQ(outcome.count("gpu0.l2.remote.evictions"), GetParam() ? 0U : 1U);
  EXPECT_EQ(outcome.count("gpu0.l2.remote.poisoned_fills"), 0U);
}

TEST_P(RemoteLineVictim, OfAStoreIsNoReservedWay) {
  const Outcome outcome = run([](VirtAddr at) -> Stream {
    co_yield salu(11'000);
    co_yield store(4, [at](unsigned lane) { return lane < 16 ? at + lane * 4 : kIdle; });
  });
  EXPECT_EQ(outcome.count("gpu0.l2.remote.writes"), 1U);
  EXPECT_EQ(outcome.count("gpu0.l2.remote.write_allocations"), GetParam() ? 0U : 1U);
}

}  // namespace
}  // namespace nearfar::victim_test
