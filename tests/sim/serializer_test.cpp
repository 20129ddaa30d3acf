// A resource with an exact rate against fractions: no rounding accumulates, however odd the rate.
#include "sim/serializer.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <numeric>
#include <vector>

namespace nearfar::serializer_test {
namespace {

/// Time as an exact fraction: ticks of 1 / bandwidth cycles.
struct Reference {
  unsigned __int128 bandwidth;
  unsigned __int128 clock;
  unsigned __int128 free = 0;
  unsigned __int128 busy = 0;

  Cycle ceil(unsigned __int128 ticks) const { return static_cast<Cycle>((ticks + bandwidth - 1) / bandwidth); }
  Cycle pass(Cycle from, std::uint64_t bytes) {
    free = std::max(free, from * bandwidth) + bytes * clock;
    busy += bytes * clock;
    return ceil(free);
  }
};

RC_GTEST_PROP(Serializer, AgreesWithExactFractions, ()) {
  const auto bandwidth = *rc::gen::oneOf(
      rc::gen::element<std::uint64_t>(62'500'000'000, 16'000'000'000, 19'200'000'000, 1'000'000'000, 1'000'000),
      rc::gen::map(rc::gen::inRange<std::uint64_t>(1, 2'000'000), [](std::uint64_t n) { return n * 1'000'000; }),
      rc::gen::inRange<std::uint64_t>(1'000'000, 100'000'000'000));
  const auto clock =
      *rc::gen::oneOf(rc::gen::element<std::uint64_t>(1'000'000'000, 2'000'000'000, 1'337'000'000, 1'695'000'000),
                      rc::gen::inRange<std::uint64_t>(100'000'000, 5'000'000'000));
  Serializer serializer(bandwidth, clock);
  Reference reference{bandwidth, clock};
  Cycle now = *rc::gen::element<Cycle>(1, 1'000'000, 100'000'000'000);
  for (const auto step : *rc::gen::arbitrary<std::vector<std::uint16_t>>()) {
    now += step % 16;
    const std::uint64_t bytes = step / 16 % 256;
    RC_ASSERT(serializer.pass(now, bytes) == reference.pass(now, bytes));
    RC_ASSERT(serializer.free_at() == reference.ceil(reference.free));
    RC_ASSERT(serializer.busy_cycles() == static_cast<Cycle>(reference.busy / reference.bandwidth));
    RC_ASSERT(serializer.duration(bytes) == reference.ceil(bytes * reference.clock));
  }
}

TEST(Serializer, AMillionLinesTakeExactlyTheirTime) {
  Serializer bus(62'500'000'000, 1'000'000'000);
  Cycle last = 0;
  for (int i = 0; i < 1'000'000; ++i) last = bus.pass(0, 64);
  EXPECT_EQ(last, 1'024'000U);
  EXPECT_EQ(bus.busy_cycles(), 1'024'000U);
}

TEST(Serializer, IdleTimeIsNotMadeUpFor) {
  Serializer bus(32'000'000'000, 1'000'000'000);
  EXPECT_EQ(bus.pass(0, 64), 2U);
  EXPECT_EQ(bus.pass(100, 64), 102U);
  EXPECT_EQ(bus.pass(50, 64), 104U);
  EXPECT_EQ(bus.free_at(), 104U);
}

}  // namespace
}  // namespace nearfar::serializer_test
