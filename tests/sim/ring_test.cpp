#include "sim/ring.h"

#include <gtest/gtest.h>

#include <deque>
#include <pcg_random.hpp>

namespace nearfar::ring_test {
namespace {

TEST(Ring, IsAQueueOnRandomInput) {
  pcg32 random(7);
  Ring<unsigned> ring;
  std::deque<unsigned> model;
  for (unsigned i = 0; i < 20'000; ++i) {
    if (model.empty() || random() % 100 < (i % 2000 < 1000 ? 60U : 40U)) {
      ring.push(i);
      model.push_back(i);
    } else {
      ASSERT_EQ(ring.pop(), model.front());
      model.pop_front();
    }
    ASSERT_EQ(ring.size(), model.size());
    ASSERT_EQ(ring.empty(), model.empty());
    if (!model.empty()) {
      ASSERT_EQ(ring.front(), model.front());
    }
  }
}

}  // namespace
}  // namespace nearfar::ring_test
