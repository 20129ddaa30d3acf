// Bounded resources: none holds more than its size, and who waits for one waits for no longer than it must.
#include <gtest/gtest.h>

#include "machine/script.h"

namespace nearfar::limits_test {
namespace {

constexpr std::uint64_t kTimes = 16;

/// One wavefront touches a word of `kTimes` lines of a page, one line an instruction, and waits for nothing.
Stream touch_lines(VirtAddr page, bool stores) {
  for (std::uint64_t i = 0; i < kTimes; ++i) {
    const auto lane0 = [=](unsigned lane) { return lane == 0 ? page + i * 64 : kIdle; };
    if (stores) {
      co_yield store(4, lane0);
    } else {
      co_yield load(4, lane0);
    }
  }
}

/// That from GPU 0 on a page of GPU `home`.
Outcome touch(const SystemSpec& system, unsigned home, bool stores) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(4 * kPageBytes, Placement::Interleave);
  script->launch(groups_of(1),
                 [=](const Script&, const Wave&) { return touch_lines(base + home * kPageBytes, stores); });
  return simulate(system, {script});
}
Cycle time_of(const SystemSpec& system, unsigned home, bool stores) {
  return touch(system, home, stores).result.cycles;
}

/// Loads that are never under way together take all their latencies, one after the other.
bool one_by_one(const SystemSpec& system) {
  const Outcome run = touch(system, 1, false);
  return run.result.cycles >= run.count("latency.load.total_cycles");
}

TEST(Limit, OfTheStoreBufferIsItsSize) {
  const Cycle round_trip = 2 * test_system().link.latency;
  EXPECT_GE(time_of(test_system({"gpu.cu.store_buffer=1"}), 1, true), kTimes * round_trip);
  EXPECT_LT(time_of(test_system({"gpu.cu.store_buffer=2"}), 1, true), kTimes * round_trip);
}

/// Stores to pages whose translations have to come from the IOMMU take their room in the store buffer before they wait.
TEST(Limit, OfTheStoreBufferHoldsForStoresThatWaitForTranslations) {
  const auto with = [](const char* entries) {
    auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(kTimes * kPageBytes, Placement::Distribute);
    script->launch(groups_of(1), [=](const Script&, const Wave&) {
      return [](VirtAddr first) -> Stream {
        for (std::uint64_t i = 0; i < kTimes; ++i) {
          co_yield store(4, [=](unsigned lane) { return lane == 0 ? first + i * kPageBytes : kIdle; });
        }
      }(base);
    });
    return simulate(test_system({std::string("gpu.cu.store_buffer=") + entries, "gpu.l1_tlb.mshrs=32"}, "ats-4gpu"),
                    {script})
        .result.cycles;
  };
  const Cycle round_trip = 2 * test_system({}, "ats-4gpu").link.latency;
  EXPECT_GE(with("1"), kTimes * round_trip);
  EXPECT_LT(with("16"), kTimes * round_trip * 2 / 3);
}

/// The loads of touch(), each when the one before it has come.
Cycle time_when_waiting(const SystemSpec& system, unsigned home) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(4 * kPageBytes, Placement::Interleave);
  script->launch(groups_of(1), [=](const Script&, const Wave&) {
    return [](VirtAddr page) -> Stream {
      for (std::uint64_t i = 0; i < kTimes; ++i) {
        co_yield load(4, [=](unsigned lane) { return lane == 0 ? page + i * 64 : kIdle; });
        co_yield wait(0);
      }
    }(base + home * kPageBytes);
  });
  return simulate(system, {script}).result.cycles;
}

TEST(Limit, OfLoadsOfAWavefrontIsTheirNumber) {
  const Cycle waiting = time_when_waiting(test_system({"gpu.cu.loads_per_wave=16"}), 1);
  const auto with = [](const char* loads) {
    return time_of(test_system({std::string("gpu.cu.loads_per_wave=") + loads}), 1, false);
  };
  EXPECT_GE(with("1"), waiting * 9 / 10);
  EXPECT_LT(with("2"), waiting * 6 / 10);
  EXPECT_GE(with("2"), waiting * 4 / 10);
}

TEST(Limit, OfMissRegistersOfTheL1IsTheirNumber) {
  EXPECT_TRUE(one_by_one(test_system({"gpu.l1v.mshrs=1"})));
  EXPECT_FALSE(one_by_one(test_system({"gpu.l1v.mshrs=2"})));
}

TEST(Limit, OfMissRegistersOfTheL2IsTheirNumberForEachSide) {
  const std::vector<std::string> memory = {"gpu.l2.banks=1", "gpu.dram.model=fixed", "gpu.dram.latency=1000"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.end(), memory.begin(), memory.end());
    return test_system(more);
  };
  for (const unsigned home : {0U, 1U}) {
    const std::string mine = home == 0 ? "gpu.l2.mshrs=" : "gpu.l2.remote_mshrs=";
    const std::string others = home == 0 ? "gpu.l2.remote_mshrs=64" : "gpu.l2.mshrs=64";
    EXPECT_GE(time_of(with({mine + "1", others}), home, false), kTimes * 1000) << home;
    EXPECT_LT(time_of(with({mine + "2", others}), home, false), kTimes * 1000) << home;
  }
}

/// One instruction touches `lines` lines of a page of GPU `home`; whether it had to stall.
bool stalls(const SystemSpec& system, unsigned home, std::uint64_t lines) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(4 * kPageBytes, Placement::Interleave);
  script->launch(groups_of(1), [=](const Script&, const Wave&) {
    return [](VirtAddr page, std::uint64_t count) -> Stream {
      co_yield load(4, [=](unsigned lane) { return lane < count ? page + std::uint64_t{lane} * 64 : kIdle; });
    }(base + home * kPageBytes, lines);
  });
  return simulate(system, {script}).count("gpus.cu.stalled_instructions") != 0;
}

TEST(Limit, OfTheQueueToADestinationIsItsSize) {
  EXPECT_FALSE(stalls(test_system({"link.queue=4"}), 1, 4));
  EXPECT_TRUE(stalls(test_system({"link.queue=4"}), 1, 5));
}

TEST(Limit, OfTheQueueOfABankIsItsSize) {
  EXPECT_FALSE(stalls(test_system({"gpu.l2.banks=1", "gpu.l2.queue=4"}), 0, 4));
  EXPECT_TRUE(stalls(test_system({"gpu.l2.banks=1", "gpu.l2.queue=4"}), 0, 5));
}

TEST(Limit, OfLocalMemoryIsWhatFits) {
  constexpr unsigned kWork = 5000;
  for (const unsigned parts : {1U, 2U}) {
    const SystemSpec system =
        test_system({"gpus=1", "gpu.shader_arrays=1", "gpu.cus_per_array=1", "gpu.cu.scalar_cycles=1"});
    auto script = std::make_shared<Script>();
    script->buffer(kPageBytes, Placement::Distribute);
    Launch launch = groups_of(2);
    launch.local_bytes = static_cast<std::uint32_t>(system.gpu.cu.local_memory / parts);
    script->launch(launch, [](const Script&, const Wave&) { return []() -> Stream { co_yield salu(kWork); }(); });
    const Cycle took = simulate(system, {script}).result.cycles;
    if (parts == 1) {
      EXPECT_GE(took, 2 * kWork);
    } else {
      EXPECT_LT(took, 2 * kWork);
    }
  }
}

// ------------------------------------------------------------------------------------------------------------ barriers

constexpr unsigned kLong = 5000;

SystemSpec barrier_system() { return test_system({"gpu.cu.scalar_cycles=1"}); }

TEST(Barrier, OpensWhenTheLastWavefrontComes) {
  auto script = std::make_shared<Script>();
  script->buffer(kPageBytes, Placement::Distribute);
  script->launch(groups_of(1, 3 * 64), [](const Script&, const Wave& wave) {
    return [](unsigned index) -> Stream {
      if (index == 2) co_yield salu(kLong);
      co_yield barrier();
      if (index == 0) co_yield salu(kLong);
    }(wave.index);
  });
  EXPECT_GE(simulate(barrier_system(), {script}).result.cycles, 2 * kLong);
}

TEST(Barrier, DoesNotWaitForWavefrontsThatHaveEnded) {
  auto script = std::make_shared<Script>();
  script->buffer(kPageBytes, Placement::Distribute);
  script->launch(groups_of(1, 3 * 64), [](const Script&, const Wave& wave) {
    return [](unsigned index) -> Stream {
      if (index == 1) {
        co_yield salu(kLong);  // the others are at the barrier when it ends
        co_return;
      }
      co_yield barrier();
    }(wave.index);
  });
  const Cycle took = simulate(barrier_system(), {script}).result.cycles;
  EXPECT_GE(took, kLong);
  EXPECT_LT(took, 2 * kLong);
}

// ---------------------------------------------------------------------------------------------------------- L1 caches

/// Hits of one wavefront that reads these lines of a page of GPU `home`, each when the one before it has come.
std::uint64_t l1_hits(std::vector<std::string> overrides, unsigned home, std::vector<unsigned> lines) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(4 * kPageBytes, Placement::Interleave);
  script->launch(groups_of(1), [=](const Script&, const Wave&) {
    return [](VirtAddr page, std::vector<unsigned> all) -> Stream {
      for (const unsigned line : all) {
        co_yield load(4, [=](unsigned lane) { return lane == 0 ? page + line * 64 : kIdle; });
        co_yield wait(0);
      }
    }(base + home * kPageBytes, lines);
  });
  return simulate(test_system(std::move(overrides)), {script}).count("gpus.l1v.load_hits");
}

TEST(L1Cache, ReplacesTheLineThatWasUsedLeastRecently) {
  // Two ways of one set: the third line takes the place of the second, since the first has been used again.
  const std::vector<std::string> small = {"gpu.l1v.size=512B", "gpu.l1v.ways=2", "gpu.l1v.index=modulo",
                                          "gpu.dram.capacity=1GiB", "host.dram.capacity=1GiB"};
  EXPECT_EQ(l1_hits(small, 0, {0, 4, 0, 8, 0}), 2U);
}

TEST(L1Cache, HoldsRemoteLinesWhereTheSystemSaysSo) {
  EXPECT_EQ(l1_hits({"remote_cache=l1"}, 1, {0, 0}), 1U);
  EXPECT_EQ(l1_hits({"remote_cache=none"}, 1, {0, 0}), 0U);
  EXPECT_EQ(l1_hits({"remote_cache=none"}, 0, {0, 0}), 1U);
}

}  // namespace
}  // namespace nearfar::limits_test
