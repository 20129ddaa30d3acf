// Designs of the ATS system in whole machines: storms on tiny structures with the oracles on, the same bits on any
// number of threads, and which of them can be combined.
#include <gtest/gtest.h>

#include "config/error.h"
#include "designs/tiny_machine.h"

namespace nearfar::ats_machine_test {
namespace {

std::vector<std::shared_ptr<const Workload>> programs(std::uint64_t seed) {
  return storm_programs(seed, seed % 2 == 1);
}

const std::vector<std::vector<std::string>> kChoices = {{},      {"least-tlb"},        {"tlb-probing"},
                                                        {"dws"}, {"least-tlb", "dws"}, {"tlb-probing", "dws"}};

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSeeds = 3;  // sanitizers take ten times as long
#else
constexpr std::uint64_t kSeeds = 10;
#endif

TEST(AtsDesignStorm, LosesNothingAndNeverStops) {
  for (const auto& designs : kChoices) {
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
      SCOPED_TRACE((designs.empty() ? "baseline" : designs.front()) + " " + std::to_string(seed));
      const Outcome run = simulate(tiny_machine(TranslationKind::Ats, designs, seed), programs(seed));
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
      const SystemSpec system = tiny_machine(TranslationKind::Ats, designs, seed);
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
}  // namespace nearfar::ats_machine_test
