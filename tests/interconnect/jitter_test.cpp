// What perturbations promise: they only add, little, the same every time, and messages of a stream keep their order.
#include "interconnect/jitter.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <set>
#include <vector>

namespace nearfar::jitter_test {
namespace {

PerturbSpec drawn(std::uint32_t draw, Cycle limit = 4) {
  PerturbSpec spec;
  spec.draw = draw;
  spec.message_jitter = limit;
  spec.start_jitter = limit;
  return spec;
}

MessageJitter messages(const PerturbSpec& spec, unsigned source = 0) {
  return {spec, DeviceId{static_cast<std::uint16_t>(source)}};
}

std::vector<Cycle> delays(const MessageJitter& jitter, unsigned destination, unsigned traffic_class) {
  std::vector<Cycle> out;
  for (Cycle t = 0; t < 1000; ++t) out.push_back(jitter.arrival(t, destination, traffic_class) - t);
  return out;
}

RC_GTEST_PROP(MessageJitter, NeverComesEarlierNorMuchLater, ()) {
  const auto limit = *rc::gen::inRange<Cycle>(0, 65);
  const MessageJitter jitter = messages(drawn(*rc::gen::inRange<std::uint32_t>(1, 50), limit));
  const auto when = *rc::gen::inRange<Cycle>(0, 1'000'000'000);
  const Cycle arrival = jitter.arrival(when, *rc::gen::inRange(0U, 129U), *rc::gen::inRange(0U, 2U));
  RC_ASSERT(arrival >= when);
  RC_ASSERT(arrival <= when + limit);
}

/// In whatever order a stream's messages are sent: who would have arrived earlier does not arrive later.
RC_GTEST_PROP(MessageJitter, KeepsTheOrderOfAStream, ()) {
  const auto limit = *rc::gen::inRange<Cycle>(0, 65);
  const MessageJitter jitter = messages(drawn(*rc::gen::inRange<std::uint32_t>(1, 50), limit));
  const auto from = *rc::gen::inRange<Cycle>(0, 1'000'000);
  Cycle before = 0;
  for (Cycle t = from; t < from + 300; ++t) {
    const Cycle arrival = jitter.arrival(t, 3, 1);
    RC_ASSERT(arrival >= before);
    before = arrival;
  }
}

TEST(MessageJitter, OfDrawNoneOrOfNothingAddsNothing) {
  for (const MessageJitter& jitter : {messages(drawn(0)), messages(drawn(7, 0)), MessageJitter()}) {
    for (const Cycle delay : delays(jitter, 1, 0)) ASSERT_EQ(delay, 0U);
  }
}

TEST(MessageJitter, TakesAllAmountsUpToItsLimit) {
  const std::vector<Cycle> all = delays(messages(drawn(1)), 1, 0);
  EXPECT_EQ(std::set<Cycle>(all.begin(), all.end()), (std::set<Cycle>{0, 1, 2, 3, 4}));
}

TEST(MessageJitter, DiffersByDrawSeedSourceDestinationAndClassAndByNothingElse) {
  PerturbSpec other_seed = drawn(1);
  other_seed.seed = 2;
  const std::set<std::vector<Cycle>> all = {delays(messages(drawn(1)), 1, 0),   delays(messages(drawn(2)), 1, 0),
                                            delays(messages(other_seed), 1, 0), delays(messages(drawn(1), 5), 1, 0),
                                            delays(messages(drawn(1)), 2, 0),   delays(messages(drawn(1)), 1, 1)};
  EXPECT_EQ(all.size(), 6U);
  EXPECT_EQ(delays(messages(drawn(1)), 1, 0), delays(messages(drawn(1)), 1, 0));
}

TEST(StartJitter, AddsUpToItsLimitByLaunchAndWorkgroup) {
  const StartJitter jitter(drawn(1));
  std::set<Cycle> amounts;
  std::vector<Cycle> first, second;
  for (std::uint64_t group = 0; group < 200; ++group) {
    first.push_back(jitter.start(1000, 0, 0, group) - 1000);
    second.push_back(jitter.start(1000, 0, 1, group) - 1000);
    amounts.insert(first.back());
    EXPECT_EQ(StartJitter(drawn(0)).start(1000, 0, 0, group), 1000U);
  }
  EXPECT_EQ(amounts, (std::set<Cycle>{0, 1, 2, 3, 4}));
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace nearfar::jitter_test
