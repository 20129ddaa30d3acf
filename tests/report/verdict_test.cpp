// Published numbers as they are written, and verdicts on made-up measurements.
#include "report/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <limits>

namespace nearfar::verdict_test {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Form = Published::Form;

Claim claim(const char* published, Quality quality = Quality::Speedup, double band = 0.2) {
  Claim result;
  result.id = "made.up";
  result.published = *parse_published(published);
  result.quality = quality;
  result.band = band;
  return result;
}

Verdict verdict(const char* published, std::vector<double> measured, Quality quality = Quality::Speedup,
                double band = 0.2) {
  return judge(claim(published, quality, band), measured);
}

TEST(Published, IsReadAsItIsWritten) {
  EXPECT_THAT(parse_published("1.423")->values, ElementsAre(1.423));
  EXPECT_THAT(parse_published("-3")->values, ElementsAre(-3));
  EXPECT_EQ(parse_published("1.056..2.4")->form, Form::Range);
  EXPECT_THAT(parse_published("1.056..2.4")->values, ElementsAre(1.056, 2.4));
  EXPECT_EQ(parse_published(">70")->form, Form::Above);
  EXPECT_EQ(parse_published(">=0.99")->form, Form::AtLeast);
  EXPECT_EQ(parse_published("<1.0")->form, Form::Below);
  EXPECT_EQ(parse_published("<=2")->form, Form::AtMost);
  EXPECT_EQ(parse_published("about 1.0")->form, Form::Number);
  EXPECT_EQ(parse_published("1.8 3.4 12.9 54.7")->form, Form::Several);
  EXPECT_THAT(parse_published("1.8 3.4 12.9 54.7")->values, ElementsAre(1.8, 3.4, 12.9, 54.7));
}

TEST(Published, KnowsHowFarItWasRounded) {
  EXPECT_THAT(parse_published("86.1")->rounding, DoubleEq(0.05));
  EXPECT_THAT(parse_published("45")->rounding, DoubleEq(0.5));
  EXPECT_THAT(parse_published("1.423")->rounding, DoubleEq(0.0005));
}

TEST(Published, IsNothingElse) {
  for (const char* text : {"", " ", "fast", "1.2x", ">", "about", "2..1", "1..", "..", "1,5", "nan", "inf", "1 two"}) {
    EXPECT_FALSE(parse_published(text)) << text;
  }
}

TEST(Verdict, OfANumberIsByItsDistance) {
  EXPECT_EQ(verdict("1.5", {1.5}), Verdict::Met);
  EXPECT_EQ(verdict("1.5", {1.57}), Verdict::Met);
  EXPECT_EQ(verdict("1.5", {1.58}), Verdict::WithinBand);
  EXPECT_EQ(verdict("1.5", {1.21}), Verdict::WithinBand);
  EXPECT_EQ(verdict("1.5", {1.19}), Verdict::Missed);
  EXPECT_EQ(verdict("1.5", {1.81}), Verdict::Missed);
}

TEST(Verdict, ForgivesWhatWasRoundedAway) {
  EXPECT_EQ(verdict("4", {4.5}, Quality::Share), Verdict::Met);
  EXPECT_EQ(verdict("4.0", {4.5}, Quality::Share), Verdict::WithinBand);
}

TEST(Verdict, IsOppositeWhenTheSignIsWrong) {
  EXPECT_EQ(verdict("1.1", {0.98}), Verdict::Opposite) << "though it is within 20 %";
  EXPECT_EQ(verdict("1.1", {0.996}), Verdict::Missed) << "less than half a per cent is no effect, and has no sign";
  EXPECT_EQ(verdict("0.8", {1.1}), Verdict::Opposite);
  EXPECT_EQ(verdict("36.2", {-5}, Quality::Reduction), Verdict::Opposite);
  EXPECT_EQ(verdict("16.3", {-1}, Quality::Gain), Verdict::Opposite);
  EXPECT_EQ(verdict("16.3", {-0.4}, Quality::Gain), Verdict::Missed);
  EXPECT_EQ(verdict("-3", {2}, Quality::Change), Verdict::Opposite);
  EXPECT_EQ(verdict("2.4", {0.9}, Quality::Ratio), Verdict::Opposite);
}

TEST(Verdict, NeedsTheEffectToBeThere) {
  EXPECT_EQ(verdict("1.162", {1.0}), Verdict::Missed) << "though it is within 20 %";
  EXPECT_EQ(verdict("1.162", {1.01}), Verdict::WithinBand);
  EXPECT_EQ(verdict("1.073", {1.03}), Verdict::WithinBand) << "though it is within 5 %: less than half of the effect";
  EXPECT_EQ(verdict("1.073", {1.04}), Verdict::Met);
  EXPECT_EQ(verdict("1.002", {1.0}), Verdict::Met) << "the published effect is none";
}

TEST(Verdict, OfAShareOrCountIsNeverOpposite) {
  EXPECT_EQ(verdict("45", {0}, Quality::Share), Verdict::Missed);
  EXPECT_EQ(verdict("42", {1}, Quality::Count), Verdict::Missed);
}

TEST(Verdict, OfABoundIsMetWhereItHolds) {
  EXPECT_EQ(verdict(">70", {71}, Quality::Share), Verdict::Met);
  EXPECT_EQ(verdict(">70", {70}, Quality::Share), Verdict::WithinBand);
  EXPECT_EQ(verdict(">70", {50}, Quality::Share), Verdict::Missed);
  EXPECT_EQ(verdict(">2.0", {5}), Verdict::Met);
  EXPECT_EQ(verdict(">2.0", {1.7}), Verdict::WithinBand);
  EXPECT_EQ(verdict(">2.0", {1.3}), Verdict::Missed);
  EXPECT_EQ(verdict(">2.0", {0.9}), Verdict::Opposite);
  EXPECT_EQ(verdict("<1.0", {0.9}), Verdict::Met);
  EXPECT_EQ(verdict("<1.0", {1.0}), Verdict::WithinBand);
  EXPECT_EQ(verdict("<0.9", {0.95}), Verdict::WithinBand);
  EXPECT_EQ(verdict("<1.0", {1.05}), Verdict::Opposite);
}

TEST(Verdict, OfNoHarmIsOppositeOnlyBelowItsBand) {
  EXPECT_EQ(verdict(">=1.0", {1.0}, Quality::Speedup, 0.02), Verdict::Met);
  EXPECT_EQ(verdict(">=1.0", {0.99}, Quality::Speedup, 0.02), Verdict::WithinBand);
  EXPECT_EQ(verdict(">=1.0", {0.97}, Quality::Speedup, 0.02), Verdict::Opposite);
  EXPECT_EQ(verdict(">=0.99", {0.98}, Quality::Speedup, 0.02), Verdict::WithinBand);
}

TEST(Verdict, OfNoEffectHasNoSign) {
  EXPECT_EQ(verdict("about 1.0", {0.96}), Verdict::Met);
  EXPECT_EQ(verdict("about 1.0", {1.15}), Verdict::WithinBand);
  EXPECT_EQ(verdict("about 1.0", {0.7}), Verdict::Missed);
}

TEST(Verdict, OfSeveralIsTheWorst) {
  EXPECT_EQ(verdict("1.056..2.4", {1.06, 2.3}), Verdict::Met);
  EXPECT_EQ(verdict("1.056..2.4", {1.06, 2.0}), Verdict::WithinBand);
  EXPECT_EQ(verdict("1.056..2.4", {0.9, 2.4}), Verdict::Opposite);
  EXPECT_EQ(verdict("about 1.0", {1.0, 1.5}), Verdict::Missed) << "one published number for all";
  EXPECT_EQ(verdict("3.9 6.1 5.8", {3.9, 6.1}, Quality::Count), Verdict::NotMeasured);
  EXPECT_EQ(verdict("1.5", {}), Verdict::NotMeasured);
  EXPECT_EQ(verdict("1.5", {std::numeric_limits<double>::quiet_NaN()}), Verdict::NotMeasured);
}

TEST(Ratio, IsTheOneFurthestOff) {
  EXPECT_DOUBLE_EQ(*ratio(claim("1.5"), std::vector{3.0}), 2);
  EXPECT_DOUBLE_EQ(*ratio(claim("1..2"), std::vector{1.1, 1.0}), 0.5);
  EXPECT_FALSE(ratio(claim(">2"), std::vector{3.0}));
  EXPECT_FALSE(ratio(claim("1.5"), {}));
}

// Moving a measurement towards the published number never makes its verdict worse.
RC_GTEST_PROP(Verdict, GetsNoWorseNearer, ()) {
  const double published = static_cast<double>(*rc::gen::inRange(50, 300)) / 100;
  const double from = static_cast<double>(*rc::gen::inRange(10, 600)) / 100;
  const double share = static_cast<double>(*rc::gen::inRange(0, 100)) / 100;
  Claim made = claim("1.0");
  made.published.values = {published};
  const double nearer = from + share * (published - from);
  RC_ASSERT(judge(made, std::vector{nearer}) <= judge(made, std::vector{from}));
  RC_ASSERT(judge(made, std::vector{published}) == Verdict::Met);
}

Verdict verdict_of(const char* published, Interval interval, Quality quality = Quality::Speedup) {
  const std::vector<double> measured = {interval.mean};
  const std::vector<Interval> intervals = {interval};
  return judge(claim(published, quality), measured, intervals);
}

TEST(VerdictOfRepeats, IsAsGoodAsTheWholeInterval) {
  EXPECT_EQ(verdict_of("1.24", {5, 1.24, 1.20, 1.28}), Verdict::Met);
  EXPECT_EQ(verdict_of("1.24", {5, 1.24, 1.10, 1.38}), Verdict::WithinBand) << "1.10 alone is no more";
  EXPECT_EQ(verdict_of("1.24", {5, 1.24, 1.02, 1.60}), Verdict::Missed) << "1.60 alone is missed";
  EXPECT_EQ(verdict_of("1.24", {1, 1.24, 1.24, 1.24}), Verdict::Met) << "one run is taken as it is";
}

TEST(VerdictOfRepeats, IsWithinNoiseWhereNoEffectCannotBeExcluded) {
  EXPECT_EQ(verdict_of("1.24", {5, 1.24, 0.99, 1.55}), Verdict::WithinNoise);
  EXPECT_EQ(verdict_of("1.24", {5, 0.95, 0.88, 1.03}), Verdict::WithinNoise) << "not opposite";
  EXPECT_EQ(verdict_of("<1.0", {5, 0.97, 0.93, 1.01}), Verdict::WithinNoise);
  EXPECT_EQ(verdict_of("30", {5, 10, -2, 22}, Quality::Reduction), Verdict::WithinNoise);
  EXPECT_EQ(verdict_of("about 1.0", {5, 1.0, 0.98, 1.02}), Verdict::Met) << "no effect was published";
  EXPECT_EQ(verdict_of(">=1.0", {5, 1.0, 0.98, 1.02}), Verdict::WithinBand) << "no direction was published";
  EXPECT_EQ(verdict_of("1.24", {5, 1, 1, 1}), Verdict::Missed) << "no noise, and no effect";
  EXPECT_EQ(verdict_of("30", {5, 10, 2, 18}, Quality::Share), Verdict::Missed) << "a share has no effect to be noise";
}

TEST(VerdictOfRepeats, IsOppositeOnlyWhereAllOfItIs) {
  EXPECT_EQ(verdict_of("1.24", {5, 0.9, 0.85, 0.95}), Verdict::Opposite);
  EXPECT_EQ(verdict_of("1.24", {5, 0.99, 0.982, 0.998}), Verdict::Missed) << "0.998 is no effect";
  EXPECT_EQ(verdict_of(">=1.0", {5, 0.9, 0.75, 1.05}), Verdict::Missed);
}

}  // namespace
}  // namespace nearfar::verdict_test
