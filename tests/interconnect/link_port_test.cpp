// A port: its exact rate, and the turns of those who wait for it.
#include "interconnect/link_port.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "sim/serializer.h"

namespace nearfar::link_port_test {
namespace {

constexpr std::uint64_t kClock = 1'000'000'000;

RC_GTEST_PROP(LinkPort, IsAPlainSerializerForPacketsOneByOne, ()) {
  const auto bandwidth = *rc::gen::inRange<std::uint64_t>(1, 400) * 500'000'000;
  LinkPort port(bandwidth, kClock);
  Serializer plain(bandwidth, kClock);
  Cycle now = 0;
  for (const auto step : *rc::gen::arbitrary<std::vector<std::uint8_t>>()) {
    now += step % 8;
    const std::uint64_t bytes = 16 + step % 65;
    RC_ASSERT(port.pass(port.ticks(now), bytes, 0).cycle == plain.pass(now, bytes));
    RC_ASSERT(port.free_cycle() == plain.free_at());
    RC_ASSERT(port.busy_cycles() == plain.busy_cycles());
  }
}

/// Packets that follow one another without a gap take as long together as one by one.
RC_GTEST_PROP(LinkPort, ABurstIsItsPackets, ()) {
  const auto bandwidth = *rc::gen::inRange<std::uint64_t>(1, 400) * 500'000'000;
  LinkPort burst(bandwidth, kClock);
  LinkPort single(bandwidth, kClock);
  Cycle now = 0;
  for (const auto step : *rc::gen::arbitrary<std::vector<std::uint8_t>>()) {
    now += step % 16;
    const std::uint64_t bytes = 16 + step % 65;
    const unsigned behind = step % 5;
    const auto together = burst.pass(burst.ticks(now), bytes, behind * bytes);
    const auto first = single.pass(single.ticks(now), bytes, 0);
    auto last = first;
    for (unsigned i = 0; i < behind; ++i) last = single.pass(single.ticks(now), bytes, 0);
    RC_ASSERT(together.cycle == first.cycle);
    RC_ASSERT(together.early == first.early);
    RC_ASSERT(together.last == last.cycle);
    RC_ASSERT(burst.free() == single.free());
  }
}

/// A message whose first packet is there is all there when the rest has come right behind that, wherever this was
/// within its cycle.
TEST(LinkPort, WhatFollowsAPacketComesRightBehindIt) {
  LinkPort port(62'500'000'000, kClock);
  for (std::uint64_t behind = 0; behind < 100; ++behind) {
    const auto through = port.pass(0, 64, behind * 64);
    EXPECT_EQ(port.after(through.cycle, through.early, behind * 64), through.last) << behind;
  }
}

/// Two links of one rate in a row carry what one carries: the fraction of a cycle goes along with the message.
TEST(LinkPort, CutThroughKeepsTheFraction) {
  LinkPort first(62'500'000'000, kClock);
  LinkPort second(62'500'000'000, kClock);
  for (int i = 0; i < 1000; ++i) {
    const auto out = first.pass(0, 64, 0);
    const std::uint64_t there = second.ticks(out.cycle + 100) - out.early;
    EXPECT_EQ(second.pass(there - second.ticks_of_bytes(64), 64, 0).cycle, out.cycle + 100);
  }
}

TEST(LinkPort, ClassesTakeTurnsAndFlowsWithinThem) {
  LinkPort port(32'000'000'000, kClock);
  for (const unsigned flow : {2U, 5U, 9U}) port.add(TrafficClass::Response, flow, 0);
  port.add(TrafficClass::Request, 7, 0);
  std::vector<unsigned> flows;
  for (int i = 0; i < 6; ++i) flows.push_back(port.next().flow);
  EXPECT_EQ(flows, (std::vector<unsigned>{7, 2, 7, 5, 7, 9}));
  port.remove(TrafficClass::Request, 7);
  EXPECT_EQ(port.next().flow, 2U);
  EXPECT_EQ(port.next().flow, 5U);
  for (const unsigned flow : {2U, 5U, 9U}) port.remove(TrafficClass::Response, flow);
  EXPECT_FALSE(port.waiting());
}

/// What comes to an idle port does not use time that has passed.
TEST(LinkPort, IsIdleUntilSomebodyWaits) {
  LinkPort port(32'000'000'000, kClock);
  port.add(TrafficClass::Uncredited, 1, port.ticks(100));
  EXPECT_EQ(port.pass(0, 64, 0).cycle, 102U);
  port.add(TrafficClass::Uncredited, 2, port.ticks(101));  // it is busy until 102
  EXPECT_EQ(port.pass(0, 64, 0).cycle, 104U);
}

}  // namespace
}  // namespace nearfar::link_port_test
