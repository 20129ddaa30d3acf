// Derivations on numbers that were worked out by hand.
#include "study/derive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "study/made_up.h"

namespace nearfar::derive_test {
namespace {

using ::testing::ElementsAre;
using testing::stored;

const std::string kHead =
    "title: T\nsystem: ats-4gpu\nworkloads: [MT, PR]\nexpects: [no_such.count, no-such-design]\nvariants: {b: {}, i: "
    "{design: "
    "infinite-iommu-tlb}, "
    "x: {design: no-such-design}}\nfigures:\n  f: ";

struct Made {
  Study study;
  StudyResults results;

  explicit Made(const std::string& text) : study(read_study_text(text, "s.yaml")) {}
  void add(const std::string& workload, const std::string& variant, std::vector<std::pair<std::string, double>> values,
           std::uint64_t seed = 1, std::uint32_t draw = 0) {
    results.add(cell_run(study, workload, variant_of(study, variant), seed, draw), stored(std::move(values)));
  }
  FigureData figure() const { return derive(study, results).front(); }
};

Made made(const std::string& figure) {
  Made out(kHead + figure + "\n");
  out.add("MT", "b", {{"iommu.tlb.hits", 1}, {"iommu.tlb.lookups", 4}, {"run.cycles", 800}});
  out.add("MT", "i", {{"iommu.tlb.hits", 3}, {"iommu.tlb.lookups", 4}, {"run.cycles", 400}});
  out.add("PR", "b", {{"iommu.tlb.hits", 1}, {"iommu.tlb.lookups", 2}, {"run.cycles", 300}});
  out.add("PR", "i", {{"iommu.tlb.hits", 1}, {"iommu.tlb.lookups", 2}, {"run.cycles", 600}});
  return out;
}

std::vector<double> numbers(const FigureSeries& series) {
  std::vector<double> out;
  for (const auto& value : series.values) out.push_back(value.value_or(std::nan("")));
  return out;
}

TEST(Derive, SpeedupsAndBothMeans) {
  const FigureData figure = made("{value: speedup, variants: [i], mean: [arithmetic, geometric]}").figure();
  EXPECT_THAT(figure.categories, ElementsAre("MT", "PR", "mean", "geometric mean"));
  EXPECT_EQ(figure.series[0].label, "i");
  EXPECT_THAT(numbers(figure.series[0]), ElementsAre(2, 0.5, 1.25, 1));
  EXPECT_EQ(figure.unit, "x");
  EXPECT_TRUE(figure.notes.empty());
}

TEST(Derive, RatiosOfSumsAndTheirChange) {
  const std::string rate = "value: 100 * iommu.tlb.hits / iommu.tlb.lookups";
  EXPECT_THAT(numbers(made("{" + rate + ", variants: [b]}").figure().series[0]), ElementsAre(25, 50, 37.5));
  EXPECT_THAT(numbers(made("{" + rate + ", as: change, variants: [i]}").figure().series[0]), ElementsAre(50, 0, 25));
}

TEST(Derive, ReductionsAndGainsAreInPercent) {
  EXPECT_THAT(numbers(made("{value: run.cycles, as: reduction, variants: [i]}").figure().series[0]),
              ElementsAre(50, -100, -25));
  EXPECT_THAT(numbers(made("{value: run.cycles, as: gain, variants: [i]}").figure().series[0]),
              ElementsAre(-50, 100, 25));
  EXPECT_EQ(made("{value: run.cycles, as: gain}").figure().unit, "%");
}

TEST(Derive, GroupsHaveMeansOfTheirOwn) {
  const FigureData figure = made("{value: speedup, variants: [i], groups: {high: [MT]}, mean: arithmetic}").figure();
  EXPECT_THAT(figure.categories, ElementsAre("MT", "PR", "high", "mean"));
  EXPECT_THAT(numbers(figure.series[0]), ElementsAre(2, 0.5, 2, 1.25));
}

TEST(Derive, WhatIsNotMeasuredIsNothingAndSaysWhy) {
  const FigureData figure = made("{value: speedup}").figure();
  ASSERT_EQ(figure.series.size(), 2U);
  EXPECT_EQ(figure.series[1].label, "x");
  for (const auto& value : figure.series[1].values) EXPECT_FALSE(value);
  EXPECT_FALSE(figure.notes.empty());
  const FigureData unknown = made("{value: no_such.count, variants: [b]}").figure();
  EXPECT_THAT(unknown.notes, ElementsAre("not measured: statistic no_such.count does not exist yet"));
}

TEST(Derive, AMeanIsOfAllOrOfNothing) {
  Made half(kHead + "{value: run.cycles, variants: [b]}\n");
  half.add("MT", "b", {{"run.cycles", 5}});
  const FigureData figure = half.figure();
  EXPECT_EQ(figure.series[0].values[0], 5);
  EXPECT_FALSE(figure.series[0].values[1]);
  EXPECT_FALSE(figure.series[0].values[2]);
  EXPECT_THAT(figure.notes, ElementsAre("not measured: runs that are still to be done"));
}

TEST(Derive, WhatHasNothingToDivideByIsLeftOutOfMeans) {
  Made none(kHead + "{value: iommu.tlb.hits / iommu.tlb.lookups, variants: [b]}\n");
  none.add("MT", "b", {{"iommu.tlb.hits", 0}, {"iommu.tlb.lookups", 0}});
  none.add("PR", "b", {{"iommu.tlb.hits", 1}, {"iommu.tlb.lookups", 2}});
  const FigureData figure = none.figure();
  EXPECT_FALSE(figure.series[0].values[0]);
  EXPECT_EQ(figure.series[0].values[2], 0.5);
  EXPECT_THAT(figure.notes, ElementsAre("nothing to divide by, and left out of means: MT"));
}

TEST(Derive, VariantsMayStandAlongTheAxis) {
  const FigureData figure = made("{kind: lines, value: run.cycles, variants: [b, i], categories: variants}").figure();
  EXPECT_THAT(figure.categories, ElementsAre("b", "i"));
  EXPECT_EQ(figure.series[2].label, "mean");
  EXPECT_THAT(numbers(figure.series[0]), ElementsAre(800, 400));
  EXPECT_THAT(numbers(figure.series[2]), ElementsAre(550, 500));
  const FigureData only =
      made("{kind: lines, value: run.cycles, variants: [b, i], categories: variants, only: means}").figure();
  EXPECT_EQ(only.series.size(), 1U);
}

TEST(Derive, StacksHaveALayerForEachValue) {
  const FigureData figure = made(
                                "{kind: stacked, values: {hit: iommu.tlb.hits, miss: iommu.tlb.lookups - "
                                "iommu.tlb.hits}, variants: [b, i], mean: none}")
                                .figure();
  EXPECT_THAT(figure.categories, ElementsAre("MT b", "MT i", "PR b", "PR i"));
  EXPECT_EQ(figure.series[0].label, "hit");
  EXPECT_THAT(numbers(figure.series[0]), ElementsAre(1, 3, 1, 1));
  EXPECT_THAT(numbers(figure.series[1]), ElementsAre(3, 1, 1, 1));
}

TEST(Derive, SeedsAreAveragedPairByPair) {
  Made two(
      "title: T\nsystem: ats-4gpu\nworkloads: [MT]\nseeds: [1, 2]\nvariants: {b: {}, i: {design: infinite-iommu-tlb}}\n"
      "figures: {f: {value: speedup}}\n");
  two.add("MT", "b", {{"run.cycles", 100}}, 1);
  two.add("MT", "i", {{"run.cycles", 50}}, 1);
  two.add("MT", "b", {{"run.cycles", 400}}, 2);
  two.add("MT", "i", {{"run.cycles", 100}}, 2);
  EXPECT_THAT(numbers(two.figure().series[0]), ElementsAre(3));
}

TEST(Derive, ACdfCumulatesAHistogram) {
  Made cdf(
      "title: T\nsystem: ats-4gpu\nworkloads: [MT, PR]\nfigures: {f: {kind: cdf, value: iommu.tlb.reuse_distance}}\n");
  cdf.add("MT", "baseline",
          {{"iommu.tlb.reuse_distance.below_1", 1},
           {"iommu.tlb.reuse_distance.below_16", 2},
           {"iommu.tlb.reuse_distance.below_2", 1}});
  cdf.add("PR", "baseline", {{"iommu.tlb.reuse_distance.below_2", 1}, {"iommu.tlb.reuse_distance.below_4", 3}});
  const FigureData figure = cdf.figure();
  EXPECT_THAT(figure.categories, ElementsAre("1", "2", "4", "16"));
  EXPECT_THAT(numbers(figure.series[0]), ElementsAre(25, 50, 50, 100));
  EXPECT_THAT(numbers(figure.series[1]), ElementsAre(0, 25, 100, 100));
}

TEST(Derive, WorkloadsMayHaveTheirPapersNames) {
  Made named("title: T\nsystem: ats-4gpu\nworkloads: [ATAX]\nnames: {ATAX: ATX}\nfigures: {f: {value: run.cycles}}\n");
  named.add("ATAX", "baseline", {{"run.cycles", 5}});
  EXPECT_THAT(named.figure().categories, ElementsAre("ATX"));
  EXPECT_THAT(numbers(named.figure().series[0]), ElementsAre(5));
}

TEST(Derive, WeightedSpeedupsAreAgainstEachOneAlone) {
  Made mix(
      "title: T\nsystem: ats-4gpu\nworkloads: [MT+FIR]\nvariants: {b: {}, i: {design: infinite-iommu-tlb}}\n"
      "figures: {f: {value: weighted-speedup, as: gain}, g: {value: weighted-speedup}, "
      "h: {value: change-from-alone}, k: {value: change-from-alone.app1}}\n");
  mix.add("MT+FIR", "b", {{"app0.cycles", 200}, {"app1.cycles", 400}, {"run.cycles", 400}});
  mix.add("MT+FIR", "i", {{"app0.cycles", 100}, {"app1.cycles", 200}, {"run.cycles", 200}});
  mix.results.add(alone_run(mix.study, "MT+FIR", 0, mix.study.variants[0], 1), stored({{"run.cycles", 100}}));
  mix.results.add(alone_run(mix.study, "MT+FIR", 1, mix.study.variants[0], 1), stored({{"run.cycles", 100}}));
  const auto figures = derive(mix.study, mix.results);
  EXPECT_THAT(numbers(figures[0].series[0]), ElementsAre(100)) << "0.5 + 0.25 becomes 1 + 0.5";
  EXPECT_THAT(numbers(figures[1].series[0]), ElementsAre(0.75));
  EXPECT_THAT(numbers(figures[1].series[1]), ElementsAre(1.5));
  EXPECT_THAT(numbers(figures[2].series[0]), ElementsAre(-62.5)) << "half and a quarter of what each does alone";
  EXPECT_THAT(numbers(figures[3].series[0]), ElementsAre(-75));
}

/// Cycles of MT and PR in three draws: MT gains 2, 2 and 2 though its own cycles move, PR gains 1, 2 and 4.
Made repeated(const std::string& figure) {
  Made out("repeat: 3\n" + kHead + figure + "\n");
  const std::vector<std::vector<double>> cycles = {{800, 400, 300, 300}, {1000, 500, 400, 200}, {600, 300, 400, 100}};
  for (std::uint32_t draw = 0; draw < cycles.size(); ++draw) {
    out.add("MT", "b", {{"run.cycles", cycles[draw][0]}}, 1, draw);
    out.add("MT", "i", {{"run.cycles", cycles[draw][1]}}, 1, draw);
    out.add("PR", "b", {{"run.cycles", cycles[draw][2]}}, 1, draw);
    out.add("PR", "i", {{"run.cycles", cycles[draw][3]}}, 1, draw);
  }
  return out;
}

TEST(DeriveRepeats, PairsDrawsAndTakesMeansOfEachDraw) {
  const FigureData figure = repeated("{value: speedup, variants: [i], mean: geometric}").figure();
  EXPECT_THAT(figure.neutral, ::testing::Optional(1));
  const FigureSeries& series = figure.series[0];
  ASSERT_EQ(series.intervals.size(), 3U);
  EXPECT_DOUBLE_EQ(*series.values[0], 2);
  EXPECT_NEAR(series.intervals[0].half_width(), 0, 1e-12) << "the ratio of each draw is the same";
  EXPECT_DOUBLE_EQ(*series.values[1], 2);
  EXPECT_NEAR(series.intervals[1].low, std::exp2(1 - 2.48414), 1e-4) << "logarithms 0, 1, 2: see interval_test";
  EXPECT_EQ(series.intervals[1].count, 3U);
  // The geometric mean of each draw is sqrt(2 * 1), sqrt(2 * 2), sqrt(2 * 4): logarithms 0.5, 1, 1.5.
  EXPECT_DOUBLE_EQ(*series.values[2], 2);
  EXPECT_NEAR(series.intervals[2].low, std::exp2(1 - 2.48414 / 2), 1e-4);
  const auto about = [](double value) { return ::testing::Optional(::testing::DoubleNear(value, 1e-12)); };
  EXPECT_THAT(series.draws[2], ElementsAre(about(std::sqrt(2)), about(2), about(std::sqrt(8))));
  EXPECT_FALSE(figure.within_noise(series, 0));
  EXPECT_TRUE(figure.within_noise(series, 1));
}

TEST(DeriveRepeats, OfReductionsAreArithmetic) {
  const FigureData figure = repeated("{value: run.cycles, as: reduction, variants: [i], mean: none}").figure();
  EXPECT_THAT(figure.neutral, ::testing::Optional(0));
  // Of PR 0, 50 and 75 %.
  EXPECT_NEAR(*figure.series[0].values[1], 125.0 / 3, 1e-9);
  EXPECT_EQ(figure.series[0].intervals[1].mean, *figure.series[0].values[1]);
  EXPECT_FALSE(repeated("{value: run.cycles, variants: [i]}").figure().neutral) << "a count has no effect";
}

TEST(DeriveRepeats, LeaveOutDrawsThatAreNotThere) {
  Made made = repeated("{value: speedup, variants: [i], mean: none}");
  Made fewer(made);
  fewer.results = {};
  for (const std::uint32_t draw : {0U, 2U}) {
    fewer.add("PR", "b", {{"run.cycles", 400}}, 1, draw);
    fewer.add("PR", "i", {{"run.cycles", draw == 0 ? 400.0 : 100.0}}, 1, draw);
  }
  fewer.add("PR", "i", {{"run.cycles", 1}}, 1, 1);
  const FigureData figure = fewer.figure();
  EXPECT_FALSE(figure.series[0].values[0]);
  EXPECT_DOUBLE_EQ(*figure.series[0].values[1], 2) << "draw 1 has nothing to be paired with";
  EXPECT_EQ(figure.series[0].intervals[1].count, 2U);
  EXPECT_THAT(figure.notes, ElementsAre("not measured: runs that are still to be done"));
  fewer.add("MT", "b", {{"run.cycles", 100}}, 1, 0);
  fewer.add("MT", "i", {{"run.cycles", 100}}, 1, 0);
  EXPECT_THAT(fewer.figure().notes, ElementsAre("fewer repeats: runs that are still to be done"));
}

TEST(DeriveRepeats, OfHistogramsArePooled) {
  Made cdf(
      "title: T\nsystem: ats-4gpu\nrepeat: 2\nworkloads: [MT]\n"
      "figures: {f: {kind: cdf, value: iommu.tlb.reuse_distance}}\n");
  cdf.add("MT", "baseline", {{"iommu.tlb.reuse_distance.below_1", 1}, {"iommu.tlb.reuse_distance.below_2", 1}});
  cdf.add("MT", "baseline", {{"iommu.tlb.reuse_distance.below_1", 0}, {"iommu.tlb.reuse_distance.below_2", 2}}, 1, 1);
  EXPECT_THAT(numbers(cdf.figure().series[0]), ElementsAre(25, 100));
}

}  // namespace
}  // namespace nearfar::derive_test
