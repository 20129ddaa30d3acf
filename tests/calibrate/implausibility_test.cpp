// Implausibility against numbers worked out by hand.
#include "calibrate/implausibility.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "calibrate/analysis.h"

namespace nearfar::implausibility_test {
namespace {

Target target(const std::string& published, double sigma) {
  Target out;
  out.published = *parse_published(published);
  out.sigma = sigma;
  return out;
}

TEST(Implausibility, OfOneDrawIsTheDistanceInSigmas) {
  EXPECT_DOUBLE_EQ(implausibility(target("20.9", 2), 0, simulated_of(std::array{14.9})), 3);
}

TEST(Implausibility, NoiseOfRepeatsAndDiscrepancyAddInSquares) {
  // Draws 10, 12, 14: mean 12, variance 4, of the mean 4/3. (12 - 20)^2 over 9 + 4/3 + 25 - 1/3 = 35.
  const Simulated simulated = simulated_of(std::array{10.0, 12.0, 14.0});
  EXPECT_DOUBLE_EQ(simulated.mean, 12);
  EXPECT_DOUBLE_EQ(simulated.variance, 4.0 / 3);
  EXPECT_NEAR(implausibility(target("20", 3), 5, simulated), 8 / std::sqrt(9 + 4.0 / 3 + 25), 1e-12);
  EXPECT_NEAR(implausibility(target("20", 3), 5, simulated), 1.3458, 1e-4);
}

TEST(Implausibility, OfABoundIsNothingWhereItHolds) {
  EXPECT_EQ(implausibility(target("<1.0", 0.1), 0, simulated_of(std::array{0.7})), 0);
  EXPECT_NEAR(implausibility(target("<1.0", 0.1), 0, simulated_of(std::array{1.2})), 2, 1e-12);
  EXPECT_EQ(implausibility(target(">90", 2), 0, simulated_of(std::array{95.0})), 0);
  EXPECT_EQ(implausibility(target(">90", 2), 0, simulated_of(std::array{84.0})), 3);
  EXPECT_EQ(implausibility(target("3..4", 0.5), 0, simulated_of(std::array{3.5})), 0);
  EXPECT_EQ(implausibility(target("3..4", 0.5), 0, simulated_of(std::array{2.0})), 2);
  EXPECT_EQ(implausibility(target("3..4", 0.5), 0, simulated_of(std::array{6.0})), 4);
}

TEST(Implausibility, TheVarianceOfADrawIsPooledOverReadings) {
  // Squares about the means: 2 of 1 degree, 8 of 2 degrees.
  const std::array readings = {simulated_of(std::array{1.0, 3.0}), simulated_of(std::array{10.0, 12.0, 14.0}),
                               simulated_of(std::array{5.0})};
  EXPECT_NEAR(pooled_variance(readings), 10.0 / 3, 1e-12);
  EXPECT_EQ(pooled_variance(std::array{simulated_of(std::array{5.0})}), 0);
}

TEST(Implausibility, OfAReadingIsTheLargestWithTheMeanBesideIt) {
  const Implausibility all = over_targets(std::array{1.0, 4.0, 1.0});
  EXPECT_EQ(all.max, 4);
  EXPECT_DOUBLE_EQ(all.mean, 2);
  EXPECT_EQ(all.worst, 1u);
}

TEST(MainEffect, IsTheShareThatGroupsExplainBeyondChance) {
  // Between groups 16 of 1 degree, within 2 of 2 degrees, in all 18: (16 - 1) / 18.
  EXPECT_NEAR(main_effect({0, 0, 1, 1}, {1, 2.41421356, 5, 6.41421356}), (16.0 - 1) / 18, 1e-6);
  EXPECT_NEAR(main_effect({0, 0, 1, 1}, {1, 1, 5, 5}), 1, 1e-12);
  EXPECT_EQ(main_effect({0, 1, 0, 1}, {1, 1, 5, 5}), 0);
  EXPECT_EQ(main_effect({0, 0, 0}, {1, 2, 3}), 0);
  EXPECT_EQ(main_effect({}, {}), 0);
  const double up = std::nextafter(0.1, 1);
  EXPECT_EQ(main_effect({0, 0, 1, 1}, {0.1, 0.1, up, up}), 0) << "a number that is the same but for rounding";
}

}  // namespace
}  // namespace nearfar::implausibility_test
