// Events come from slabs and go back to them; queues are first in, first out.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <deque>
#include <set>
#include <vector>

#include "sim/event.h"

namespace nearfar::pool_test {
namespace {

RC_GTEST_PROP(EventPool, NeverHandsOutWhatIsInUse, ()) {
  EventPool pool;
  std::vector<Event*> used;
  std::set<Event*> in_use;
  for (const auto step : *rc::gen::scale(20, rc::gen::arbitrary<std::vector<std::uint8_t>>())) {
    if (step % 3 != 0 || used.empty()) {
      Event* t = pool.allocate<Event>();
      RC_ASSERT(in_use.insert(t).second);
      used.push_back(t);
    } else {
      const std::size_t i = step % used.size();
      in_use.erase(used[i]);
      pool.release(used[i]);
      used.erase(used.begin() + static_cast<std::ptrdiff_t>(i));
    }
    RC_ASSERT(pool.live() == used.size());
  }
}

TEST(EventPool, AWarmPoolGivesBackTheSameEvents) {
  EventPool pool;
  std::set<Event*> first;
  for (int round = 0; round < 3; ++round) {
    std::vector<Event*> taken;
    for (int i = 0; i < 1500; ++i) taken.push_back(pool.allocate<Event>());
    for (Event* t : taken) {
      if (round == 0) first.insert(t);
      EXPECT_TRUE(first.contains(t));
      pool.release(t);
    }
  }
  EXPECT_EQ(pool.live(), 0U);
}

TEST(EventPool, EachEventIsOneLineOfTheHost) {
  EventPool pool;
  for (int i = 0; i < 3; ++i) EXPECT_EQ(reinterpret_cast<std::uintptr_t>(pool.allocate<Event>()) % 64, 0U);
}

RC_GTEST_PROP(EventQueue, IsFirstInFirstOut, ()) {
  EventPool pool;
  EventQueue queue;
  std::deque<Event*> expected;
  for (const bool in : *rc::gen::arbitrary<std::vector<bool>>()) {
    if (in) {
      expected.push_back(pool.allocate<Event>());
      queue.push(expected.back());
    } else if (!expected.empty()) {
      RC_ASSERT(queue.front() == expected.front());
      RC_ASSERT(queue.pop() == expected.front());
      expected.pop_front();
    }
    RC_ASSERT(queue.size() == expected.size());
    RC_ASSERT(queue.empty() == expected.empty());
  }
}

}  // namespace
}  // namespace nearfar::pool_test
