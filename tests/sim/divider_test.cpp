// Division by a number known beforehand is the host's division, for all numbers.
#include "sim/divider.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>

namespace nearfar::divider_test {
namespace {

/// Numbers of every size, up to the whole width.
std::uint64_t any_number() { return *rc::gen::arbitrary<std::uint64_t>() >> *rc::gen::inRange(0, 64); }

RC_GTEST_PROP(Divider, AgreesWithTheHostsDivision, ()) {
  const std::uint64_t divisor = std::max<std::uint64_t>(1, any_number());
  const Divider divider(divisor);
  const std::uint64_t n = any_number();
  const std::uint64_t multiple = n / divisor * divisor;
  // Around multiples a factor that is too large would show first.
  for (const std::uint64_t number : {n, multiple, multiple - 1, multiple + (divisor - 1)}) {
    RC_ASSERT(divider.quotient(number) == number / divisor);
    RC_ASSERT(divider.remainder(number) == number % divisor);
    if (number < ~std::uint64_t{0} - divisor) {
      RC_ASSERT(divider.ceiling(number) == number / divisor + (number % divisor != 0 ? 1 : 0));
    }
  }
}

TEST(Divider, KnowsWhereItsFactorEnds) {
  // 3 × 6148914691236517206 = 2^64 + 2: exact below 2^63, and one too many soon after.
  const Divider three(3);
  for (const std::uint64_t n : {(std::uint64_t{1} << 63) - 1, std::uint64_t{1} << 63, ~std::uint64_t{0} - 1}) {
    EXPECT_EQ(three.quotient(n), n / 3);
  }
}

}  // namespace
}  // namespace nearfar::divider_test
