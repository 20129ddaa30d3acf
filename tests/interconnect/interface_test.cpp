// One network interface and what it owes to the others: credits, queues, and messages that nobody else thinks of.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "interconnect/link_rig.h"

namespace nearfar::interface_test {
namespace {

/// 64 bytes a cycle, 10 cycles away: headers of 16.
LinkSpec quick_link(std::uint32_t credits = 64, std::uint32_t queue = 64) {
  LinkSpec link;
  link.latency = 10;
  link.bandwidth = 64_GBps;
  link.credits = credits;
  link.queue = queue;
  return link;
}

/// The same with 16 bytes a cycle.
LinkSpec slow_link(std::uint32_t credits = 64, std::uint32_t queue = 64) {
  LinkSpec link = quick_link(credits, queue);
  link.bandwidth = 16_GBps;
  return link;
}

std::uint64_t lines(unsigned count) { return (std::uint64_t{1} << count) - 1; }

/// Lines that came, of requests or of replies.
unsigned count(const LinkRig& rig, bool replies) {
  unsigned sum = 0;
  for (const LinkRig::Came& one : rig.came) {
    if (one.reply == replies) sum += static_cast<unsigned>(std::popcount(one.lines));
  }
  return sum;
}

/// When requests came, in order of time.
std::vector<Cycle> requests_came(const LinkRig& rig) {
  std::vector<Cycle> times;
  for (const LinkRig::Came& one : rig.came) {
    if (!one.reply) times.push_back(one.when);
  }
  std::ranges::sort(times);
  return times;
}

/// Headers of 16 bytes, lines of 64; a write of part of a line says in 8 bytes which ones.
TEST(Packets, CarryWhatTheirKindNeeds) {
  const auto bytes_of = [](auto send) {
    LinkRig rig(quick_link(), 2);
    send(rig);
    rig.run();
    EXPECT_TRUE(rig.idle());
    EXPECT_EQ(rig.network(1).stats().received_bytes, rig.network(0).stats().request_bytes);
    EXPECT_EQ(rig.network(0).stats().received_bytes, rig.network(1).stats().reply_bytes);
    return std::pair(rig.network(0).stats().request_bytes, rig.network(1).stats().reply_bytes);
  };
  using Bytes = std::pair<std::uint64_t, std::uint64_t>;
  EXPECT_EQ(bytes_of([](LinkRig& rig) { rig.read(0, 1, 0, lines(3)); }), Bytes(3 * 16, 3 * (16 + 64)));
  EXPECT_EQ(bytes_of([](LinkRig& rig) { rig.atomic(0, 1, 0, lines(2), 8); }), Bytes(2 * (16 + 8), 2 * (16 + 8)));
  EXPECT_EQ(bytes_of([](LinkRig& rig) { rig.write(0, 1, 0, lines(3), 4, 12); }),
            Bytes(3 * 16 + (4 + 8) + 64 + (12 + 8), 3 * 16));
  for (const unsigned size : {17U, 20U, 40U}) {  // in two or three bursts
    EXPECT_EQ(bytes_of([=](LinkRig& rig) { rig.write(0, 1, 0, lines(size), 4, 12); }),
              Bytes(size * 16 + (4 + 8) + (size - 2) * 64 + (12 + 8), size * 16))
        << size;
  }
}

/// 16 bytes a cycle: a request is a packet of one cycle, a reply one of five. A burst of requests is there with its
/// first packet, one of replies with its last.
TEST(Packets, OfABurstFollowOneAnotherWithoutAGap) {
  for (const TopologyKind topology :
       {TopologyKind::Switch, TopologyKind::AllToAll, TopologyKind::Ring, TopologyKind::FatTree}) {
    for (const unsigned size : {1U, 2U, 7U, 16U}) {
      LinkSpec link = slow_link();
      link.topology = topology;
      LinkRig rig(link, 2);
      rig.service = 100;
      rig.pipeline = 20;
      rig.read(0, 1, 0, lines(size));
      rig.run();
      ASSERT_EQ(rig.came.size(), 2U);
      EXPECT_EQ(rig.came[0].when, 1U + 10) << size;
      EXPECT_EQ(rig.came[0].spacing.at(5), size == 1 ? 0U : 5U) << size;
      EXPECT_EQ(rig.came[1].when, 1U + 10 + 100 + 20 + 5 * size + 10) << size;
    }
  }
}

/// When the only reply came.
Cycle reply_came(const LinkRig& rig) {
  const auto reply = std::ranges::find_if(rig.came, [](const LinkRig::Came& one) { return one.reply; });
  return reply == rig.came.end() ? 0 : reply->when;
}

/// A write of 80 bytes takes 5 cycles. It leaves behind all lines of a burst, which are no more than 16.
TEST(Output, IsOccupiedByAllLinesOfABurst) {
  for (const auto& [size, before] : {std::pair{4U, 4U}, {48U, 16U}}) {
    LinkRig rig(slow_link(), 3);
    rig.write(0, 1, 0, lines(size));
    rig.write(0, 2, 0, 1);
    rig.run();
    const auto other = std::ranges::find_if(rig.came, [](const LinkRig::Came& one) { return one.to == 2; });
    ASSERT_NE(other, rig.came.end());
    EXPECT_EQ(other->when, before * 5 + 5 + 10) << size;
  }
}

/// 80 bytes at 62.5 bytes a cycle take 1.28 cycles: 25 packets are there after 32, at the input too.
TEST(Input, LosesNoFractionsOfCycles) {
  LinkSpec link = quick_link();
  link.bandwidth.bytes_per_second = 62'500'000'000;
  LinkRig rig(link, 2);
  for (unsigned i = 0; i < 25; ++i) rig.write(0, 1, 0, 1);
  rig.run();
  EXPECT_EQ(requests_came(rig).back(), 32U + 10);
}

/// Twenty messages of 4 cycles wait for the link when a reply comes: it leaves behind the one that is leaving.
TEST(Output, GivesRepliesTheirTurnBesideMessages) {
  LinkRig rig(slow_link(), 2);
  rig.read(0, 1, 0, 1);
  for (unsigned i = 0; i < 20; ++i) rig.message(1, 0, 5, 64);
  rig.run();
  EXPECT_GT(reply_came(rig), 0U);
  EXPECT_LE(reply_came(rig), 11U + 2 * 4 + 5 + 10);
}

/// Two devices fill the input of a third with twice what it can pass. A reply that comes there passes behind the packet
/// that is passing, not behind all that came before it.
TEST(Input, GivesRepliesTheirTurnBesideRequests) {
  LinkRig rig(slow_link(), 4);
  rig.service = 20;
  rig.read(0, 3, 0, 1);
  for (unsigned i = 0; i < 10; ++i) {
    rig.write(1, 0, 0, 1);
    rig.write(2, 0, 0, 1);
  }
  rig.run();
  Cycle came = 0;
  for (const LinkRig::Came& one : rig.came) {
    if (one.to == 0 && one.reply) came = one.when;
  }
  EXPECT_GE(came, 11U + 20 + 5 + 10);
  EXPECT_LE(came, 11U + 20 + 5 + 10 + 2 * 5);
}

/// The first request is taken at 111 and its credit is home at 121; the second one is still held then.
TEST(Output, NeedsOnlyOneCredit) {
  LinkRig rig(slow_link(2), 2);
  rig.hold = 100;
  for (const Cycle when : {0, 50, 60}) rig.read(0, 1, when, 1);
  rig.run();
  EXPECT_EQ(requests_came(rig), (std::vector<Cycle>{11, 61, 132}));
}

/// One request is at its home, as many as the queue has places wait for credits, and no more have room.
TEST(Output, QueuesAsManyRequestsAsItHasPlaces) {
  LinkRig rig(slow_link(1, 4), 2);
  rig.hold = 1000;
  rig.crowd(0, 1, 0, 20);
  std::uint64_t waiting = 0;
  rig.at(0, 500, [&] { waiting = rig.network(0).waiting(); });
  rig.run();
  EXPECT_EQ(waiting, 4U);
  EXPECT_EQ(count(rig, true), 20U);
}

/// 16 bytes a cycle: what is sent in the same cycle leaves in turn, a packet of 80 bytes every 5 cycles.
TEST(Output, CarriesItsBandwidthAndNotMore) {
  LinkRig rig(slow_link(), 3);
  for (unsigned i = 0; i < 6; ++i) rig.write(0, 1 + i % 2, 0, 1);
  for (unsigned i = 0; i < 6; ++i) rig.write(0, 1 + i % 2, 1000, 1);  // the time in between is not made up for
  rig.run();
  EXPECT_EQ(requests_came(rig), (std::vector<Cycle>{15, 20, 25, 30, 35, 40, 1015, 1020, 1025, 1030, 1035, 1040}));
}

/// The same at an input: three devices send a packet of 80 bytes each, twice.
TEST(Input, CarriesItsBandwidthAndNotMore) {
  LinkRig rig(slow_link(), 4);
  for (unsigned from = 1; from < 4; ++from) {
    rig.write(from, 0, 0, 1);
    rig.write(from, 0, 1000, 1);
  }
  rig.run();
  EXPECT_EQ(requests_came(rig), (std::vector<Cycle>{15, 20, 25, 1015, 1020, 1025}));
}

class Credits : public ::testing::TestWithParam<TopologyKind> {};
INSTANTIATE_TEST_SUITE_P(Topologies, Credits,
                         ::testing::Values(TopologyKind::Switch, TopologyKind::AllToAll, TopologyKind::Ring,
                                           TopologyKind::PcieTree, TopologyKind::FatTree));

/// A home that is slow to take requests out of its buffer has never more of them there than there are credits; and all
/// come in the end.
TEST_P(Credits, AreAsManyAsRequestsThatWaitAtTheirHome) {
  for (const std::uint32_t credits : {1U, 3U, 8U, 40U}) {
    LinkSpec link = quick_link(credits);
    link.topology = GetParam();
    link.gpus_per_switch = 2;
    LinkRig rig(link, 4);
    rig.hold = 500;
    for (unsigned i = 0; i < 4; ++i) {
      rig.read(0, 2, 7 * i, lines(12));
      rig.write(3, 2, 5 * i, lines(9));
      rig.atomic(1, 2, i, 1, 8);
    }
    rig.run();
    EXPECT_EQ(rig.most_buffered(), std::min(credits, 48U)) << credits;
    EXPECT_EQ(count(rig, false), 4U * (12 + 9 + 1)) << credits;
    EXPECT_EQ(count(rig, true), 4U * (12 + 9 + 1)) << credits;
    EXPECT_TRUE(rig.idle()) << credits;
  }
}

/// The rest of a message that is longer than a burst, or than there are credits, goes before a later message.
TEST(Output, KeepsTheOrderOfWhatGoesToOneDevice) {
  for (const std::uint32_t credits : {64U, 8U}) {
    LinkRig rig(quick_link(credits), 2);
    rig.read(0, 1, 0, lines(40));
    for (Cycle when = 1; when <= 20; ++when) rig.read(0, 1, when, std::uint64_t{1} << (40 + when));
    rig.run();
    std::uint64_t before = 0;
    for (const LinkRig::Came& one : rig.came) {
      if (one.to != 1) continue;
      EXPECT_GT(one.lines, before) << "at " << one.when;
      before = one.lines;
    }
    EXPECT_EQ(count(rig, false), 60U);
    EXPECT_TRUE(rig.idle());
  }
}

/// Requesters that found a queue full are told when it has room, whatever held it up: all their requests come.
TEST(Output, WakesAllWhoFoundNoRoom) {
  for (const auto& [credits, queue] : {std::pair{64U, 1U}, {1U, 1U}, {1U, 64U}, {3U, 4U}, {8U, 40U}}) {
    LinkRig rig(quick_link(credits, queue), 3);
    rig.hold = 100;
    rig.crowd(0, 1, 0, 90);
    rig.crowd(0, 2, 3, 90);
    rig.run();
    EXPECT_EQ(count(rig, true), 180U) << credits << " credits, a queue of " << queue;
    EXPECT_TRUE(rig.idle());
  }
}

/// Writes of two devices come to the third together. A burst takes 2560 cycles, all that follows from its first packet
/// about 600: the second burst waits there for long while nothing else happens.
TEST(Input, MessageThatWaitsThereAloneIsNotForgotten) {
  LinkSpec link = quick_link();
  link.bandwidth.bytes_per_second = LinkRig::kClock / 4;
  for (const TopologyKind topology : {TopologyKind::Switch, TopologyKind::PcieTree}) {
    link.topology = topology;
    link.gpus_per_switch = 4;
    LinkRig rig(link, 3);
    rig.write(1, 0, 0, lines(8));
    rig.write(2, 0, 0, lines(8));
    rig.run();
    EXPECT_EQ(count(rig, true), 16U);
    EXPECT_TRUE(rig.idle());
  }
}

/// The same at an output: the second of two writes waits for the first to leave.
TEST(Output, MessageThatWaitsThereAloneIsNotForgotten) {
  LinkSpec link = quick_link();
  link.bandwidth.bytes_per_second = LinkRig::kClock / 4;
  for (const TopologyKind topology :
       {TopologyKind::Switch, TopologyKind::AllToAll, TopologyKind::Ring, TopologyKind::FatTree}) {
    link.topology = topology;
    LinkRig rig(link, 3);
    rig.write(0, 1, 0, 1);
    rig.message(0, 1, 0, 400);
    rig.message(0, 1, 0, 16);
    rig.run();
    EXPECT_EQ(rig.came.size(), 4U);
    EXPECT_TRUE(rig.idle());
  }
}

}  // namespace
}  // namespace nearfar::interface_test
