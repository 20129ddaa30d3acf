// Reuse distances against a plain stack of what was touched last.
#include "stats/reuse_distance.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <pcg_random.hpp>

namespace nearfar::reuse_distance_test {
namespace {

class Stack {
 public:
  std::uint64_t touch(std::uint64_t thing) {
    const auto found = std::ranges::find(things_, thing);
    std::uint64_t distance = ReuseDistance::kFirst;
    if (found != things_.end()) {
      distance = static_cast<std::uint64_t>(found - things_.begin());
      things_.erase(found);
    }
    things_.insert(things_.begin(), thing);
    return distance;
  }

 private:
  std::vector<std::uint64_t> things_;  // the last touched first
};

RC_GTEST_PROP(ReuseDistance, IsThePlaceInTheStack, (const std::vector<std::uint8_t>& touches)) {
  ReuseDistance distance(256);
  Stack stack;
  for (const std::uint8_t thing : touches) RC_ASSERT(distance.touch(thing) == stack.touch(thing));
}

TEST(ReuseDistance, StaysRightWhenMomentsAreRenumbered) {
  ReuseDistance distance(300);
  Stack stack;
  pcg32 random(1);
  for (int i = 0; i < 300'000; ++i) {
    const std::uint64_t thing = random() % (1 + random() % 300);
    ASSERT_EQ(distance.touch(thing), stack.touch(thing)) << i;
  }
}

TEST(ReuseDistance, OfALoopIsItsLength) {
  constexpr std::uint64_t kThings = 100'000;
  ReuseDistance distance(kThings);
  for (int round = 0; round < 4; ++round) {
    for (std::uint64_t thing = 0; thing < kThings; ++thing) {
      ASSERT_EQ(distance.touch(thing), round == 0 ? ReuseDistance::kFirst : kThings - 1);
    }
  }
}

TEST(ReuseCurve, CountsTheHitsOfEveryCapacity) {
  ReuseCurve curve;
  for (const std::uint64_t distance : {ReuseDistance::kFirst, std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{3},
                                       std::uint64_t{4}, std::uint64_t{1} << 40}) {
    curve.add(distance);
  }
  EXPECT_EQ(curve.touches, 6U);
  EXPECT_EQ(curve.first, 1U);
  EXPECT_EQ(curve.hits[0], 1U) << "a cache of one holds what was just touched";
  EXPECT_EQ(curve.hits[1], 2U);
  EXPECT_EQ(curve.hits[2], 3U);
  EXPECT_EQ(curve.hits[3], 4U);
  EXPECT_EQ(curve.hits[24], 4U);
  EXPECT_DOUBLE_EQ(curve.hit_rate(2), 0.5);
}

}  // namespace
}  // namespace nearfar::reuse_distance_test
