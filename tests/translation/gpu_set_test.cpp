// The set of GPUs that hold a page, against a plain one.
#include "translation/gpu_set.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

namespace nearfar::gpu_set_test {
namespace {

constexpr unsigned kGpus = 1024;

unsigned any_gpu() { return *rc::gen::element(0U, 1U, 5U, 63U, 64U, 65U, 127U, 128U, 511U, 1023U); }

void expect_equal(const GpuSet& set, const std::set<unsigned>& plain) {
  RC_ASSERT(set.count() == plain.size());
  RC_ASSERT(set.any() == !plain.empty());
  for (unsigned gpu = 0; gpu < kGpus; ++gpu) RC_ASSERT(set.test(gpu) == plain.contains(gpu));
}

RC_GTEST_PROP(GpuSet, HoldsWhatWasPutIn, ()) {
  GpuSet set, other;
  std::set<unsigned> plain, plain_other;
  for (unsigned i = 0; i < 12; ++i) {
    const unsigned gpu = any_gpu();
    switch (*rc::gen::inRange(0, 8)) {
      case 0:
        set.reset();
        plain.clear();
        break;
      case 1:
        other = set;
        plain_other = plain;
        break;
      case 2:
        other.set(gpu);
        plain_other.insert(gpu);
        break;
      default: set.set(gpu); plain.insert(gpu);
    }
    expect_equal(set, plain);
    expect_equal(GpuSet(other), plain_other);
    const auto missing = std::ranges::count_if(plain, [&](unsigned g) { return !plain_other.contains(g); });
    RC_ASSERT(set.count_without(other) == static_cast<unsigned>(missing));
  }
}

TEST(GpuSet, OfAFewGpusIsTwoWords) { EXPECT_LE(sizeof(GpuSet), 16U); }

}  // namespace
}  // namespace nearfar::gpu_set_test
