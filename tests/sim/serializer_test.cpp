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

/// With packets of one class only, a shared link is a plain one.
RC_GTEST_PROP(SharedSerializer, OfOneClassIsAPlainOne, ()) {
  const auto bandwidth = *rc::gen::inRange<std::uint64_t>(1, 400) * 500'000'000;
  SharedSerializer shared(bandwidth, 1'000'000'000, 80);
  Serializer plain(bandwidth, 1'000'000'000);
  const auto cls = *rc::gen::inRange(0U, 2U);
  Cycle now = 0;
  for (const auto step : *rc::gen::arbitrary<std::vector<std::uint8_t>>()) {
    now += step % 8;
    const std::uint64_t bytes = 16 + step % 65;
    RC_ASSERT(shared.pass(cls, now, bytes).cycle == plain.pass(now, bytes));
    RC_ASSERT(shared.free_at(cls) == plain.free_at());
  }
}

/// Packets that follow one another without a gap take as long together as one by one, and the other class as well.
RC_GTEST_PROP(SharedSerializer, ATrainIsItsPackets, ()) {
  const auto bandwidth = *rc::gen::inRange<std::uint64_t>(1, 400) * 500'000'000;
  SharedSerializer train(bandwidth, 1'000'000'000, 80);
  SharedSerializer single(bandwidth, 1'000'000'000, 80);
  Cycle now = 0;
  for (const auto step : *rc::gen::arbitrary<std::vector<std::uint8_t>>()) {
    now += step % 16;
    const unsigned cls = step % 2;
    const std::uint64_t bytes = 16 + step % 65;
    const unsigned behind = step % 5;
    const auto together = train.pass(cls, now, bytes, behind * bytes);
    const auto first = single.pass(cls, now, bytes);
    auto last = first;
    for (unsigned i = 0; i < behind; ++i) last = single.pass(cls, now, bytes);
    RC_ASSERT(together.cycle == first.cycle);
    RC_ASSERT(together.early == first.early);
    RC_ASSERT(together.last == last.cycle);
    for (const unsigned c : {0U, 1U}) RC_ASSERT(train.free_at(c) == single.free_at(c));
  }
}

/// Both classes saturated: what passes is exactly the bandwidth, and neither class starves.
TEST(SharedSerializer, CarriesExactlyItsBandwidthForBothClassesTogether) {
  SharedSerializer link(32'000'000'000, 1'000'000'000, 80);
  Cycle requests = 0;
  Cycle replies = 0;
  for (int i = 0; i < 10'000; ++i) {
    requests = link.pass(0, 0, 16).cycle;
    replies = link.pass(1, 0, 80).cycle;
  }
  EXPECT_EQ(link.busy_cycles(), 10'000U * 96 / 32);
  EXPECT_NEAR(static_cast<double>(std::max(requests, replies)), 10'000 * 96 / 32, 3);
}

TEST(SharedSerializer, ARequestWaitsForOnePacketOfABacklogOfReplies) {
  SharedSerializer link(32'000'000'000, 1'000'000'000, 80);
  for (int i = 0; i < 100; ++i) link.pass(1, 0, 80);  // busy with replies until cycle 250
  EXPECT_EQ(link.pass(0, 10, 16).cycle, 13U);         // at most 2.5 cycles, then its own half
  EXPECT_EQ(link.pass(1, 10, 80).cycle, 253U);        // what the request took is added to the backlog
  EXPECT_EQ(link.pass(0, 11, 16).cycle, 14U);         // behind the first request
}

/// Two links of one rate in a row carry what one carries: the fraction of a cycle goes along with the message.
TEST(SharedSerializer, CutThroughKeepsTheFraction) {
  SharedSerializer first(62'500'000'000, 1'000'000'000, 64);
  SharedSerializer second(62'500'000'000, 1'000'000'000, 64);
  for (int i = 0; i < 1000; ++i) {
    const auto out = first.pass(1, 0, 64);
    EXPECT_EQ(second.pass_ending(1, out.cycle + 100, out.early, 64).cycle, out.cycle + 100);
  }
}

TEST(SharedSerializer, CutThroughCostsNothingWhereTheWayIsFree) {
  SharedSerializer bus(32'000'000'000, 1'000'000'000, 64);
  EXPECT_EQ(bus.pass_ending(0, 10, 0, 64).cycle, 10U);
  EXPECT_EQ(bus.pass_ending(0, 11, 0, 64).cycle, 12U);
}

}  // namespace
}  // namespace nearfar::serializer_test
