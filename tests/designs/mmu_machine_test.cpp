// Trans-FW and IDYLL in whole machines: storms on tiny structures with the oracles on, the same bits on any number of
// threads, many GPUs, large pages, and which of them can be combined.
#include <gtest/gtest.h>

#include <pcg_random.hpp>

#include "config/error.h"
#include "designs/design.h"
#include "machine/script.h"

namespace nearfar {
namespace {

/// Loads, stores and atomics of a wavefront over a few pages that all GPUs want.
Stream roam(VirtAddr base, std::uint64_t lines, std::uint64_t seed) {
  pcg32 random(seed);
  for (unsigned i = 0; i < 16; ++i) {
    const std::uint64_t draw = random();
    const auto lanes = [=](unsigned lane) {
      return base + (draw * (lane / 8 + 1) * 2654435761ULL >> 7) % lines * 64 + lane % 16 * 4;
    };
    switch (random() % 8) {
      case 0:
      case 1: co_yield store(4, lanes); break;
      case 2: co_yield atomic(4, lanes); break;
      case 3: co_yield wait(0); break;
      default: co_yield load(4, lanes);
    }
  }
}

std::shared_ptr<Script> roamers(std::uint64_t seed, std::uint64_t pages, std::uint32_t groups) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(pages * kPageBytes, Placement::Interleave);
  for (unsigned launch = 0; launch < 2; ++launch) {
    script->launch(groups_of(groups, 128, Split::RoundRobin), [=](const Script&, const Wave& wave) {
      return roam(base, pages * 64, seed * 1000003 + launch * 7919 + wave.group_x * 131 + wave.index);
    });
  }
  return script;
}

using Names = std::vector<std::string>;

const std::vector<Names> kChoices = {{"trans-fw-prt"},
                                     {"trans-fw-ft"},
                                     {"trans-fw"},
                                     {"idyll-dir"},
                                     {"idyll-lazy"},
                                     {"idyll"},
                                     {"idyll-inmem", "idyll-lazy"},
                                     {"trans-fw", "idyll"},
                                     {"trans-fw", "idyll-inmem", "idyll-lazy"},
                                     {"trans-fw-ft", "idyll-dir", "zero-latency-invalidation"}};

/// Whether a design is among those named, or a part of one.
bool has(const Names& designs, const std::string& name) {
  return std::ranges::any_of(choose_designs(designs), [&](const Design* design) { return design->name == name; });
}

SystemSpec tiny_mmu(const Names& designs, std::uint64_t seed, const Names& more = {}) {
  static const char* kPolicies[] = {"on-touch", "access-counter", "replication", "first-touch"};
  static const char* kOverflows[] = {"conservative", "drop", "exact"};
  Names all = {"gpu.shader_arrays=2",    "gpu.cus_per_array=2",     "gpu.cu.waves_per_simd=2", "gpu.l1_tlb.ways=1",
               "gpu.l2_tlb.ways=1",      "host.mmu.tlb.ways=1",     "host.mmu.tlb.entries=2",  "gpu.l2.size=64KiB",
               "gpu.dram.capacity=1GiB", "host.dram.capacity=1GiB", "watchdog.cycles=3000000"};
  const auto set = [&](const std::string& key, const auto& value) {
    if constexpr (std::is_integral_v<std::decay_t<decltype(value)>>) {
      all.push_back(key + "=" + std::to_string(value));
    } else {
      all.push_back(key + "=" + value);
    }
  };
  set("placement.policy", kPolicies[seed % 4]);
  set("placement.initial", seed % 5 == 0 ? "distribute" : "host");
  set("placement.access_counter.threshold", 1 + seed % 9);
  set("gpu.l1_tlb.entries", 1 + seed % 3);
  set("gpu.l2_tlb.entries", 1 + seed % 4);
  set("gpu.l2_tlb.mshrs", 1 + seed % 5);
  set("gpu.gmmu.walkers", 1 + seed % 2);
  set("gpu.gmmu.pw_queue.entries", 1 + seed % 3);
  set("gpu.gmmu.replay", seed % 9 == 8 ? "short" : "full");
  set("host.mmu.walkers", 1 + seed % 2);
  set("host.mmu.pw_queue.entries", 1 + seed % 3);
  set("uvm.concurrent_migrations", seed % 3 == 0 ? 2 : 64);
  set("page.size", seed % 7 == 6 ? "2M" : "4K");
  set("page_table.upper_levels", seed % 8 == 7 ? "on-demand" : "prebuilt");
  if (has(designs, "trans-fw-prt")) {
    set("trans_fw.prt.buckets", 1 + seed % 3);
    set("trans_fw.prt.overflow_counters", 1 + seed % 4);
    set("trans_fw.prt.overflow", kOverflows[seed % 3]);
  }
  if (has(designs, "trans-fw-ft")) {
    set("trans_fw.ft.buckets", 1 + seed % 9);
    set("trans_fw.ft.threshold_percent", seed % 2 * 50);
  }
  if (has(designs, "idyll-lazy")) {
    set("idyll.irmb.bases", 1 + seed % 2);
    set("idyll.irmb.offsets", 1 + seed % 3);
    set("idyll.irmb.writeback_buffers", 1 + seed % 2);
    set("idyll.irmb.idle_writeback", seed % 3 == 0 ? "false" : "true");
  }
  all.insert(all.end(), more.begin(), more.end());
  return load_system_with(designs, "mmu-4gpu", all).spec;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 4;
#else
constexpr std::uint64_t kSeeds = 16;
#endif

class MmuDesigns : public ::testing::TestWithParam<std::size_t> {};
INSTANTIATE_TEST_SUITE_P(All, MmuDesigns, ::testing::Range<std::size_t>(0, kChoices.size()));

TEST_P(MmuDesigns, LoseNothingInAStormAndNeverStop) {
  const Names& designs = kChoices[GetParam()];
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    SCOPED_TRACE(seed);
    const Outcome run = simulate(tiny_mmu(designs, seed), {roamers(seed, 4 + seed % 11, 16)});
    EXPECT_GT(run.count("l2_miss.count"), 0U);
    std::uint64_t parts = 0;
    for (const StatValue& value : run.result.statistics) {
      if (value.name.starts_with("l2_miss.component.")) parts += value.count;
    }
    EXPECT_EQ(parts, run.count("l2_miss.latency") + run.count("l2_miss.discarded"));
  }
}

TEST_P(MmuDesigns, GiveTheSameStatisticsOnAnyNumberOfThreads) {
  const Names& designs = kChoices[GetParam()];
  for (const std::uint64_t seed : {1, 2}) {
    const SystemSpec system = tiny_mmu(designs, seed);
    const auto script = roamers(seed, 9, 16);
    const Outcome one = simulate(system, {script}, true, 1);
    for (const unsigned threads : {2U, 4U}) {
      const Outcome many = simulate(system, {script}, false, threads, threads == 2 ? 0 : 37);
      ASSERT_EQ(one.result.statistics.size(), many.result.statistics.size());
      for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
        ASSERT_EQ(one.result.statistics[i].count, many.result.statistics[i].count) << one.result.statistics[i].name;
      }
    }
  }
}

TEST(MmuDesignsTogether, WorkOnManyGpus) {
  for (const char* gpus : {"gpus=8", "gpus=16", "gpus=32"}) {
    SCOPED_TRACE(gpus);
    const Names designs = {"trans-fw", "idyll", "access-counter"};
    const SystemSpec system =
        load_system_with(designs, "mmu-4gpu",
                         Names{gpus, "gpu.shader_arrays=1", "gpu.cus_per_array=2", "gpu.l2_tlb.entries=4",
                               "gpu.l2_tlb.ways=1", "host.mmu.walkers=1", "placement.access_counter.threshold=4"})
            .spec;
    const Outcome run = simulate(system, {roamers(5, 20, 64)});
    EXPECT_GT(run.count("host.ft.forwards"), 0U);
    EXPECT_GT(run.count("gpus.prt.short_circuits"), 0U);
    EXPECT_GT(run.count("gpus.irmb.inserts"), 0U);
    EXPECT_GT(run.count("host.directory.targets"), 0U);
    EXPECT_EQ(run.count("host.directory.alias_targets") > 0, std::string(gpus) != "gpus=8");
  }
}

TEST(MmuDesignsTogether, AreRefusedWhereTheyDecideTheSame) {
  const auto refused = [](const Names& names) {
    try {
      choose_designs(names);
    } catch (const InputError& error) {
      return std::string(error.what()).find("both decide the seam") != std::string::npos;
    }
    return false;
  };
  EXPECT_TRUE(refused({"idyll", "zero-latency-invalidation"}));
  EXPECT_TRUE(refused({"idyll", "idyll-inmem"}));
  EXPECT_THROW(load_system_with(Names{"idyll"}, "mmu-4gpu", Names{"invalidate.how=zero-latency"}), InputError);
  EXPECT_THROW(load_system_with(Names{"idyll-inmem"}, "mmu-4gpu", Names{"idyll.vm_cache.ways=3"}), InputError);
  EXPECT_THROW(load_system_with(Names{"trans-fw"}, "ats-4gpu", {}), InputError);
}

}  // namespace
}  // namespace nearfar
