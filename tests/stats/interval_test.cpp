// Intervals against numbers worked out by hand and tables of Student's t.
#include "stats/interval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace nearfar::interval_test {
namespace {

TEST(StudentT, IsWhatTablesSay) {
  EXPECT_NEAR(student_t95(1), 12.706, 5e-4);
  EXPECT_NEAR(student_t95(2), 4.303, 5e-4);
  EXPECT_NEAR(student_t95(4), 2.776, 5e-4);
  EXPECT_NEAR(student_t95(9), 2.262, 5e-4);
  EXPECT_NEAR(student_t95(29), 2.045, 5e-4);
  EXPECT_NEAR(student_t95(30), 2.042, 5e-4);
  EXPECT_NEAR(student_t95(40), 2.021, 5e-4);
  EXPECT_NEAR(student_t95(60), 2.000, 5e-4);
  EXPECT_NEAR(student_t95(120), 1.980, 5e-4);
  EXPECT_NEAR(student_t95(100000), 1.960, 5e-4);
}

TEST(StudentT, FallsFromDegreeToDegreeAcrossTheEndOfItsTable) {
  for (std::size_t degrees = 1; degrees < 200; ++degrees) {
    EXPECT_GT(student_t95(degrees), student_t95(degrees + 1)) << degrees;
  }
}

TEST(Interval, OfFiveValues) {
  // Mean 3, sum of squares 10, variance 2.5, standard error sqrt(0.5); 2.77645 times that is 1.96324.
  const Interval interval = interval_of(std::vector<double>{1, 2, 3, 4, 5});
  EXPECT_EQ(interval.count, 5U);
  EXPECT_DOUBLE_EQ(interval.mean, 3);
  EXPECT_NEAR(interval.low, 1.03676, 1e-5);
  EXPECT_NEAR(interval.high, 4.96324, 1e-5);
  EXPECT_NEAR(interval.half_width(), 1.96324, 1e-5);
  EXPECT_TRUE(interval.holds(1.04));
  EXPECT_FALSE(interval.holds(1.03));
  EXPECT_FALSE(interval.holds(5));
}

TEST(Interval, OfOneValueHasNoSpread) {
  for (const Interval& interval :
       {interval_of(std::vector<double>{1.1}), geometric_interval_of(std::vector<double>{1.1})}) {
    EXPECT_EQ(interval.count, 1U);
    EXPECT_EQ(interval.mean, 1.1);
    EXPECT_FALSE(interval.has_spread());
    EXPECT_FALSE(interval.holds(1.1)) << "what is not known is no noise";
  }
}

TEST(Interval, OfEqualValuesIsThatValue) {
  const Interval interval = geometric_interval_of(std::vector<double>{1, 1, 1});
  EXPECT_DOUBLE_EQ(interval.low, 1);
  EXPECT_DOUBLE_EQ(interval.high, 1);
  EXPECT_TRUE(interval.holds(1));
  EXPECT_FALSE(interval.within_noise_of(1)) << "there is no noise";
  EXPECT_TRUE((Interval{3, 1.01, 0.99, 1.03}).within_noise_of(1));
}

TEST(Interval, GeometricIsTheArithmeticOneOfLogarithms) {
  // Logarithms 0, 1, 2 (times ln 2): mean 1, standard error 1/sqrt(3), 4.30265 times that is 2.48414.
  const Interval interval = geometric_interval_of(std::vector<double>{1, 2, 4});
  EXPECT_DOUBLE_EQ(interval.mean, 2);
  EXPECT_NEAR(interval.low, std::exp2(1 - 2.48414), 1e-4);
  EXPECT_NEAR(interval.high, std::exp2(1 + 2.48414), 1e-4);
  EXPECT_DOUBLE_EQ(interval.half_width(), interval.high - interval.mean);
}

TEST(Interval, OfPairedRatiosForgetsWhatBothShare) {
  // Each run is twice as long as the one before, and the design always 10 % faster: the ratio has no spread.
  std::vector<double> ratios;
  for (const double cycles : {100.0, 200.0, 400.0, 800.0}) ratios.push_back(cycles / (cycles / 1.1));
  const Interval interval = geometric_interval_of(ratios);
  EXPECT_NEAR(interval.low, 1.1, 1e-9);
  EXPECT_NEAR(interval.high, 1.1, 1e-9);
}

}  // namespace
}  // namespace nearfar::interval_test
