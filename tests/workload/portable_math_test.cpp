// Functions with the same bits everywhere: near the system's, and these very bits.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>

#include "workload/portable_math.h"

namespace nearfar::portable_math_test {
namespace {

/// A number in (0, 1).
double fraction() { return (*rc::gen::inRange<std::uint32_t>(0, 1U << 31) + 0.5) / (1U << 31); }

RC_GTEST_PROP(PortableMath, IsNearTheSystems, ()) {
  const double x = fraction(), big = 1e6 * x, turn = fraction();
  RC_ASSERT(std::abs(portable::log(x) - std::log(x)) <= 4e-16 * std::max(1.0, std::abs(std::log(x))));
  RC_ASSERT(std::abs(portable::log(big) - std::log(big)) <= 4e-16 * std::max(1.0, std::abs(std::log(big))));
  const double y = 40 * (turn - 0.5);
  RC_ASSERT(std::abs(portable::exp(y) / std::exp(y) - 1) < 1e-15);
  RC_ASSERT(std::abs(portable::pow(x, y / 8) / std::pow(x, y / 8) - 1) < 3e-14);
  RC_ASSERT(std::abs(portable::cosine_of_turn(turn) - std::cos(2 * std::numbers::pi * turn)) < 1e-15);
  RC_ASSERT(std::abs(portable::sine_of_turn(turn) - std::sin(2 * std::numbers::pi * turn)) < 1e-15);
}

TEST(PortableMath, IsExactAtQuarterTurns) {
  for (const auto& [turn, cosine, sine] :
       {std::array{0.0, 1.0, 0.0}, {0.25, 0.0, 1.0}, {0.5, -1.0, 0.0}, {0.75, 0.0, -1.0}, {1.0, 1.0, 0.0}}) {
    EXPECT_EQ(portable::cosine_of_turn(turn), cosine) << turn;
    EXPECT_EQ(portable::sine_of_turn(turn), sine) << turn;
  }
  EXPECT_EQ(portable::log(1), 0);
  EXPECT_EQ(portable::exp(0), 1);
}

/// A compiler that joins products and sums into one rounding gives other bits.
TEST(PortableMath, HasTheseBits) {
  std::uint64_t bits = 0;
  for (int i = 1; i <= 1000; ++i) {
    const double x = i / 1001.0;
    for (const double value : {portable::log(x), portable::exp(8 * x), portable::pow(x, -0.7),
                               portable::cosine_of_turn(x), portable::sine_of_turn(x)}) {
      bits = (bits ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3;
    }
  }
  EXPECT_EQ(bits, 17398759153028727964U);
}

}  // namespace
}  // namespace nearfar::portable_math_test
