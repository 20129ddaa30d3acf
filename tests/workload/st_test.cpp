// ST against its closed forms.
#include <gtest/gtest.h>

#include "workload/census.h"

namespace nearfar {
namespace {

using namespace nearfar::testing;

TEST(Stencil, TouchesTheLinesOfTheClosedForm) {
  EXPECT_EQ(take_census(*make("ST")).lines.total, 632'832U);
  EXPECT_EQ(take_census(*make("ST", {{"rows", 16 * 3 + 2}, {"columns", 64 * 5 + 2}, {"iterations", 2}})).lines.total,
            2U * 206 * 3 * 5);
}

TEST(Stencil, AWavefrontIsTheSequenceOfTheMachineCode) {
  const Census wave = take_wave(*make("ST"), 0, 100);
  EXPECT_EQ(wave.instructions, 965U);
  EXPECT_EQ(wave.loads, 53U);
  EXPECT_EQ(wave.stores, 16U);
  EXPECT_EQ(wave.scalar_loads, 0U);
  EXPECT_EQ(wave.barriers, 1U);
  EXPECT_EQ(wave.lines.least, 1U);
  EXPECT_EQ(wave.lines.most, 5U);
  EXPECT_EQ(wave.lines.total, 206U);
  EXPECT_LE(wave.pages.most, 2U);
}

TEST(Stencil, HalvesOfAWorkgroupFetchTheBorderOfTheirOwnSide) {
  const auto st = make("ST");
  const Census left = take_wave(*st, 0, 100, 0, 32), right = take_wave(*st, 0, 100, 1, 32);
  EXPECT_EQ(left.loads, 18U + 17 + 1);
  EXPECT_EQ(right.loads, 18U + 17 + 1);
  EXPECT_EQ(left.lines.total + right.lines.total, 18U * 3 * 2 + 36 + 16 * 3 * 2);
}

TEST(Stencil, ArraysSwapAtEveryIteration) {
  const auto st = make("ST", {{"rows", 18}, {"columns", 66}, {"iterations", 2}});
  const std::uint64_t data = buffer(*st, "data").base.value, new_data = buffer(*st, "newData").base.value;
  LaneAddresses lanes;
  for (std::size_t launch = 0; launch < 2; ++launch) {
    Stream stream = st->wavefront(launch, st->launches()[launch].wave(0, 0, 64));
    for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
      if (op.lanes == nullptr) continue;
      op.lanes(op.callable, 64, lanes);
      const bool in_new_data = lanes.address[static_cast<unsigned>(std::countr_zero(lanes.active))] >= new_data;
      ASSERT_EQ(in_new_data, (op.kind == OpKind::Store) == (launch == 0));
      ASSERT_GE(lanes.address[static_cast<unsigned>(std::countr_zero(lanes.active))], data);
    }
  }
}

TEST(Stencil, VerticalBandsShareThePagesOfTheRows) {
  // Fewer rows than in the published sizes: what is shared repeats from row to row.
  struct Case {
    std::uint64_t rows, columns;
    int gpus;
    double percent;
  };
  for (const auto& [rows, columns, gpus, percent] : {Case{514, 4098, 2, 99.2}, {1026, 2050, 3, 97.6}, {1026, 1026, 4, 100}}) {
    const auto st = make("ST", {{"rows", rows}, {"columns", columns}, {"iterations", 2}});
    const Census census = take_census(*st, 4);
    EXPECT_NEAR(percent_by(*st, census, gpus), percent, 1) << rows << "×" << columns;
    EXPECT_EQ(pages_touched(census), pages_of(*st)) << rows << "×" << columns;
  }
}

}  // namespace
}  // namespace nearfar
