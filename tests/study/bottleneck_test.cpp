// What bounds a run, by runs of which that is known, and by results that are worked by hand.
#include "study/bottleneck.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "study/latency_components.h"
#include "study/statistic.h"

namespace nearfar::bottleneck_test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

struct Case {
  const char* name;
  const char* workload;
  std::vector<std::string> parameters;
  const char* system;
  std::vector<std::string> overrides;
  Bound bound;
  bool latency;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.workload << " on " << c.system; }

Report run_case(const Case& c) {
  Experiment experiment;
  experiment.size = SizeClass::Small;
  experiment.parameters = c.parameters;
  const NamedSystem machine = make_machine(c.system, "baseline", c.overrides);
  return perform(c.workload, make_applications(c.workload, experiment, {c.workload}), experiment, machine, {});
}

class BoundRun : public ::testing::TestWithParam<Case> {};

TEST_P(BoundRun, IsSaidToBeBoundByIt) {
  const auto found = bottleneck(run_case(GetParam()));
  ASSERT_TRUE(found.has_value());
  EXPECT_STREQ(bound_name(found->bound), bound_name(GetParam().bound)) << found->reason;
  EXPECT_EQ(found->latency, GetParam().latency) << found->reason;
}

INSTANTIATE_TEST_SUITE_P(
    Bottleneck, BoundRun,
    ::testing::Values(Case{"Links", "MT", {"width=512"}, "ideal-4gpu", {"link.bandwidth=8GB/s"}, Bound::Links, false},
                      Case{"LinkLatency",
                           "PR",
                           {"n=4096", "m=32768"},
                           "ideal-4gpu",
                           {"link.latency=5000", "link.bandwidth=1TB/s"},
                           Bound::Links,
                           true},
                      Case{"Walkers", "MT", {"width=512"}, "ats-4gpu", {"iommu.walkers=1"}, Bound::Walkers, false},
                      Case{"WalkLatency",
                           "MT",
                           {"width=512"},
                           "ats-4gpu",
                           {"iommu.walkers=0", "walk.cycles_per_level=5000", "walk.timing=fixed-level"},
                           Bound::Walkers,
                           true},
                      Case{"Dram", "FIR", {"n=65536"}, "ideal-4gpu", {"gpu.dram.channels=1"}, Bound::Dram, false},
                      Case{"DramLatency",
                           "MT",
                           {"width=512"},
                           "ideal-4gpu",
                           {"gpu.dram.model=fixed", "gpu.dram.latency=5000", "link.bandwidth=1TB/s"},
                           Bound::Dram,
                           true},
                      Case{"Issue", "FIR", {"n=262144"}, "ideal-4gpu", {}, Bound::Issue, false},
                      Case{"Migration",
                           "MT",
                           {"width=512"},
                           "mmu-4gpu",
                           {"link.bandwidth=1TB/s", "migration.setup_cycles=5000"},
                           Bound::Migration,
                           true},
                      Case{"Copies", "FIR", {"n=65536", "copies=1"}, "ideal-4gpu", {}, Bound::Copies, false}),
    [](const auto& of) { return of.param.name; });

// --- by hand

StatValue count(const char* name, std::uint64_t value) { return {name, false, value, 0}; }

/// One GPU with four compute units of four SIMDs and two DRAM channels, for 1000 cycles.
Report made_up(std::vector<StatValue> statistics) {
  Report report;
  report.applications = {{"MT", {}, nullptr}};
  SystemSpec& spec = report.machine.loaded.spec;
  spec.gpus = 1;
  spec.gpu.shader_arrays = 1;
  spec.gpu.cus_per_array = 4;
  spec.gpu.cu.simds = 4;
  spec.gpu.dram.channels = 2;
  report.result.cycles = 1000;
  std::ranges::sort(statistics, {}, &StatValue::name);
  report.result.statistics = std::move(statistics);
  return report;
}

TEST(Bottleneck, UtilizationIsBusyTimeOverTheTimeOfAllUnits) {
  const Report report = made_up({count("gpu0.cu.simd_busy_cycles", 4000), count("gpu0.dram.bus_busy_cycles", 1000),
                                 count("gpu0.link.busy_cycles", 100)});
  const auto found = utilizations(report);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(utilization_name(found[0]), "DRAM of GPU 0");
  EXPECT_DOUBLE_EQ(found[0].share, 0.5);
  EXPECT_EQ(utilization_name(found[1]), "SIMDs of GPU 0");
  EXPECT_DOUBLE_EQ(found[1].share, 0.25);
  EXPECT_EQ(utilization_name(found[2]), "egress of GPU 0");
  EXPECT_DOUBLE_EQ(found[2].share, 0.1);
}

TEST(Bottleneck, WalkersAreBusyForTheSumOfTheirHistogram) {
  Report report = made_up({count("gpu0.gmmu.walk_service.below_128", 3),
                           count("gpu0.gmmu.walk_service.below_512", 1),
                           {"gpu0.gmmu.walk_service.mean", true, 0, 200.0}});
  report.machine.loaded.spec.gpu.gmmu.walkers = 2;
  EXPECT_EQ(histogram_sum(report.result, "gpu0.gmmu.walk_service"), 800.0);
  const auto found = utilizations(report);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_DOUBLE_EQ(found[0].share, 0.4);
  report.machine.loaded.spec.gpu.gmmu.walkers = 0;  // without limit
  EXPECT_THAT(utilizations(report), IsEmpty());
}

TEST(Bottleneck, SaturationBeginsAtThreeQuarters) {
  const auto at = [](std::uint64_t busy) {
    return *bottleneck(made_up({count("gpu0.cu.simd_busy_cycles", 100), count("gpu0.dram.bus_busy_cycles", busy),
                                count("gpu0.cu.groups", 4), count("latency.load.request_link_cycles", 4000)}));
  };
  EXPECT_EQ(at(1500).bound, Bound::Dram);
  EXPECT_FALSE(at(1500).latency);
  EXPECT_EQ(at(1499).bound, Bound::Links);
  EXPECT_TRUE(at(1499).latency);
  EXPECT_THAT(bottleneck_text(at(1499)), HasSubstr("the latency of links: 100 % of the time"));
}

TEST(Bottleneck, FewAccessesUnderWayMeanIssue) {
  const auto with = [](std::uint64_t waiting, std::uint64_t stalled) {
    return bottleneck(made_up({count("gpu0.cu.simd_busy_cycles", 100), count("gpu0.cu.groups", 4),
                               count("latency.load.dram_cycles", waiting), count("gpus.cu.vector_memory", 100),
                               count("gpus.cu.stalled_instructions", stalled)}))
        ->bound;
  };
  // Four compute units for 1000 cycles: half an access each is 2000 cycles.
  EXPECT_EQ(with(1999, 9), Bound::Issue);
  EXPECT_EQ(with(2000, 9), Bound::Dram);
  EXPECT_EQ(with(1999, 10), Bound::Dram) << "instructions that stall wait for memory";
}

TEST(Bottleneck, LinesOfOnePageWaitTogether) {
  const auto with = [](std::uint64_t walks) {
    return bottleneck(made_up({count("gpu0.cu.simd_busy_cycles", 100), count("gpu0.cu.groups", 4),
                               count("gpus.cu.accesses", 400), count("gpus.cu.page_groups", 100),
                               count("latency.load.dram_cycles", 40'000), count("l2_miss.latency", walks),
                               count("l2_miss.component.iommu.walk", walks)}))
        ->bound;
  };
  EXPECT_EQ(with(9'000), Bound::Dram);
  EXPECT_EQ(with(11'000), Bound::Walkers);
}

TEST(Bottleneck, OfSeveralApplicationsThereIsNoSingleOne) {
  Report report = made_up({count("gpu0.cu.simd_busy_cycles", 16'000)});
  EXPECT_TRUE(bottleneck(report).has_value());
  report.applications.push_back(report.applications.front());
  EXPECT_FALSE(bottleneck(report).has_value());
  EXPECT_FALSE(bottleneck(made_up({})).has_value());
}

/// Each component of a real run has a name of the field's, and together they are the whole latency.
TEST(LatencyComponents, AddUpToTheLatency) {
  for (const char* system : {"ats-4gpu", "mmu-4gpu"}) {
    const Report report = run_case({"", "MT", {"width=512"}, system, {}, Bound::Issue, false});
    const auto breakdowns = latency_breakdowns(report.result);
    ASSERT_EQ(breakdowns.size(), 2U);
    for (const LatencyBreakdown& breakdown : breakdowns) {
      double sum = 0;
      for (const LatencyPart& part : breakdown.parts) sum += part.cycles;
      EXPECT_NEAR(sum, breakdown.mean, 1e-6 * breakdown.mean) << system << ", " << breakdown.of;
    }
  }
}

}  // namespace
}  // namespace nearfar::bottleneck_test
