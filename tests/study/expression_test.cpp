#include "study/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "config/error.h"
#include "study/made_up.h"

namespace nearfar::expression_test {
namespace {

const Statistics kStatistics = testing::stored({{"a.x", 6}, {"b_1.y", 4}, {"zero", 0}}).statistics;

std::optional<double> value(const std::string& text) { return Expression::parse(text, {}).evaluate(kStatistics); }

TEST(Expression, FollowsTheUsualOrder) {
  EXPECT_EQ(value("a.x"), 6);
  EXPECT_EQ(value("100 * a.x / b_1.y"), 150);
  EXPECT_EQ(value("a.x - b_1.y - 1"), 1);
  EXPECT_EQ(value("a.x + b_1.y * 2"), 14);
  EXPECT_EQ(value("(a.x + b_1.y) * 2"), 20);
  EXPECT_EQ(value("-a.x + 1e1"), 4);
  EXPECT_EQ(value("12 / a.x / b_1.y"), 0.5);
  EXPECT_EQ(value("12 /\n\ta.x\n/ b_1.y\n"), 0.5) << "as a text over several lines is read";
}

TEST(Expression, HasNoValueWhereThereIsNone) {
  EXPECT_TRUE(std::isnan(*value("a.x / zero"))) << "measured, but there is nothing to divide by";
  EXPECT_EQ(value("a.x + missing"), std::nullopt);
}

TEST(Expression, CountsTheSamplesOfAHistogram) {
  const Statistics statistics =
      testing::stored({{"h.below_1", 2}, {"h.below_16", 4}, {"h.below_8", 3}, {"h.max", 15}, {"i.max", 0}}).statistics;
  const auto count = [&](const std::string& text) { return Expression::parse(text, {}).evaluate(statistics); };
  EXPECT_EQ(count("samples(h)"), 9);
  EXPECT_EQ(count("below(h, 8)"), 5);
  EXPECT_EQ(count("100 - 100 * below(h, 4) / samples(h) * 4.5"), 0);
  EXPECT_EQ(count("samples(i)"), 0);
  EXPECT_EQ(count("samples(j)"), std::nullopt);
}

TEST(Expression, NamesWhatItNeeds) {
  const Expression expression = Expression::parse("a + b / a", {});
  ASSERT_EQ(expression.names().size(), 3U);
  EXPECT_EQ(expression.names()[1].text, "b");
}

TEST(Expression, MistakesPointAtTheirPlace) {
  const auto source = make_source("value: a + * b\n", "s.yaml");
  try {
    Expression::parse("a + * b", {source, 7, 7});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("s.yaml:1:12: `*` was not expected here"));
  }
  for (const char* text :
       {"", "a +", "(a", "a b", "a $ b", ")", "1..2 a", "samples(1)", "below(h)", "below(h, x)", "samples(h"}) {
    EXPECT_THROW(Expression::parse(text, {source, 0, 1}), InputError) << text;
  }
  EXPECT_THROW(Expression::parse(std::string(100000, '('), {source, 0, 1}), InputError);
}

TEST(Expression, KnowsTheStatisticsOfRuns) {
  EXPECT_TRUE(is_statistic("iommu.tlb.hits"));
  EXPECT_TRUE(is_statistic("gpu3.l2_tlb.hits"));
  EXPECT_TRUE(is_statistic("kernel.transpose.cycles"));
  EXPECT_TRUE(is_statistic("gpus.l2.remote.read_hits")) << "of runs with remote_cache: l1l2";
  EXPECT_FALSE(is_statistic("gpux.l2_tlb.hits"));
  EXPECT_FALSE(is_statistic("iommu.tlb.hitz"));
  EXPECT_TRUE(is_histogram("iommu.tlb.reuse_distance"));
  EXPECT_FALSE(is_histogram("iommu.tlb.hits"));
  EXPECT_EQ(renamed_statistic("gpus.gmmu.move_requests"), "gpus.gmmu.migration_requests");
  EXPECT_EQ(renamed_statistic("gpus.l2.move_requests"), "") << "no such statistic, then or now";
  EXPECT_EQ(renamed_statistic("iommu.tlb.hits"), "");
  EXPECT_EQ(nearest_statistic("iommu.tlb.hitz"), " Did you mean `iommu.tlb.hits`?");
}

}  // namespace
}  // namespace nearfar::expression_test
