// Trans-FW and IDYLL in whole machines: storms on tiny structures with the oracles on, the same bits on any number of
// threads, many GPUs, large pages, and which of them can be combined.
#include <gtest/gtest.h>

#include "config/error.h"
#include "designs/tiny_machine.h"

namespace nearfar::mmu_machine_test {
namespace {

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
    const Outcome run = simulate(tiny_machine(TranslationKind::Mmu, designs, seed), {roamers(seed, 4 + seed % 11, 16)});
    EXPECT_GT(run.count("l2_miss.count"), 0U);
    expect_parts_add_up(run);
  }
}

TEST_P(MmuDesigns, GiveTheSameStatisticsOnAnyNumberOfThreads) {
  const Names& designs = kChoices[GetParam()];
  for (const std::uint64_t seed : {1, 2}) {
    const SystemSpec system = tiny_machine(TranslationKind::Mmu, designs, seed);
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
}  // namespace nearfar::mmu_machine_test
