// Designs of the ATS system in whole machines: storms on tiny structures with the oracles on, the same bits on any
// number of threads, and which of them can be combined.
#include <gtest/gtest.h>

#include <pcg_random.hpp>

#include "config/error.h"
#include "designs/design.h"
#include "machine/script.h"

namespace nearfar {
namespace {

Stream wander(VirtAddr base, std::uint64_t pages, std::uint64_t seed) {
  pcg32 random(seed);
  for (unsigned i = 0; i < 20; ++i) {
    const std::uint64_t draw = random();
    const auto lanes = [=](unsigned lane) {
      return base + (draw * (lane / 8 + 1) * 2654435761ULL >> 9) % pages * kPageBytes + lane * 8 + draw % 4 * 512;
    };
    if (random() % 4 == 0) {
      co_yield store(4, lanes);
    } else {
      co_yield load(4, lanes);
    }
    if (random() % 8 == 0) co_yield wait(0);
  }
}

std::shared_ptr<Script> wanderers(std::uint64_t seed, std::uint32_t groups) {
  auto script = std::make_shared<Script>();
  const std::uint64_t pages = 6 + seed % 40;
  const VirtAddr base = script->buffer(pages * kPageBytes, Placement::Interleave);
  for (unsigned launch = 0; launch < 2; ++launch) {
    script->launch(groups_of(groups, 128, Split::RoundRobin), [=](const Script&, const Wave& wave) {
      return wander(base, pages, seed * 1000003 + launch * 7919 + wave.group_x * 131 + wave.index);
    });
  }
  return script;
}

std::vector<std::shared_ptr<const Workload>> programs(std::uint64_t seed) {
  if (seed % 2 == 0) return {wanderers(seed, 24)};
  return {wanderers(seed, 6), wanderers(seed + 1, 12), wanderers(seed + 2, 8), wanderers(seed + 3, 3)};
}

SystemSpec tiny_ats(const std::vector<std::string>& designs, std::uint64_t seed) {
  std::vector<std::string> all = {"gpu.shader_arrays=2",      "gpu.cus_per_array=2",       "gpu.cu.waves_per_simd=2",
                                  "gpu.l1_tlb.ways=1",        "gpu.l2_tlb.ways=1",         "iommu.tlb.ways=1",
                                  "translation.observe=true", "translation.snapshot=5000", "watchdog.cycles=3000000"};
  const auto number = [&](const char* key, std::uint64_t value) { all.push_back(key + std::to_string(value)); };
  number("gpu.l1_tlb.entries=", 1 + seed % 3);
  number("gpu.l1_tlb.mshrs=", 1 + seed % 2);
  number("gpu.l2_tlb.entries=", 1 + seed % 4);
  number("gpu.l2_tlb.mshrs=", 1 + seed % 3);
  number("iommu.tlb.entries=", 1 + seed % 5);
  number("iommu.walkers=", 4 + seed % 2);
  number("iommu.pw_queue.entries=", 4 + seed % 7);
  number("iommu.pending=", seed % 4);
  all.push_back(std::string("walk.timing=") + (seed % 6 == 5 ? "memory" : "fixed-total"));
  if (seed % 3 == 2) {
    all.emplace_back("placement.initial=host");
    all.emplace_back("placement.policy=first-touch");
    number("uvm.batch_size=", 1 + seed % 4);
    number("uvm.concurrent_migrations=", seed % 2 == 0 ? 1 : 64);
  }
  const auto has = [&](const char* name) { return std::ranges::find(designs, name) != designs.end(); };
  if (has("least-tlb")) {
    number("least_tlb.tracker.entries=", 8 * (1 + seed % 4));
    number("least_tlb.spill.count=", seed % 4);
    all.push_back(std::string("least_tlb.race=") + (seed % 5 == 0 ? "false" : "true"));
    all.push_back(std::string("least_tlb.mode=") + (seed % 7 == 6 ? "multi" : "auto"));
  }
  if (has("tlb-probing")) all.push_back(std::string("tlb_probing.overlap=") + (seed % 4 < 2 ? "true" : "false"));
  if (has("dws"))
    all.push_back(std::string("dws.mode=") + (seed % 3 == 0 ? "dws++" : seed % 3 == 1 ? "dws" : "strict"));
  return load_system_with(designs, "ats-4gpu", all).spec;
}

const std::vector<std::vector<std::string>> kChoices = {{},      {"least-tlb"},        {"tlb-probing"},
                                                        {"dws"}, {"least-tlb", "dws"}, {"tlb-probing", "dws"}};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 6;
#else
constexpr std::uint64_t kSeeds = 10;
#endif

TEST(AtsDesignStorm, LosesNothingAndNeverStops) {
  for (const auto& designs : kChoices) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE((designs.empty() ? "baseline" : designs.front()) + " " + std::to_string(seed));
      const Outcome run = simulate(tiny_ats(designs, seed), programs(seed));
      EXPECT_GT(run.count("l2_miss.count"), 100U);
    }
  }
}

TEST(AtsDesignThreads, GiveTheSameStatistics) {
  // One process and several; the second with page requests.
  const std::vector<std::vector<std::string>> choices = {{}, {"least-tlb", "dws"}, {"tlb-probing"}};
  for (const auto& designs : choices) {
    for (std::uint64_t seed : {4, 5}) {
      SCOPED_TRACE((designs.empty() ? "baseline" : designs.front()) + " " + std::to_string(seed));
      const SystemSpec system = tiny_ats(designs, seed);
      const Outcome one = simulate(system, programs(seed), false, 1);
      for (const unsigned threads : {2U, 4U}) {
        const Outcome many = simulate(system, programs(seed), false, threads);
        ASSERT_EQ(one.result.statistics.size(), many.result.statistics.size());
        for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
          ASSERT_EQ(one.result.statistics[i].name, many.result.statistics[i].name);
          ASSERT_EQ(one.result.statistics[i].count, many.result.statistics[i].count) << one.result.statistics[i].name;
        }
        ASSERT_EQ(one.result.series.size(), many.result.series.size());
        for (std::size_t i = 0; i < one.result.series.size(); ++i) {
          ASSERT_EQ(one.result.series[i].values, many.result.series[i].values) << one.result.series[i].name;
        }
      }
    }
  }
}

TEST(AtsStatistics, OfProcessesAddUp) {
  const std::vector<std::string> overrides = {
      "gpu.l1_tlb.entries=1", "gpu.l1_tlb.ways=1", "gpu.l2_tlb.entries=2",     "gpu.l2_tlb.ways=2",
      "iommu.tlb.entries=16", "iommu.tlb.ways=16", "translation.observe=true", "translation.snapshot=500"};
  const SystemSpec system = load_system_with(std::vector<std::string>{"least-tlb"}, "ats-4gpu", overrides).spec;
  const Outcome run = simulate(system, programs(3));
  for (const std::string what : {"iommu.tlb.lookups", "iommu.tlb.hits", "iommu.tlb.misses", "iommu.tlb.evictions",
                                 "host.least_tlb.spills", "host.least_tlb.remote_forwards", "gpus.l2_tlb.lookups"}) {
    std::uint64_t sum = 0;
    for (unsigned p = 0; p < 4; ++p) sum += run.count(what + ".pid" + std::to_string(p));
    EXPECT_EQ(sum, run.count(what)) << what;
  }
  EXPECT_GT(run.count("iommu.tlb.lookups.pid2"), 0U);
  // Entries by home, at each instant: never more than there are.
  ASSERT_FALSE(run.result.series.empty());
  std::vector<std::uint64_t> sums;
  for (const Series& series : run.result.series) {
    if (!series.name.starts_with("iommu.tlb.occupancy.")) continue;
    sums.resize(series.values.size());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += series.values[i];
  }
  ASSERT_GT(sums.size(), 3U);
  EXPECT_LE(std::ranges::max(sums), 16U);
  EXPECT_GT(std::ranges::max(sums), 0U);
}

std::string error_of(const std::vector<std::string>& designs, const std::string& system,
                     const std::vector<std::string>& overrides) {
  try {
    load_system_with(designs, system, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return {};
}

TEST(AtsDesigns, AreRefusedWhereTheyCannotBe) {
  const auto expect = [](const std::string& error, std::initializer_list<const char*> words) {
    for (const char* word : words) EXPECT_NE(error.find(word), std::string::npos) << error << "\n  lacks " << word;
  };
  expect(error_of({"least-tlb", "tlb-probing"}, "ats-4gpu", {}), {"least-tlb", "tlb-probing", "IOMMU TLB content"});
  expect(error_of({"least-tlb", "infinite-iommu-tlb"}, "ats-4gpu", {}), {"infinite-iommu-tlb", "IOMMU TLB content"});
  expect(error_of({"dws", "ideal-walkers"}, "ats-4gpu", {}), {"dws", "ideal-walkers", "walk order"});
  expect(error_of({"least-tlb"}, "mmu-4gpu", {}), {"least-tlb", "mmu"});
  expect(error_of({"least-tlb"}, "ats-4gpu", {"gpus=3"}), {"least_tlb.tracker.entries", "gpus"});
  expect(error_of({"dws"}, "ats-4gpu", {"iommu.walkers=0"}), {"iommu.walkers"});
  EXPECT_EQ(error_of({"least-tlb", "dws"}, "ats-4gpu", {}), "");
  EXPECT_EQ(error_of({"dws"}, "mmu-4gpu", {}), "");

  RunRequest request;
  request.system =
      load_system_with(std::vector<std::string>{"dws"}, "ats-4gpu", std::vector<std::string>{"iommu.walkers=2"}).spec;
  request.applications = programs(1);
  EXPECT_THROW(run(request), InputError);
}

}  // namespace
}  // namespace nearfar
