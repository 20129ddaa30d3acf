// The nearest right name.
#include "config/nearest.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nearfar::nearest_test {
namespace {

const std::vector<std::string> kNames = {"size", "ways", "banks", "tag_latency", "data_latency", "bank_index"};

TEST(Nearest, FindsOneWrongLetter) { EXPECT_EQ(nearest("sise", kNames), "size"); }
TEST(Nearest, FindsAMissingLetter) { EXPECT_EQ(nearest("bans", kNames), "banks"); }
TEST(Nearest, FindsAnExtraLetter) { EXPECT_EQ(nearest("wayss", kNames), "ways"); }
TEST(Nearest, CountsASwapOfNeighboursAsOne) { EXPECT_EQ(nearest("wyas", kNames), "ways"); }
TEST(Nearest, IgnoresCase) { EXPECT_EQ(nearest("SIZE", kNames), "size"); }
TEST(Nearest, TakesADashForAnUnderscore) { EXPECT_EQ(nearest("tag-latency", kNames), "tag_latency"); }
TEST(Nearest, TakesTheBeginningOfAName) { EXPECT_EQ(nearest("tag", kNames), "tag_latency"); }
TEST(Nearest, TakesAPartOfAName) { EXPECT_EQ(nearest("latency", kNames), "tag_latency"); }
TEST(Nearest, PrefersTheSmallerDistance) {
  const std::vector<std::string> names = {"mesh", "mush", "must"};
  EXPECT_EQ(nearest("musk", names), "mush");
  EXPECT_EQ(nearest("must", names), "must");
}
TEST(Nearest, PrefersTheFirstOfEquals) {
  const std::vector<std::string> names = {"l1v", "l1s"};
  EXPECT_EQ(nearest("l1x", names), "l1v");
}
TEST(Nearest, FindsNothingFarAway) {
  EXPECT_EQ(nearest("colour", kNames), "");
  EXPECT_EQ(nearest("", kNames), "");
  EXPECT_EQ(nearest("x", kNames), "");
  EXPECT_EQ(nearest("size", {}), "");
}
TEST(Nearest, OneLetterNamesMustMatch) {
  const std::vector<std::string> names = {"n", "m"};
  EXPECT_EQ(nearest("k", names), "");
  EXPECT_EQ(nearest("N", names), "n");
}
TEST(Nearest, GivesUpOnHugeNames) {
  EXPECT_EQ(nearest(std::string(1'000'000, 'a'), kNames), "");
  EXPECT_TRUE(nearest("aaaa", std::vector<std::string>{std::string(1'000'000, 'a')}).empty());
}
TEST(Nearest, SuggestsInASentence) {
  EXPECT_EQ(did_you_mean("sise", kNames), " Did you mean `size`?");
  EXPECT_EQ(did_you_mean("colour", kNames), "");
}

}  // namespace
}  // namespace nearfar::nearest_test
