#include "cli/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace nearfar::comparison_test {
namespace {

using ::testing::HasSubstr;

Comparison of_cycles(const std::vector<std::vector<Cycle>>& cycles) {
  Comparison comparison;
  for (std::size_t v = 0; v < cycles.front().size(); ++v) comparison.variants.push_back("variant" + std::to_string(v));
  for (std::size_t w = 0; w < cycles.size(); ++w) {
    comparison.workloads.push_back("W" + std::to_string(w));
    auto& row = comparison.runs.emplace_back();
    for (const Cycle each : cycles[w]) row.emplace_back().cycles = {each};
  }
  measure(comparison);
  return comparison;
}

TEST(Comparison, GeometricMeanMultipliesAndTakesTheRoot) {
  EXPECT_DOUBLE_EQ(geometric_mean({2, 8}), 4);
  EXPECT_DOUBLE_EQ(geometric_mean({3}), 3);
  EXPECT_DOUBLE_EQ(geometric_mean({0.5, 2}), 1);
}

RC_GTEST_PROP(Comparison, GeometricMeanLiesBetweenTheExtremes, ()) {
  const auto ints = *rc::gen::nonEmpty(rc::gen::container<std::vector<int>>(rc::gen::inRange(1, 100000)));
  const std::vector<double> values(ints.begin(), ints.end());
  const double mean = geometric_mean(values);
  RC_ASSERT(mean >= *std::min_element(values.begin(), values.end()) * (1 - 1e-9));
  RC_ASSERT(mean <= *std::max_element(values.begin(), values.end()) * (1 + 1e-9));
}

TEST(Comparison, MeasuresAgainstTheFirstVariant) {
  const Comparison comparison = of_cycles({{1000, 500, 2000}, {800, 100, 800}});
  EXPECT_DOUBLE_EQ(comparison.runs[0][0].speedup, 1);
  EXPECT_DOUBLE_EQ(comparison.runs[0][1].speedup, 2);
  EXPECT_DOUBLE_EQ(comparison.runs[0][2].speedup, 0.5);
  EXPECT_DOUBLE_EQ(comparison.runs[1][1].speedup, 8);
  EXPECT_DOUBLE_EQ(comparison.geometric_means[0], 1);
  EXPECT_DOUBLE_EQ(comparison.geometric_means[1], 4);
  EXPECT_DOUBLE_EQ(comparison.geometric_means[2], std::sqrt(0.5));
}

TEST(Comparison, TableShowsCyclesSpeedupsAndTheMean) {
  const std::string text = comparison_table(of_cycles({{1000, 500}, {800, 100}}), Terminal{});
  EXPECT_EQ(text,
            "workload                  cycles  speedup\n"
            "W0              variant0   1,000    1.000  █████\n"
            "                variant1     500    2.000  ██████████\n"
            "\n"
            "W1              variant0     800    1.000  █████\n"
            "                variant1     100    8.000  ████████████████████████████████████████\n"
            "\n"
            "geometric mean  variant0            1.000  █████\n"
            "                variant1            4.000  ████████████████████\n");
}

TEST(ComparisonRepeats, PairDrawsAndShowIntervals) {
  Comparison comparison = of_cycles({{1, 1}, {1, 1}});
  comparison.repeats = 3;
  comparison.runs[0][0].cycles = {1000, 1200, 800};
  comparison.runs[0][1].cycles = {500, 600, 400};  // twice as fast in every draw
  comparison.runs[1][0].cycles = {400, 400, 400};
  comparison.runs[1][1].cycles = {400, 200, 100};  // 1, 2, 4
  measure(comparison);
  EXPECT_DOUBLE_EQ(comparison.runs[0][1].speedup, 2);
  EXPECT_NEAR(comparison.runs[0][1].interval.half_width(), 0, 1e-12);
  EXPECT_DOUBLE_EQ(comparison.runs[1][1].speedup, 2);
  EXPECT_NEAR(comparison.runs[1][1].interval.low, std::exp2(1 - 2.48414), 1e-4);
  EXPECT_NEAR(comparison.mean_intervals[1].low, std::exp2(1 - 2.48414 / 2), 1e-4) << "of sqrt 2, 2, sqrt 8";
  EXPECT_DOUBLE_EQ(comparison.geometric_means[1], 2);
  EXPECT_EQ(comparison.runs[0][0].mean(), 1000);
  const std::string table = comparison_table(comparison, Terminal{});
  EXPECT_THAT(table, HasSubstr("variant1     500  2.000 ±0.000                "));
  EXPECT_THAT(table, HasSubstr("variant1     233  2.000 ±9.190  within noise  "));
  EXPECT_THAT(table, HasSubstr("variant0   1,000         1.000                "));
  EXPECT_THAT(table, HasSubstr("┤\n"));
}

TEST(Comparison, OfSeveralApplicationsHasARowForEach) {
  Comparison comparison = of_cycles({{1000, 500}, {800, 100}});
  comparison.runs[1][0].applications = {{{.cycles = {600}}, "FIR"}, {{.cycles = {800}}, "MT"}};
  comparison.runs[1][1].applications = {{{.cycles = {75}}, "FIR"}, {{.cycles = {100}}, "MT"}};
  measure(comparison);
  EXPECT_DOUBLE_EQ(comparison.runs[1][1].applications[0].speedup, 8);
  const std::string table = comparison_table(comparison, Terminal{});
  EXPECT_THAT(table, HasSubstr("\n\napplication               cycles  speedup\n"
                               "W1, GPU 0: FIR  variant0     600    1.000  █████\n"
                               "                variant1      75    8.000  ███"));
  EXPECT_THAT(table, HasSubstr("\n\nW1, GPU 1: MT   variant0     800    1.000"));
  EXPECT_THAT(table, ::testing::Not(HasSubstr("W0, GPU")));
}

TEST(Comparison, AsCsvIsALineForEachRunAndApplication) {
  Comparison comparison = of_cycles({{1000, 500}});
  comparison.variants[1] = "a,b";
  comparison.runs[0][0].applications = {{{.cycles = {1000}}, "FIR"}, {{.cycles = {800}}, "MT"}};
  comparison.runs[0][1].applications = {{{.cycles = {250}}, "FIR"}, {{.cycles = {500}}, "MT"}};
  measure(comparison);
  EXPECT_EQ(comparison_csv(comparison),
            "workload,gpu,application,variant,cycles,speedup,low,high,repeats\n"
            "W0,,,variant0,1000,1,1,1,1\n"
            "W0,0,FIR,variant0,1000,1,1,1,1\n"
            "W0,1,MT,variant0,800,1,1,1,1\n"
            "W0,,,\"a,b\",500,2,2,2,1\n"
            "W0,0,FIR,\"a,b\",250,4,4,4,1\n"
            "W0,1,MT,\"a,b\",500,1.6,1.6,1.6,1\n");
}

}  // namespace
}  // namespace nearfar::comparison_test
