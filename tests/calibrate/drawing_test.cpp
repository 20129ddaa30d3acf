// Readings that are drawn: they fill the space, and they are the same every time.
#include "calibrate/drawing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "calibrate/made_up_calibration.h"

namespace nearfar::drawing_test {
namespace {

using testing::made_up_calibration;

std::vector<Reading> drawn(const Calibration& calibration, std::size_t count) {
  std::vector<Reading> readings = first_wave(calibration, count);
  std::erase_if(readings, [](const Reading& reading) { return reading.own; });
  return readings;
}

TEST(Drawing, EveryValueOfAListIsTakenEquallyOften) {
  const Calibration calibration = made_up_calibration();
  const std::vector<Reading> readings = drawn(calibration, 24);
  ASSERT_EQ(readings.size(), 24u);
  for (std::size_t parameter = 0; parameter < 2; ++parameter) {
    std::map<double, int> counts;
    for (const Reading& reading : readings) ++counts[reading.at[parameter]];
    ASSERT_EQ(counts.size(), calibration.open[parameter].levels());
    for (const auto& [value, count] : counts) EXPECT_EQ(count, 24 / static_cast<int>(counts.size()));
  }
}

TEST(Drawing, EveryStratumOfARangeIsTakenOnce) {
  const Calibration calibration = made_up_calibration();
  std::set<int> strata;
  for (const Reading& reading : drawn(calibration, 16)) {
    const double value = reading.at[2];
    EXPECT_GE(value, 32);
    EXPECT_LE(value, 512);
    EXPECT_EQ(value, std::round(value));
    strata.insert(static_cast<int>(std::min(15.0, std::floor(place_of(calibration.open[2], value) * 16))));
  }
  EXPECT_GE(strata.size(), 14u);  // rounding to whole numbers may move one over an edge
}

TEST(Drawing, TheSystemAsItIsComesFirstAndNothingTwice) {
  const Calibration calibration = made_up_calibration();
  const std::vector<Reading> readings = first_wave(calibration, 24);
  EXPECT_TRUE(readings.front().own);
  EXPECT_EQ(readings[1].name, "1.001");
  std::set<std::vector<double>> different;
  for (std::size_t i = 1; i < readings.size(); ++i) different.insert(readings[i].at);
  EXPECT_EQ(different.size(), readings.size() - 1);
}

TEST(Drawing, IsTheSameEveryTime) {
  const Calibration calibration = made_up_calibration();
  const std::vector<Reading> a = first_wave(calibration, 24), b = first_wave(calibration, 24);
  for (std::size_t i = 1; i < a.size(); ++i) EXPECT_EQ(a[i].at, b[i].at);
  // These numbers are the same on every machine: the generator is that of the language standard.
  EXPECT_EQ(value_labels(calibration, a[1]).size(), 3u);
}

TEST(Drawing, AHypercubeSpreadsBetterThanChance) {
  const Calibration calibration = made_up_calibration();
  const std::vector<Reading> readings = drawn(calibration, 12);
  double nearest = 1;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) nearest = std::min(nearest, distance(calibration, readings[i], readings[j]));
  }
  EXPECT_GT(nearest, 0.05);  // of strata alone it would be 1/36
}

TEST(Drawing, ASmallSpaceIsTakenWhole) {
  Calibration calibration = made_up_calibration();
  calibration.open.pop_back();
  EXPECT_EQ(all_combinations(calibration, 6).size(), 6u);
  EXPECT_TRUE(all_combinations(calibration, 5).empty());
  EXPECT_EQ(first_wave(calibration, 6).size(), 6u);  // the system as it is is one of them
}

TEST(Drawing, ALaterWaveGoesWhereItIsExpectedNotToBeRuledOut) {
  const Calibration calibration = made_up_calibration();
  const std::vector<Reading> tried = first_wave(calibration, 8);
  // Only 64 GB/s and less than 64 MSHRs.
  const auto expected = [](const Reading& reading) { return reading.at[0] == 2 && reading.at[2] < 64 ? 1.0 : 9.0; };
  const std::vector<Reading> next = next_wave(calibration, 2, 10, tried, expected);
  ASSERT_EQ(next.size(), 10u);
  for (const Reading& reading : next) {
    EXPECT_EQ(reading.wave, 2u);
    EXPECT_EQ(expected(reading), 1.0);
    for (const Reading& other : tried) EXPECT_NE(reading.at, other.at);
  }
}

TEST(Drawing, WhereFewRemainTheLeastImplausibleComeBesideThem) {
  Calibration calibration = made_up_calibration();
  calibration.open.pop_back();
  const std::vector<Reading> next =
      next_wave(calibration, 2, 3, {}, [](const Reading& reading) { return 10 + reading.at[0]; });
  ASSERT_EQ(next.size(), 3u);
  EXPECT_EQ(next[0].at[0], 0);
  EXPECT_EQ(next[1].at[0], 0);
  EXPECT_EQ(next[2].at[0], 1);
}

}  // namespace
}  // namespace nearfar::drawing_test
