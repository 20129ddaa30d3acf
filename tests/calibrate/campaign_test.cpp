// History matching on simulators that are formulas: the true reading is found, facts that contradict each other are
// reported, and repeats go where they are needed.
#include "calibrate/campaign.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "calibrate/analysis.h"
#include "calibrate/calibration_page.h"
#include "calibrate/emulator.h"
#include "calibrate/made_up_calibration.h"
#include "calibrate/summary.h"

namespace nearfar::campaign_test {
namespace {

using ::testing::AllOf;
using testing::formula;
using ::testing::HasSubstr;
using testing::made_up_calibration;

/// Where the range is for the system as it is: nobody knows, so the middle.
double place_in_range(const Calibration& calibration, const Reading& reading) {
  return std::isnan(reading.at[2]) ? 0.5 : place_of(calibration.open[2], reading.at[2]);
}

/// Meets both facts (10 and 20) at 64 GB/s, 16 MSHRs and three quarters of the range, and nowhere far from there.
std::vector<double> true_formula(const Calibration& calibration, const Reading& reading, std::uint32_t draw) {
  const double place = place_in_range(calibration, reading), noise = 0.1 * (draw % 3) - 0.1;
  const double a = 10 + 8 * (2 - reading.at[0]) + 20 * (place - 0.75) + noise;
  const double b = 20 + 15 * reading.at[1] - 4 * (place - 0.75) + noise;
  return {a, b};
}

TEST(Campaign, FindsTheTrueReading) {
  const Calibration calibration = made_up_calibration();
  const auto simulate =
      formula([&](const Reading& reading, std::uint32_t draw) { return true_formula(calibration, reading, draw); });
  const std::vector<ReadingOutcome> outcomes = run_campaign(calibration, {20, 3, 3}, simulate);
  const CalibrationAnalysis analysis = analyse(calibration, outcomes);
  ASSERT_TRUE(analysis.chosen);
  EXPECT_FALSE(analysis.all_ruled_out);
  const Reading& best = outcomes[*analysis.chosen].reading;
  EXPECT_EQ(value_labels(calibration, best)[0], "64GB/s");
  EXPECT_EQ(value_labels(calibration, best)[1], "16");
  EXPECT_NEAR(place_of(calibration.open[2], best.at[2]), 0.75, 0.05);
  for (const std::size_t i : analysis.remaining) EXPECT_EQ(outcomes[i].reading.at[1], 0);
  EXPECT_TRUE(analysis.contradictions.empty());
}

TEST(Campaign, LaterWavesAreNearerToTheFacts) {
  const Calibration calibration = made_up_calibration();
  const auto simulate =
      formula([&](const Reading& reading, std::uint32_t draw) { return true_formula(calibration, reading, draw); });
  const std::vector<ReadingOutcome> outcomes = run_campaign(calibration, {20, 2, 1}, simulate);
  double mean[3] = {0, 0, 0};
  int count[3] = {0, 0, 0};
  for (const ReadingOutcome& outcome : outcomes)
    mean[outcome.reading.wave] += outcome.all.mean, ++count[outcome.reading.wave];
  ASSERT_EQ(count[2], 20);
  EXPECT_LT(mean[2] / count[2], 0.5 * mean[1] / count[1]);
}

TEST(Campaign, RepeatsGoOnlyWhereTheFactsAreNear) {
  const Calibration calibration = made_up_calibration();
  std::size_t repeats = 0;
  const auto simulate = formula([&](const Reading& reading, std::uint32_t draw) {
    repeats += draw > 0 ? 1 : 0;
    return true_formula(calibration, reading, draw);
  });
  const std::vector<ReadingOutcome> outcomes = run_campaign(calibration, {40, 1, 3}, simulate);
  std::size_t repeated = 0;
  for (const ReadingOutcome& outcome : outcomes) {
    if (outcome.values.front().draws == 1) {
      EXPECT_GT(outcome.all.max, calibration.cutoff);
      EXPECT_GT(outcome.values.front().variance, 0);  // pooled from those that were repeated
      continue;
    }
    EXPECT_EQ(outcome.values.front().draws, 3u);
    ++repeated;
  }
  EXPECT_EQ(repeats, 2 * repeated);
  EXPECT_GE(repeated, 5u);
  EXPECT_LT(repeated, 20u);
}

TEST(Campaign, SaysWhichFactsContradictEachOther) {
  const Calibration calibration = made_up_calibration();
  // `a` wants 16 GB/s, `b` wants 64 GB/s.
  const auto simulate = formula([&](const Reading& reading, std::uint32_t) {
    return std::vector<double>{10 + 10 * reading.at[0], 20 + 10 * (2 - reading.at[0])};
  });
  const std::vector<ReadingOutcome> outcomes = run_campaign(calibration, {20, 2, 1}, simulate);
  const CalibrationAnalysis analysis = analyse(calibration, outcomes);
  EXPECT_TRUE(analysis.all_ruled_out);
  EXPECT_FALSE(analysis.remaining.empty());
  ASSERT_EQ(analysis.contradictions.size(), 1u);
  EXPECT_EQ(analysis.contradictions[0].a, 0u);
  EXPECT_EQ(analysis.contradictions[0].b, 1u);
  EXPECT_NEAR(analysis.contradictions[0].implausibility, 10, 1e-9);
  EXPECT_GT(analysis.met_by[0], 0u);
  const CalibrationSummary summary = summarize(calibration, outcomes, analysis, 5);
  EXPECT_THAT(summary.heading, HasSubstr("all are ruled out"));
  EXPECT_THAT(summary.contradictions.at(0),
              AllOf(HasSubstr("`a`"), HasSubstr("`b`"), HasSubstr("no reading meets both")));
}

TEST(Campaign, SaysWhichParametersMatter) {
  const Calibration calibration = made_up_calibration();
  const auto simulate = formula([&](const Reading& reading, std::uint32_t) {
    return std::vector<double>{5 * reading.at[0], 3 * place_in_range(calibration, reading)};
  });
  const std::vector<ReadingOutcome> outcomes = run_campaign(calibration, {60, 1, 1}, simulate);
  const CalibrationAnalysis analysis = analyse(calibration, outcomes);
  EXPECT_GT(analysis.sensitivity[0][0], 0.95);
  EXPECT_LT(analysis.sensitivity[0][1], 0.1);
  EXPECT_LT(analysis.sensitivity[1][0], 0.1);
  EXPECT_GT(analysis.sensitivity[2][1], 0.85);
}

TEST(Campaign, AReadingThatCannotRunIsLeftOutAndNamed) {
  const Calibration calibration = made_up_calibration();
  const Simulate simulate = [&](const std::vector<Trial>& trials) {
    std::vector<TrialOutcome> outcomes;
    for (const Trial& trial : trials) {
      if (trial.reading.at[0] == 0) {
        outcomes.push_back({{std::nullopt, 1.0}, "it cannot be made"});
      } else {
        outcomes.push_back({{10.0, trial.reading.at[1] == 0 ? NAN : 20.0}, ""});
      }
    }
    return outcomes;
  };
  const std::vector<ReadingOutcome> outcomes = run_campaign(calibration, {12, 1, 2}, simulate);
  const CalibrationAnalysis analysis = analyse(calibration, outcomes);
  ASSERT_TRUE(analysis.chosen);
  for (const std::size_t i : analysis.order)
    EXPECT_TRUE(outcomes[i].reading.at[0] != 0 && outcomes[i].reading.at[1] != 0);
  const CalibrationSummary summary = summarize(calibration, outcomes, analysis, 5);
  EXPECT_EQ(summary.not_judged.size(), outcomes.size() - analysis.order.size());
  EXPECT_THAT(summary.not_judged, ::testing::Contains(HasSubstr("it cannot be made")));
  EXPECT_THAT(summary.not_judged, ::testing::Contains(HasSubstr("nothing to divide by")));
}

TEST(Emulator, LearnsMainEffectsAndKnowsHowFarItIsOff) {
  const Calibration calibration = made_up_calibration();
  std::vector<Reading> readings = wave_readings(calibration, 1, 30, {});
  std::erase_if(readings, [](const Reading& reading) { return reading.own; });
  std::vector<const Reading*> places;
  std::vector<double> exact, wild;
  for (std::size_t i = 0; i < readings.size(); ++i) {
    places.push_back(&readings[i]);
    exact.push_back(3 + 2 * readings[i].at[0] - 5 * place_of(calibration.open[2], readings[i].at[2]));
    wild.push_back(i % 2 == 0 ? 10 : -10);
  }
  const Emulator emulator(calibration, places, exact);
  EXPECT_NEAR(emulator.mean(readings[3]), exact[3], 0.3);
  EXPECT_LT(emulator.variance(), 0.1);
  EXPECT_GT(Emulator(calibration, places, wild).variance(), 50);
}

TEST(CalibrationPage, ShowsFactsReadingsWhatMattersAndWhatContradicts) {
  const Calibration calibration = made_up_calibration();
  const auto simulate =
      formula([&](const Reading& reading, std::uint32_t draw) { return true_formula(calibration, reading, draw); });
  const std::vector<ReadingOutcome> outcomes = run_campaign(calibration, {10, 1, 2}, simulate);
  const std::string page =
      calibration_html(calibration, outcomes, analyse(calibration, outcomes), {"1.2", "abc", "x.db"});
  EXPECT_THAT(page,
              AllOf(HasSubstr("Calibration of Made up"), HasSubstr("Facts of the baseline"), HasSubstr("What matters"),
                    HasSubstr("link.bandwidth 16GB/s"), HasSubstr("anything between"), HasSubstr("<svg")));
  EXPECT_THAT(outcomes_csv(calibration, outcomes), HasSubstr("\nown,1,as it is,a,10,"));
}

}  // namespace
}  // namespace nearfar::campaign_test
