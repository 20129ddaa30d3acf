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
  for (const FigureMark& mark : tuning_figures(tuning)[0].marks) EXPECT_NE(mark.text, "enough");
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

}  // namespace
}  // namespace nearfar::tuning_test
