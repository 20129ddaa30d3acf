// From made-up figures to claims.
#include "report/measure.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "report/claims_file.h"
#include "report/report_page.h"

namespace nearfar::measure_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kClaims = R"(title: Made up
groups:
  all: A B C
claims:
  p.mean:
    {sentence: mean speedup, figure: Fig 1, published: 2.0, unit: x, quality: speedup, study: s, plot: speedup,
     series: new, over: all, take: mean, because: p.worst}
  p.worst:
    {sentence: lowest speedup, figure: Fig 1, published: ">=1.0", unit: x, quality: speedup, study: s, plot: speedup,
     series: new, over: all, take: lowest}
  p.range:
    {sentence: both ends, figure: Fig 1, published: 1..3, unit: x, quality: speedup, study: s, plot: speedup,
     series: new, over: all, take: lowest and highest}
  p.geometric:
    {sentence: geometric mean, figure: Fig 1, published: 1.817, unit: x, quality: speedup, study: s, plot: speedup,
     series: new, over: all, take: geometric mean}
  p.one:
    {sentence: of C, figure: Fig 1, published: 3, unit: x, quality: speedup, study: s, plot: speedup,
     series: new, over: C, take: each}
  p.none:
    {sentence: nobody measures it, figure: Fig 2, published: 3, unit: x, quality: speedup}
  p.pooled:
    {sentence: highest of both, figure: Fig 1, published: 3, unit: x, quality: speedup, study: s, plot: speedup,
     series: "old, new", over: all, take: highest}
  p.apart:
    {sentence: mean of each, figure: Fig 1, published: 1 2, unit: x, quality: speedup, study: s, plot: speedup,
     series: "old, new", over: all, take: mean}
  p.gone:
    {sentence: no such series, figure: Fig 1, published: 3, unit: x, quality: speedup, study: s, plot: speedup,
     series: nwe, over: C, take: each}
)";

FigureData figure() {
  FigureData out;
  out.id = "speedup", out.study = "s", out.unit = "x";
  out.categories = {"A", "B", "C", "mean"};
  out.series = {{"old", {1, 1, 1, 1}}, {"new", {1, 2, 3, 2}}};
  return out;
}

class Measured : public ::testing::Test {
 protected:
  std::vector<Paper> papers_ = {read_paper_text(kClaims, "claims/p.yaml", "p")};
};

TEST_F(Measured, ClaimsTakeTheirNumbersFromTheFigure) {
  const auto claims = measure_claims(papers_, {figure()});
  ASSERT_EQ(claims.size(), 9U);
  EXPECT_THAT(claims[0].values, ElementsAre(2));
  EXPECT_EQ(claims[0].verdict, Verdict::Met);
  EXPECT_DOUBLE_EQ(*claims[0].ratio, 1);
  EXPECT_THAT(claims[1].values, ElementsAre(1));
  EXPECT_THAT(claims[2].values, ElementsAre(1, 3));
  EXPECT_EQ(measured_text(claims[2]), "1.000× to 3.000×");
  EXPECT_NEAR(claims[3].values[0], 1.817, 0.001);
  EXPECT_THAT(claims[4].values, ElementsAre(3));
  EXPECT_EQ(claims[5].note, "no study measures it yet");
  EXPECT_THAT(claims[6].values, ElementsAre(3)) << "one published number: of all series together";
  EXPECT_THAT(claims[7].values, ElementsAre(1, 2)) << "a published number for each series";
  EXPECT_EQ(claims[7].verdict, Verdict::Met);
  EXPECT_EQ(claims[8].verdict, Verdict::NotMeasured);
  EXPECT_EQ(claims[8].note, "the figure has no series `nwe` (did you mean `new`?)");
}

TEST_F(Measured, MeansOverLessThanEverythingAreNoVerdict) {
  FigureData gap = figure();
  gap.series[1].values[1].reset();
  gap.series[1].values[3].reset();
  const auto claims = measure_claims(papers_, {gap});
  EXPECT_EQ(claims[0].verdict, Verdict::NotMeasured);
  EXPECT_EQ(claims[0].note, "2 of 3 values are there");
  EXPECT_EQ(claims[4].verdict, Verdict::Met) << "C is there";
}

// A study shows a mean beside a gap only when the gap is a value that has nothing to divide by.
TEST_F(Measured, MeansOfTheFigureLeaveOutWhatIsUndefined) {
  FigureData undefined = figure();
  undefined.series[1].values[1].reset();
  const auto claims = measure_claims(papers_, {undefined});
  EXPECT_THAT(claims[0].values, ElementsAre(2));
  EXPECT_EQ(claims[0].verdict, Verdict::Met);
  EXPECT_EQ(claims[0].note, "mean of 2 of 3: the others have nothing to divide by");
  EXPECT_EQ(claims[2].verdict, Verdict::NotMeasured) << "ends of a range need every value";
}

TEST_F(Measured, ReasonsAreThoseOfTheSeries) {
  FigureData empty = figure();
  empty.series[1].values.assign(4, std::nullopt);
  empty.notes = {"not measured: design newer does not exist yet", "not measured: design new does not exist yet"};
  EXPECT_EQ(measure_claims(papers_, {empty})[0].note, "design new does not exist yet");
}

TEST_F(Measured, FiguresThatAreNotThereAreNamed) {
  EXPECT_EQ(measure_claims(papers_, {})[0].note, "study s is not there");
  EXPECT_EQ(measure_claims(papers_, {}, {"r", "s"})[0].note, "study s is not there") << "it was not looked at";
  papers_[0].claims[0].study = "speedsup";
  EXPECT_EQ(measure_claims(papers_, {}, {"s", "speedups"})[0].note,
            "study speedsup is not there (did you mean `speedups`?)");
  papers_[0].claims[0].study = "s";
  FigureData other = figure();
  other.id = "latency";
  EXPECT_EQ(measure_claims(papers_, {other})[0].note, "the study has no figure `speedup`");
  other.id = "speedups";
  EXPECT_EQ(measure_claims(papers_, {other})[0].note, "the study has no figure `speedup` (did you mean `speedups`?)");
}

TEST_F(Measured, NumbersThatCannotBeJudgedHaveAReason) {
  papers_[0].claims[0].published = *parse_published("1.5 1.2 1.1");
  const auto claims = measure_claims(papers_, {figure()});
  EXPECT_EQ(claims[0].verdict, Verdict::NotMeasured);
  EXPECT_EQ(claims[0].note, "3 numbers are published, but 1 is measured");
  FigureData negative = figure();
  negative.series[1].values[0] = -1;
  EXPECT_EQ(measure_claims(papers_, {negative})[3].note, "a measured value is not a number") << "a geometric mean";
}

TEST_F(Measured, PublishedNumbersAreMarkedWhereTheyBelong) {
  std::vector<FigureData> figures = {figure()};
  mark_published(figures, papers_);
  ASSERT_EQ(figures[0].published.size(), 6U) << "of ends of a range there is no one place";
  EXPECT_EQ(figures[0].published[0].claim, "p.mean");
  EXPECT_EQ(figures[0].published[0].category, "mean");
  EXPECT_EQ(figures[0].published[2].category, "C");
  EXPECT_DOUBLE_EQ(figures[0].published[2].low, 3);
}

TEST_F(Measured, MechanismsStandBesideSpeedups) {
  const auto claims = measure_claims(papers_, {figure()});
  EXPECT_THAT(mechanism_texts(*claims[0].claim, claims), ElementsAre("lowest speedup: >=1.0× → 1.000×"));
  EXPECT_THAT(mechanism_texts(*claims[1].claim, claims), IsEmpty());
}

/// The figure in two draws: `new` is 1, 2, 3 in one and 1, 2, 6 in the other.
FigureData repeated() {
  FigureData out = figure();
  out.series[0].draws = {{1, 1}, {1, 1}, {1, 1}, {1, 1}};
  out.series[1].draws = {{1, 1}, {2, 2}, {3, 6}, {2, 3}};
  return out;
}

TEST_F(Measured, RepeatsGiveIntervalsOfWhatTheClaimTakes) {
  const auto claims = measure_claims(papers_, {repeated()});
  // Means of 2 and 3: logarithms ln 2 and ln 3, standard error ln(1.5) / 2, 12.7062 times that.
  ASSERT_EQ(claims[0].intervals.size(), 1U);
  EXPECT_DOUBLE_EQ(claims[0].values[0], std::sqrt(6));
  EXPECT_NEAR(claims[0].intervals[0].low, std::sqrt(6) * std::exp(-12.7062 * std::log(1.5) / 2), 1e-6);
  EXPECT_EQ(claims[0].verdict, Verdict::WithinNoise);
  EXPECT_THAT(claims[0].note, ::testing::StartsWith("known to ±"));
  EXPECT_THAT(claims[0].note, ::testing::EndsWith(" % only (2 repeats)"));
  EXPECT_THAT(measured_text(claims[0]), ::testing::StartsWith("2.449× ±"));
  EXPECT_THAT(claims[1].note, IsEmpty()) << "the lowest is 1 in both";
  EXPECT_EQ(claims[2].intervals.size(), 2U) << "both ends";
  EXPECT_EQ(without_spread(claims), 0U);
}

TEST_F(Measured, DrawsThatAreNotCompleteAreLeftOut) {
  FigureData figure = repeated();
  figure.series[1].draws[1][0] = std::nullopt;
  figure.series[1].draws[3][0] = std::nullopt;  // nor has the figure a mean then
  const auto claims = measure_claims(papers_, {figure});
  EXPECT_THAT(claims[0].values, ElementsAre(3)) << "of the second draw alone";
  EXPECT_FALSE(claims[0].intervals.at(0).has_spread());
  EXPECT_EQ(claims[4].intervals.at(0).count, 2U) << "C is there in both";
}

TEST_F(Measured, SaysWhatIsNotRepeated) {
  const auto claims = measure_claims(papers_, {figure()});
  EXPECT_EQ(without_spread(claims), 7U) << "all that are measured";
  Claim share;
  share.unit = "%";
  EXPECT_TRUE(is_precise(share, {5, 10, 8.1, 11.9})) << "two points";
  EXPECT_FALSE(is_precise(share, {5, 10, 7.9, 12.1}));
  share.unit = "x";
  EXPECT_TRUE(is_precise(share, {5, 2, 1.97, 2.03}));
  EXPECT_FALSE(is_precise(share, {5, 2, 1.95, 2.05}));
}

}  // namespace
}  // namespace nearfar::measure_test
