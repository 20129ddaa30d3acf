// The event queue against a sorted list: whatever is scheduled and delivered comes out in the order of (time, source,
// sequence), near or far.
#include "sim/wheel.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <ranges>
#include <tuple>
#include <vector>

namespace nearfar::wheel_test {
namespace {

class WheelAndReference {
 public:
  void schedule(Cycle when) {
    IndexEvent* t = make();
    wheel_.schedule(t, when);
    expected_.emplace(std::tuple(when, kLocalSource, t->index), t);
  }

  void deliver(Cycle when, std::uint16_t source) {
    IndexEvent* t = make();
    t->when = when;
    t->source = source;
    wheel_.deliver(t);
    expected_.emplace(std::tuple(when, source, t->index), t);
  }

  /// Pops once from both; false when they disagree.
  bool pop(Cycle limit) {
    const Event* t = wheel_.pop(limit);
    if (expected_.empty() || std::get<0>(expected_.begin()->first) >= limit) return t == nullptr;
    const Event* expected = expected_.begin()->second;
    expected_.erase(expected_.begin());
    return t == expected && t->when == wheel_.now() && hints_are_pending();
  }

  bool agrees() const { return wheel_.pending() == expected_.size() && wheel_.next_time() == next_time(); }
  Cycle next_time() const { return expected_.empty() ? kNever : std::get<0>(expected_.begin()->first); }
  Cycle now() const { return wheel_.now(); }
  bool empty() const { return expected_.empty(); }

 private:
  /// What is said to come soon is yet to come: the next of it in the next cycle that has events, then another later.
  bool hints_are_pending() const {
    const Wheel::Soon soon = wheel_.soon();
    if (soon.next == nullptr) return soon.later == nullptr;
    const auto pending = [this](const Event* hint) {
      return std::ranges::any_of(expected_, [&](const auto& event) { return event.second == hint; });
    };
    if (!pending(soon.next) || soon.next->when != next_time()) return false;
    return soon.later == nullptr || (pending(soon.later) && soon.later->when > soon.next->when);
  }
  IndexEvent* make() {
    storage_.emplace_back();
    storage_.back().index = sequence_++;
    return &storage_.back();
  }

  Wheel wheel_;
  std::deque<IndexEvent> storage_;
  std::uint32_t sequence_ = 0;
  std::map<std::tuple<Cycle, std::uint16_t, std::uint32_t>, Event*> expected_;
};

rc::Gen<Cycle> around(Cycle distance) { return rc::gen::inRange<Cycle>(distance - 5, distance + 5); }

/// Distances that matter: this cycle, the next ones, both sides of a block, of the slots and of the last list, far
/// away.
Cycle any_distance() {
  return *rc::gen::weightedOneOf<Cycle>({{6, rc::gen::inRange<Cycle>(0, 6)},
                                         {3, rc::gen::inRange<Cycle>(0, 300)},
                                         {2, around(Wheel::kBlock)},
                                         {2, around(Wheel::kSlots)},
                                         {1, around(Wheel::kBlock * Wheel::kBlocks)},
                                         {1, rc::gen::inRange<Cycle>(0, 400'000)}});
}

RC_GTEST_PROP(Wheel, GivesEventsInOrderOfTimeSourceAndSequence, ()) {
  WheelAndReference both;
  // Whatever fell due in a cycle is done before mail for that cycle is taken in, as the engine does it.
  const auto steps = *rc::gen::scale(3, rc::gen::container<std::vector<int>>(rc::gen::inRange(0, 12)));
  for (const int step : steps) {
    if (step < 4) {
      both.schedule(both.now() + any_distance());
    } else if (step < 7) {
      both.deliver(both.now() + any_distance(), *rc::gen::inRange<std::uint16_t>(0, 4));
    } else if (step < 10) {
      RC_ASSERT(both.pop(kNever));
    } else {
      RC_ASSERT(both.pop(both.now() + any_distance()));
    }
    RC_ASSERT(both.agrees());
  }
  while (!both.empty()) RC_ASSERT(both.pop(kNever));
  RC_ASSERT(both.pop(kNever));
  RC_ASSERT(both.agrees());
}

/// A long run with about as many events put in as taken out, which goes round the wheel many times.
RC_GTEST_PROP(Wheel, StaysInOrderOverManyTurns, ()) {
  WheelAndReference both;
  std::uint64_t random = *rc::gen::arbitrary<std::uint64_t>();
  const auto next = [&] { return (random = random * 6364136223846793005U + 1442695040888963407U) >> 33; };
  for (int i = 0; i < 50; ++i) both.schedule(next() % 200);
  for (int i = 0; i < 5000; ++i) {
    RC_ASSERT(both.pop(kNever));
    const std::uint64_t kind = next() % 100;
    const Cycle distance = kind < 90 ? next() % 300 : kind < 97 ? 2000 + next() % 2200 : next() % 300'000;
    if (next() % 4 == 0) {
      both.deliver(both.now() + 1 + distance, static_cast<std::uint16_t>(next() % 5));
    } else {
      both.schedule(both.now() + distance);
    }
  }
  RC_ASSERT(both.agrees());
}

class WheelHorizon : public testing::TestWithParam<Cycle> {};

TEST_P(WheelHorizon, EventsOnBothSidesOfItKeepTheirSequence) {
  for (const Cycle start : {Cycle{0}, Cycle{1}, Cycle{63}, Cycle{4095}, Cycle{12'345}}) {
    WheelAndReference both;
    both.schedule(start);
    ASSERT_TRUE(both.pop(kNever));
    const Cycle when = start + GetParam();
    both.schedule(when);
    both.deliver(when, 2);
    both.schedule(start + 1);
    ASSERT_TRUE(both.pop(kNever));
    // Nearer by one cycle now: what was set aside may have come in, and what follows goes behind it.
    both.schedule(when);
    both.deliver(when, 1);
    both.deliver(when, 2);
    while (!both.empty()) ASSERT_TRUE(both.pop(kNever));
    EXPECT_EQ(both.now(), when);
  }
}

INSTANTIATE_TEST_SUITE_P(Distances, WheelHorizon,
                         testing::Values(2047, 2048, 2049, 4094, 4095, 4096, 4097, 8192, 131'071, 131'072, 131'073,
                                         500'000));

TEST(Wheel, MessagesComeBeforeLocalEventsOfTheirCycleAndBySource) {
  Wheel wheel;
  Event local, from_two, from_one, late_from_two;
  wheel.schedule(&local, 5);
  for (Event* t : {&from_two, &from_one, &late_from_two}) {
    t->when = 5;
    t->source = t == &from_one ? 1 : 2;
    wheel.deliver(t);
  }
  for (const Event* expected : {&from_one, &from_two, &late_from_two, &local}) {
    EXPECT_EQ(wheel.pop(kNever), expected);
  }
  EXPECT_EQ(wheel.pop(kNever), nullptr);
}

TEST(Wheel, EventScheduledForThisCycleStillRunsInIt) {
  Wheel wheel;
  Event first, second;
  wheel.schedule(&first, 7);
  ASSERT_EQ(wheel.pop(8), &first);
  wheel.schedule(&second, 7);
  EXPECT_EQ(wheel.next_time(), 7U);
  EXPECT_EQ(wheel.pop(8), &second);
}

TEST(Wheel, LimitHoldsEventsBackWithoutMovingTime) {
  Wheel wheel;
  Event near, far;
  wheel.schedule(&near, 10);
  wheel.schedule(&far, 10'000);
  EXPECT_EQ(wheel.pop(10), nullptr);
  EXPECT_EQ(wheel.now(), 0U);
  EXPECT_EQ(wheel.pop(11), &near);
  EXPECT_EQ(wheel.pop(10'000), nullptr);
  EXPECT_EQ(wheel.now(), 10U);
  EXPECT_EQ(wheel.next_time(), 10'000U);
  EXPECT_EQ(wheel.pop(10'001), &far);
  EXPECT_EQ(wheel.next_time(), kNever);
  EXPECT_EQ(wheel.pending(), 0U);
}

}  // namespace
}  // namespace nearfar::wheel_test
