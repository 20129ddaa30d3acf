// Rates as ticks: exact where the numbers are small, and never so large that a long run overflows.
#include "sim/rate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

namespace nearfar::rate_test {
namespace {

TEST(Rate, IsExactWhereItCan) {
  constexpr Rate rate = Rate::of(300'000'000'000, 1'400'000'000);
  EXPECT_EQ(rate.ticks_per_cycle, 1500U);
  EXPECT_EQ(rate.ticks_per_byte, 7U);
}

/// As ticks of 1/gcd a cycle of this clock would have 10^14 of them, and 64 bits would hold 184,467 cycles.
TEST(Rate, OfAnOddClockIsNear) {
  const Rate rate = Rate::of(100'000'000'000'000, 1'590'537'571);
  EXPECT_LE(rate.ticks_per_cycle, Rate::kMost);
  EXPECT_NEAR(static_cast<double>(rate.ticks_per_cycle) / static_cast<double>(rate.ticks_per_byte),
              100'000'000'000'000 / 1'590'537'571.0, 0.001);
}

RC_GTEST_PROP(Rate, IsOffByLessThanAPartIn2To24, ()) {
  const auto bandwidth = *rc::gen::inRange<std::uint64_t>(1'000'000, 100'000'000'000'000);
  const auto clock = *rc::gen::inRange<std::uint64_t>(1'000'000, 5'000'000'000);
  const Rate rate = Rate::of(bandwidth, clock);
  const auto given = static_cast<long double>(bandwidth) / static_cast<long double>(clock);
  const auto taken = static_cast<long double>(rate.ticks_per_cycle) / static_cast<long double>(rate.ticks_per_byte);
  RC_ASSERT(std::fabs(taken / given - 1) < 1 / static_cast<long double>(Rate::kMost));
  // A tick before the end of a cycle fits 32 bits, and 2^36 cycles fit 64.
  RC_ASSERT(rate.ticks_per_cycle < std::uint64_t{1} << 28);
  RC_ASSERT(rate.ticks_per_byte < std::uint64_t{1} << 28);
}

}  // namespace
}  // namespace nearfar::rate_test
