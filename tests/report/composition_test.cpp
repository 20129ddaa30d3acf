// Effects of designs and pairs on made-up cycles, and knees of made-up sweeps.
#include "report/composition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <cmath>

#include "report/knee.h"

namespace nearfar::composition_test {
namespace {

using ::testing::DoubleNear;
using ::testing::Optional;

/// Speedups of all subsets over a baseline of 1000 cycles, for one workload.
Composition composition(std::vector<std::string> designs, const std::vector<double>& speedups) {
  Composition result;
  result.designs = std::move(designs);
  result.workloads = {"W"};
  for (std::uint32_t members = 0; members < speedups.size(); ++members) {
    Combination each;
    each.members = members;
    each.label = combination_label(result.designs, members);
    each.cycles = {1000 / speedups[members]};
    result.combinations.push_back(std::move(each));
  }
  return result;
}

Relationship relationship_of(double a, double b, double both) {
  Composition made = composition({"a", "b"}, {1, a, b, both});
  analyse(made);
  return made.pairs.at(0).relationship;
}

TEST(Composition, NamesCombinations) {
  EXPECT_EQ(combination_label({"a", "b", "c"}, 0), "baseline");
  EXPECT_EQ(combination_label({"a", "b", "c"}, 5), "a+c");
}

TEST(Composition, TellsHowPairsGetOn) {
  EXPECT_EQ(relationship_of(1.2, 1.5, 1.8), Relationship::AddUp);
  EXPECT_EQ(relationship_of(1.2, 1.5, 1.81), Relationship::AddUp) << "within the threshold";
  EXPECT_EQ(relationship_of(1.2, 1.5, 2.0), Relationship::Reinforce);
  EXPECT_EQ(relationship_of(1.2, 1.5, 1.6), Relationship::Overlap);
  EXPECT_EQ(relationship_of(1.2, 1.5, 1.49), Relationship::Overlap) << "as good as the better one";
  EXPECT_EQ(relationship_of(1.2, 1.5, 1.4), Relationship::Fight);
  EXPECT_EQ(relationship_of(0.9, 0.9, 0.81), Relationship::AddUp) << "two slowdowns";
}

TEST(Composition, AveragesOverTheOthers) {
  // c doubles what a and b interact by.
  Composition made = composition({"a", "b", "c"}, {1, 2, 3, 6, 1, 2, 3, 12});
  analyse(made);
  EXPECT_THAT(made.effects[0].alone, Optional(DoubleNear(2, 1e-9)));
  EXPECT_THAT(made.effects[2].alone, Optional(DoubleNear(1, 1e-9)));
  EXPECT_THAT(made.effects[0].average, Optional(DoubleNear(std::pow(2 * 2 * 2 * 4, 0.25), 1e-9)));
  EXPECT_THAT(made.pairs[0].interaction, Optional(DoubleNear(1, 1e-9))) << "of the pair alone";
  EXPECT_THAT(made.pairs[0].average, Optional(DoubleNear(std::sqrt(2), 1e-9)));
}

TEST(Composition, LeavesOutWhatIsRefusedOrMissing) {
  Composition made = composition({"a", "b", "c"}, {1, 2, 3, 1, 1.5, 3, 1, 1});
  for (const std::uint32_t with_both : {3U, 7U}) {
    made.combinations[with_both].cycles = {std::nullopt};
    made.combinations[with_both].refused = "both decide the seam `placement`";
  }
  made.combinations[6].cycles = {std::nullopt};
  analyse(made);
  EXPECT_EQ(made.pairs[0].relationship, Relationship::Refused);
  EXPECT_FALSE(made.pairs[0].interaction);
  EXPECT_EQ(made.pairs[1].relationship, Relationship::AddUp) << "a and c";
  EXPECT_EQ(made.pairs[2].relationship, Relationship::Unknown) << "b and c were not measured together";
  const auto figures = composition_figures(made);
  ASSERT_EQ(figures.size(), 2U);
  EXPECT_EQ(figures[0].categories.size(), 5U) << "all but the baseline and the refused";
  ASSERT_EQ(least_refused(made).size(), 1U) << "the other one contains it";
  EXPECT_EQ(least_refused(made)[0]->label, "a+b");
  EXPECT_EQ(figures[0].notes.size(), 1U);
  EXPECT_FALSE(figures[1].series[0].values[1]);
  EXPECT_TRUE(figures[1].series[2].values[0]);
}

// Designs whose speedups multiply have the same effect in every company, and no pair of them interacts.
RC_GTEST_PROP(Composition, OfIndependentDesignsAddsUp, ()) {
  const auto count = *rc::gen::inRange<std::size_t>(2, 5);
  std::vector<double> factors;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < count; ++i) {
    factors.push_back(static_cast<double>(*rc::gen::inRange(50, 300)) / 100);
    names.push_back(std::string(1, static_cast<char>('a' + i)));
  }
  std::vector<double> speedups(std::size_t{1} << count, 1);
  for (std::uint32_t members = 0; members < speedups.size(); ++members) {
    for (std::size_t i = 0; i < count; ++i) speedups[members] *= (members >> i & 1U) != 0 ? factors[i] : 1;
  }
  Composition made = composition(names, speedups);
  analyse(made);
  for (std::size_t i = 0; i < count; ++i) RC_ASSERT(std::abs(*made.effects[i].average - factors[i]) < 1e-9);
  for (const PairEffect& pair : made.pairs) {
    RC_ASSERT(std::abs(*pair.interaction - 1) < 1e-9);
    RC_ASSERT(std::abs(*pair.average - 1) < 1e-9);
    RC_ASSERT(pair.relationship == Relationship::AddUp);
  }
}

TEST(Knee, IsWhereMoreStopsPayingOff) {
  const Knee knee = find_knee(std::vector<double>{1, 1.9, 3.5, 5.2, 5.9, 6.0});
  EXPECT_THAT(knee.enough, Optional(4U));
  EXPECT_THAT(knee.bend, Optional(3U));
}

TEST(Knee, OfAFlatSweepIsNowhere) {
  const Knee knee = find_knee(std::vector<double>{1, 1.01, 1.04, 1.03});
  EXPECT_FALSE(knee.enough);
  EXPECT_FALSE(knee.bend);
}

TEST(Knee, OfAStraightLineHasNoBend) {
  const Knee knee = find_knee(std::vector<double>{1, 2, 3, 4, 5});
  EXPECT_FALSE(knee.enough) << "a sixth setting may be better still";
  EXPECT_TRUE(knee.rising);
  EXPECT_FALSE(knee.bend);
}

TEST(Knee, OfASweepThatGetsWorseIsItsStart) {
  EXPECT_THAT(find_knee(std::vector<double>{2, 1.5, 1}).enough, Optional(0U));
}

TEST(Knee, OfOneSettingIsNowhere) { EXPECT_FALSE(find_knee(std::vector<double>{1}).enough); }

/// Cycles of neither, a, b and both, by draw.
Composition repeated(const std::vector<std::vector<double>>& cycles) {
  Composition made = composition({"a", "b"}, {1, 1, 1, 1});
  for (std::size_t i = 0; i < 4; ++i) made.combinations[i].repeats = {cycles[i]};
  analyse(made);
  return made;
}

TEST(CompositionRepeats, PairDrawsAndGiveIntervals) {
  // a always doubles the speed, b does so in the mean, and both together are worth the product of both in each draw.
  const Composition made = repeated({{800, 1000}, {400, 500}, {800, 250}, {400, 125}});
  EXPECT_THAT(made.effects[0].alone, Optional(DoubleNear(2, 1e-9)));
  ASSERT_TRUE(made.effects[0].alone_interval);
  EXPECT_NEAR(made.effects[0].alone_interval->half_width(), 0, 1e-9);
  EXPECT_THAT(made.effects[1].alone, Optional(DoubleNear(2, 1e-9)));
  EXPECT_TRUE(made.effects[1].alone_interval->holds(1)) << "1 in one draw, 4 in the other";
  EXPECT_NEAR(made.pairs[0].interaction_interval->half_width(), 0, 1e-9);
  EXPECT_EQ(made.pairs[0].relationship, Relationship::AddUp);
  EXPECT_EQ(composition_figures(made)[0].series[0].intervals.size(), 3U);
  EXPECT_FALSE(composition({"a"}, {1, 2}).combinations[0].mean_interval);
}

TEST(CompositionRepeats, AnInteractionWithinNoiseIsNone) {
  const auto relationship = [](const std::vector<std::vector<double>>& cycles) {
    return repeated(cycles).pairs[0].relationship;
  };
  const std::vector<double> neither(3, 1000), half(3, 500);
  EXPECT_EQ(relationship({neither, half, half, {200, 200, 201}}), Relationship::Reinforce);
  EXPECT_EQ(relationship({neither, half, half, {150, 300, 210}}), Relationship::WithinNoise);
  EXPECT_EQ(relationship({neither, half, half, {700, 705, 702}}), Relationship::Fight);
  EXPECT_EQ(relationship({neither, half, half, {450, 650, 520}}), Relationship::Overlap)
      << "less than the product for certain, worse than either only by chance";
  EXPECT_EQ(relationship_name(Relationship::WithinNoise), "within noise");
}

}  // namespace
}  // namespace nearfar::composition_test
