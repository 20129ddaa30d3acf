// KM against its closed forms.
#include <gtest/gtest.h>

#include "workload/census.h"

namespace nearfar::km_test {
namespace {

using namespace nearfar::testing;

TEST(KMeans, TouchesTheLinesOfTheClosedForm) {
  EXPECT_EQ(take_census(*make("KM")).lines.total, 690'688U);
  const std::uint64_t points = 64 * 7, features = 18, clusters = 3, iterations = 2;
  const Census census = take_census(
      *make("KM", {{"points", points}, {"features", features}, {"clusters", clusters}, {"iterations", iterations}}));
  EXPECT_EQ(census.lines.total, points / 64 * (68 * features + iterations * 4 * (clusters * features + 1)));
}

TEST(KMeans, WavefrontsAreTheSequencesOfTheMachineCode) {
  const auto km = make("KM");
  const Census swap = take_wave(*km, 0, 3);
  EXPECT_EQ(swap.loads, 32U);
  EXPECT_EQ(swap.stores, 32U);
  EXPECT_EQ(swap.scalar_loads, 0U);
  EXPECT_EQ(swap.instructions, 17U + 32 * 19);
  EXPECT_EQ(swap.lines.least, 4U);
  EXPECT_EQ(swap.lines.most, 64U);
  EXPECT_EQ(swap.pages.most, 2U);

  const Census compute = take_wave(*km, 1, 3);
  EXPECT_EQ(compute.instructions, 3145U);
  EXPECT_EQ(compute.loads, 160U);
  EXPECT_EQ(compute.stores, 1U);
  EXPECT_EQ(compute.scalar_loads, 160U);
  EXPECT_EQ(compute.barriers, 0U);
  EXPECT_EQ(compute.lines.least, 4U);
  EXPECT_EQ(compute.lines.most, 4U);
  EXPECT_EQ(compute.pages.most, 1U);
}

TEST(KMeans, EveryPageBelongsToOneGpu) {
  const auto km = make("KM");
  const Census census = take_census(*km, 4);
  EXPECT_EQ(pages_touched(census), pages_of(*km));
  EXPECT_EQ(percent_by(*km, census, 1), 100.0);
}

TEST(KMeans, PointsBeyondTheLastAreNobodys) {
  const auto km = make("KM", {{"points", 65}, {"iterations", 1}});
  EXPECT_EQ(km->launches()[0].groups_x, 2U);
  const Census tail = take_wave(*km, 1, 1);
  EXPECT_EQ(tail.lines.most, 1U);
  EXPECT_EQ(tail.instructions, 3145U);
  EXPECT_EQ(take_wave(*km, 1, 1, 1, 32).loads, 0U) << "a wavefront without points leaves at once";
  EXPECT_EQ(pages_touched(take_census(*km)), pages_of(*km));
}

TEST(KMeans, ItemsReadTheirPoint) {
  const std::uint64_t points = 100, features = 3, clusters = 2;
  const auto km = make("KM", {{"points", points}, {"features", features}, {"clusters", clusters}, {"iterations", 1}});
  const VirtAddr feature = buffer(*km, "feature").base, swapped = buffer(*km, "feature_swap").base;
  const VirtAddr membership = buffer(*km, "membership").base;
  Items swap(64), compute(64);
  for (std::uint64_t t = 64; t < points; ++t) {
    for (std::uint64_t i = 0; i < features; ++i) {
      swap[t - 64].push_back({'+', feature + 4 * (t * features + i)});
      swap[t - 64].push_back({'-', swapped + 4 * (i * points + t)});
    }
    for (std::uint64_t c = 0; c < clusters; ++c) {
      for (std::uint64_t l = 0; l < features; ++l) compute[t - 64].push_back({'+', swapped + 4 * (l * points + t)});
    }
    compute[t - 64].push_back({'-', membership + 4 * t});
  }
  EXPECT_EQ(touches(*km, 0, 1), swap);
  EXPECT_EQ(touches(*km, 1, 1), compute);
}

TEST(KMeans, ClustersAreReadInOrder) {
  const auto km = make("KM", {{"points", 64}, {"features", 3}, {"clusters", 2}, {"iterations", 1}});
  Stream stream = km->wavefront(1, km->launches()[1].wave(0, 0, 64));
  VirtAddr next = buffer(*km, "clusters").base;
  for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
    if (op.kind != OpKind::ScalarLoad) continue;
    EXPECT_EQ(op.address, next.value);
    next = next + 4;
  }
  EXPECT_EQ(next, buffer(*km, "clusters").base + 4 * 6);
}

}  // namespace
}  // namespace nearfar::km_test
