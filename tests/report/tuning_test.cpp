// Sweeps on made-up cycles.
#include "report/tuning.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nearfar::tuning_test {
namespace {

using ::testing::ElementsAre;
using ::testing::Optional;
using ::testing::SizeIs;

Tuning line() {
  Tuning tuning;
  tuning.workloads = {"A", "B"};
  tuning.parameters = {{"walkers", {"1", "2", "4", "8"}}};
  tuning.cycles = {{800, 400, 210, 200}, {100, 99, 98, 98}};
  find_knees(tuning);
  return tuning;
}

Tuning plane() {
  Tuning tuning;
  tuning.workloads = {"A"};
  tuning.parameters = {{"walkers", {"1", "2", "4"}}, {"entries", {"16", "32", "64"}}};
  tuning.cycles = {{600, 400, 310, 600, 302, 300, 600, 301, 300}};
  find_knees(tuning);
  return tuning;
}

TEST(Tuning, NamesItsPoints) {
  EXPECT_EQ(plane().points(), 9U);
  EXPECT_THAT(plane().overrides(4), ElementsAre("walkers=2", "entries=32"));
  EXPECT_EQ(plane().label(4), "2, 32");
}

TEST(Tuning, FindsKneesOfEachWorkloadAndOfAll) {
  const Tuning tuning = line();
  ASSERT_THAT(tuning.curves, SizeIs(3));
  EXPECT_THAT(tuning.curves[0].knee.enough, Optional(2U));
  EXPECT_FALSE(tuning.curves[1].knee.enough);
  EXPECT_EQ(tuning.curves[2].label, "geometric mean");
  EXPECT_EQ(knee_sentence(tuning, tuning.curves[0]),
            "A: walkers=4 is enough, the cheapest within 5 % of the best; the knee is at 4.");
  EXPECT_EQ(knee_sentence(tuning, tuning.curves[1]), "B: it hardly matters (all settings are within 2.0 %).");
}

TEST(Tuning, OfAPlaneTakesTheFewestSteps) {
  const Tuning tuning = plane();
  EXPECT_THAT(tuning.curves[0].knee.enough, Optional(4U)) << "as many steps as point 2, and faster";
  EXPECT_EQ(knee_sentence(tuning, tuning.curves[0]),
            "A: walkers=2 entries=32 is enough, the cheapest within 5 % of the best.");
}

TEST(Tuning, ACurveThatStillRisesIsNotEnoughAnywhere) {
  Tuning tuning = line();
  tuning.cycles = {{800, 400, 200, 100}, {100, 60, 50, 47}};
  find_knees(tuning);
  EXPECT_FALSE(tuning.curves[0].knee.enough);
  EXPECT_TRUE(tuning.curves[0].knee.rising);
  EXPECT_EQ(knee_sentence(tuning, tuning.curves[0]),
            "A: it still rises at the edge of the sweep; walkers=8 is the best of these, and more may be better; there "
            "is no knee.");
  EXPECT_EQ(knee_sentence(tuning, tuning.curves[1]),
            "B: it still rises at the edge of the sweep; walkers=8 is the best of these, and more may be better; the "
            "knee is at 2.");
  const auto figures = tuning_figures(tuning);
  for (const FigureMark& mark : figures[0].marks) EXPECT_NE(mark.text, "enough");
}

TEST(Tuning, APlaneThatStillRisesAtAnEdgeIsNotEnoughAnywhere) {
  Tuning tuning = plane();
  tuning.cycles = {{600, 500, 490, 400, 300, 290, 300, 200, 195}};
  find_knees(tuning);
  EXPECT_TRUE(tuning.curves[0].knee.rising) << "along walkers";
  EXPECT_EQ(knee_sentence(tuning, tuning.curves[0]),
            "A: it still rises at the edge of the sweep; walkers=4 entries=64 is the best of these, and more may be "
            "better.");
  EXPECT_TRUE(tuning_figures(tuning)[0].marks.empty());
}

TEST(Tuning, IsDrawnWithItsKnees) {
  const auto curves = tuning_figures(line());
  ASSERT_THAT(curves, SizeIs(1));
  EXPECT_EQ(curves[0].kind, FigureKind::Lines);
  EXPECT_THAT(curves[0].categories, ElementsAre("1", "2", "4", "8"));
  ASSERT_FALSE(curves[0].marks.empty());
  EXPECT_EQ(curves[0].marks[0].category, 2U);
  const auto planes = tuning_figures(plane());
  ASSERT_THAT(planes, SizeIs(1));
  EXPECT_EQ(planes[0].kind, FigureKind::Heat);
  EXPECT_THAT(planes[0].series, SizeIs(3));
  EXPECT_THAT(planes[0].marks, SizeIs(1));
}

/// One workload in two draws.
Tuning repeated(const std::vector<std::vector<double>>& points) {
  Tuning tuning;
  tuning.workloads = {"A"};
  tuning.parameters = {{"walkers", {}}};
  for (std::size_t i = 0; i < points.size(); ++i) tuning.parameters[0].settings.push_back(std::to_string(1U << i));
  tuning.repeats = {points};
  find_knees(tuning);
  return tuning;
}

TEST(TuningRepeats, SpeedupsArePairedByDraw) {
  const Tuning tuning = repeated({{100, 400, 200}, {50, 200, 100}, {50, 100, 200}});
  EXPECT_DOUBLE_EQ(tuning.cycles[0][0], 200) << "the geometric mean";
  EXPECT_DOUBLE_EQ(tuning.curves[0].speedups[1], 2);
  EXPECT_NEAR(tuning.curves[0].intervals[1].half_width(), 0, 1e-12);
  EXPECT_GT(tuning.curves[0].intervals[2].half_width(), 1);
  EXPECT_EQ(tuning_figures(tuning)[0].series[0].intervals.size(), 3U);
}

TEST(TuningRepeats, ADifferenceWithinNoiseIsNoGain) {
  // The last setting is 8 % faster than the second in the mean, but not in every draw.
  const Tuning tuning = repeated({{200, 210, 205}, {100, 105, 103}, {80, 115, 95}});
  EXPECT_LT(tuning.curves[0].speedups[1], 0.95 * tuning.curves[0].speedups[2]);
  EXPECT_THAT(tuning.curves[0].knee.enough, Optional(1U));
  EXPECT_EQ(knee_sentence(tuning, tuning.curves[0]),
            "A: walkers=2 is enough, the cheapest within 5 % of the best or within its noise; the knee is at 2.");
  // The same means, every draw alike.
  const Tuning sure = repeated({{200, 210, 205}, {100, 105, 103}, {93, 98, 96}});
  EXPECT_TRUE(sure.curves[0].knee.rising) << "only the last is near the best";
  const Tuning flat = repeated({{100, 100, 100}, {80, 110, 95}});
  EXPECT_FALSE(flat.curves[0].knee.enough);
  EXPECT_EQ(knee_sentence(flat, flat.curves[0]),
            "A: it hardly matters (all settings are within 6.2 %, which is within noise).");
}

TEST(TuningRepeats, OfAPlaneLookAtNoiseToo) {
  Tuning tuning = plane();
  tuning.repeats = {
      {{600, 600, 600}, {400, 400, 400}, {350, 250, 340}, {600, 600, 600}, {302, 300, 305}, {300, 290, 310}}};
  find_knees(tuning);
  EXPECT_THAT(tuning.curves[0].knee.enough, Optional(4U));
  tuning.repeats[0][1] = {250, 500, 300};
  find_knees(tuning);
  EXPECT_THAT(tuning.curves[0].knee.enough, Optional(1U)) << "within noise of the best, and the fewest steps";
}

}  // namespace
}  // namespace nearfar::tuning_test
