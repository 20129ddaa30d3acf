// Storms: random programs on tiny structures, where every queue is full and every register taken. The oracles watch;
// nothing may be lost, wrong or stuck.
#include <gtest/gtest.h>

#include <pcg_random.hpp>

#include "machine/script.h"

namespace nearfar::storm_test {
namespace {

/// A wavefront's fate drawn from a seed: loads, stores, atomics, scalar loads, barriers, fences over few pages.
Stream storm(VirtAddr base, std::uint64_t lines, std::uint64_t seed, bool barriers) {
  pcg32 random(seed);
  for (unsigned i = 0; i < 24; ++i) {
    const std::uint32_t what = random() % 16;
    const std::uint64_t draw = random();
    const auto lanes = [=](unsigned lane) {
      if ((draw >> (lane % 32) & 3) == 0) return kIdle;
      return base + (draw * (lane + 1) * 2654435761ULL >> 7) % lines * 64 + lane % 16 * 4;
    };
    const auto whole = [=](unsigned lane) { return base + (draw % (lines / 16)) * 1024 + std::uint64_t{lane} * 16; };
    if (what < 6) {
      co_yield load(4, lanes);
    } else if (what < 9) {
      co_yield store(4, lanes);
    } else if (what < 11) {
      co_yield store(16, whole);
    } else if (what == 11) {
      co_yield atomic(4, lanes);
    } else if (what == 12) {
      co_yield scalar_load(4, base + draw % (lines * 16) * 4);
    } else if (what == 13 && draw % 4 == 0) {
      co_yield fence();
    } else {
      co_yield wait(static_cast<unsigned>(draw % 3));
      co_yield valu(static_cast<unsigned>(draw % 7));
      co_yield local(static_cast<unsigned>(draw % 3));
    }
    if (barriers && i % 8 == 7) co_yield barrier();
  }
}

std::shared_ptr<Script> storm_script(std::uint64_t seed) {
  auto script = std::make_shared<Script>();
  const std::uint64_t pages = 4 + seed % 13;
  const VirtAddr base =
      script->buffer(pages * kPageBytes, seed % 2 == 0 ? Placement::Interleave : Placement::Distribute);
  for (unsigned launch = 0; launch < 3; ++launch) {
    const bool barriers = launch == 1;
    script->launch(groups_of(24, 128, launch == 2 ? Split::RoundRobin : Split::Blocks),
                   [=](const Script&, const Wave& wave) {
                     const std::uint64_t id = seed * 1000003 + launch * 7919 + wave.group_x * 131 + wave.index;
                     return storm(base, pages * 64, id, barriers);
                   });
  }
  return script;
}

std::vector<std::string> tiny_structures(std::uint64_t seed) {
  static const char* kTopologies[] = {"switch", "all-to-all", "ring", "pcie-tree"};
  return {"gpu.shader_arrays=2",
          "gpu.cus_per_array=2",
          "gpu.cu.waves_per_simd=2",
          "gpu.cu.store_buffer=" + std::to_string(1 + seed % 3),
          "gpu.dram.capacity=1GiB",
          "host.dram.capacity=1GiB",
          "gpu.l1v.size=1KiB",
          "gpu.l1v.mshrs=" + std::to_string(1 + seed % 2),
          "gpu.l1s.size=1KiB",
          "gpu.l1s.mshrs=1",
          "gpu.l2.size=4KiB",
          "gpu.l2.ways=2",
          "gpu.l2.banks=2",
          "gpu.l2.mshrs=" + std::to_string(1 + seed % 2),
          "gpu.l2.remote_mshrs=1",
          "gpu.l2.queue=" + std::to_string(1 + seed % 2),
          std::string("gpu.l1v.victim=") + (seed % 8 >= 4 ? "at_miss" : "at_fill"),
          std::string("gpu.l1s.victim=") + (seed % 8 >= 4 ? "at_miss" : "at_fill"),
          std::string("gpu.l2.victim=") + (seed % 6 >= 3 ? "at_miss" : "at_fill"),
          "gpu.dram.channels=1",
          "gpu.dram.write_queue=2",
          "gpu.dram.write_high=2",
          "gpu.dram.write_low=1",
          "gpu.dram.read_queue=2",
          std::string("gpu.dram.model=") + (seed % 3 == 0 ? "fixed" : "banked"),
          "link.credits=" + std::to_string(1 + seed % 3),
          "link.queue=" + std::to_string(1 + seed % 4),
          "link.gpus_per_switch=2",
          "link.bandwidth=8GB/s",
          std::string("link.topology=") + kTopologies[seed % 4],
          std::string("remote_cache=") + (seed % 5 == 0 ? "none" : "l1"),
          std::string("dispatch.policy=") + (seed % 7 == 0 ? "greedy" : "workload"),
          std::string("placement.initial=") + (seed % 11 == 0 ? "host" : "workload"),
          "watchdog.cycles=300000"};
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 22;  // each choice of structures at least once; sanitizers take ten times as long
#else
constexpr std::uint64_t kSeeds = 120;
#endif

TEST(Storm, TinyStructuresLoseNothingAndNeverStop) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Outcome run = simulate(test_system(tiny_structures(seed)), {storm_script(seed)});
    EXPECT_GT(run.result.accesses, 1000U);
  }
}

TEST(Storm, PerturbedLosesNothingAndNeverStops) {
  for (std::uint64_t seed = 0; seed < kSeeds; seed += 10) {
    SCOPED_TRACE(seed);
    std::vector<std::string> settings = tiny_structures(seed / 2);
    settings.push_back("perturb.draw=" + std::to_string(1 + seed % 5));
    if (seed % 3 == 0) settings.push_back("perturb.message_jitter=64");
    const Outcome run = simulate(test_system(settings), {storm_script(seed / 2)});
    EXPECT_GT(run.result.accesses, 1000U);
  }
}

/// Real translation over the same storm, on TLBs, queues and walkers of one or two.
std::vector<std::string> tiny_translation(std::uint64_t seed) {
  static const char* kPolicies[] = {"on-touch", "first-touch", "access-counter", "replication"};
  std::vector<std::string> all = tiny_structures(seed);
  const bool iommu = seed % 5 == 4;
  const auto number = [&](const char* key, std::uint64_t value) { all.push_back(key + std::to_string(value)); };
  all.push_back(std::string("translation.kind=") + (iommu ? "ats" : "mmu"));
  all.push_back(std::string("placement.initial=") + (iommu ? "blocks" : "host"));
  all.push_back(std::string("placement.policy=") + (iommu ? "pinned" : kPolicies[seed % 4]));
  number("placement.access_counter.threshold=", 1 + seed % 9);
  number("gpu.l1_tlb.entries=", 1 + seed % 3);
  all.push_back("gpu.l1_tlb.ways=1");
  number("gpu.l1_tlb.mshrs=", 1 + seed % 2);
  number("gpu.l2_tlb.entries=", 1 + seed % 4);
  all.push_back("gpu.l2_tlb.ways=1");
  number("gpu.l2_tlb.mshrs=", 1 + seed % 3);
  number("gpu.gmmu.walkers=", 1 + seed % 2);
  number("gpu.gmmu.pw_queue.entries=", 1 + seed % 2);
  number("gpu.gmmu.pw_cache.entries=", seed % 3);
  number("host.mmu.walkers=", 1 + seed % 2);
  number("host.mmu.pw_queue.entries=", 1 + seed % 2);
  all.push_back("host.mmu.tlb.entries=2");
  all.push_back("host.mmu.tlb.ways=1");
  number("iommu.walkers=", 1 + seed % 2);
  number("iommu.pw_queue.entries=", 1 + seed % 2);
  number("uvm.batch_size=", 1 + seed % 4);
  number("uvm.concurrent_migrations=", seed % 3 == 0 ? 1 : 64);
  all.push_back(std::string("page.size=") + (seed % 12 == 5 ? "2M" : "4K"));
  all.push_back(std::string("walk.timing=") + (seed % 6 == 5 ? "memory" : "fixed-level"));
  all.push_back(std::string("page_table.upper_levels=") + (seed % 8 == 7 ? "on-demand" : "prebuilt"));
  all.push_back(std::string("gpu.gmmu.replay=") + (seed % 9 == 8 ? "short" : "full"));
  all.push_back("watchdog.cycles=3000000");
  return all;
}

class StormOfTranslations : public ::testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Seeds, StormOfTranslations, ::testing::Range<std::uint64_t>(0, kSeeds / 2));

TEST_P(StormOfTranslations, LosesNothingAndNeverStops) {
  const Outcome run = simulate(test_system(tiny_translation(GetParam())), {storm_script(GetParam())});
  EXPECT_GT(run.result.accesses, 1000U);
  EXPECT_GT(run.count("l2_miss.count"), 0U);
}

TEST(StormOfTranslationsPerturbed, LosesNothingAndNeverStops) {
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    std::vector<std::string> settings = tiny_translation(seed);
    settings.push_back("perturb.draw=" + std::to_string(1 + seed));
    if (seed % 3 == 0) settings.push_back("perturb.message_jitter=64");
    const Outcome run = simulate(test_system(settings), {storm_script(seed)});
    EXPECT_GT(run.result.accesses, 1000U);
  }
}

TEST(Storm, ThreadsSeeTheSameStorm) {
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    SCOPED_TRACE(seed);
    const SystemSpec system = test_system(seed == 0 ? tiny_structures(seed) : tiny_translation(seed + 1));
    const auto script = storm_script(seed);
    const Outcome one = simulate(system, {script}, false, 1);
    const Outcome three = simulate(system, {script}, false, 3, 29);
    ASSERT_EQ(one.result.statistics.size(), three.result.statistics.size());
    for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
      EXPECT_EQ(one.result.statistics[i].count, three.result.statistics[i].count) << one.result.statistics[i].name;
    }
  }
}

}  // namespace
}  // namespace nearfar::storm_test
