// ST against its closed forms.
#include <gtest/gtest.h>

#include "workload/census.h"

namespace nearfar::st_test {
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

TEST(Stencil, ItemsReadTheirColumnAndTheOutermostTheBorder) {
  const std::uint64_t pitch = 208;
  const auto st = make("ST", {{"rows", 50}, {"columns", 194}, {"iterations", 2}});
  const VirtAddr arrays[] = {buffer(*st, "data").base, buffer(*st, "newData").base};
  const std::uint64_t rb = 2, cb = 1;
  for (std::size_t launch = 0; launch < 2; ++launch) {
    const VirtAddr from = arrays[launch], to = arrays[1 - launch];
    Items expected;
    for (std::uint64_t c = 0; c < 64; ++c) {
      auto& item = expected.emplace_back();
      for (std::uint64_t i = 0; i < 18; ++i)
        item.push_back({'+', from + 4 * ((16 * rb + i) * pitch + 64 * cb + c + 1)});
      for (std::uint64_t i = 0; i < 18; ++i) {
        if (c == 0) item.push_back({'+', from + 4 * ((16 * rb + i) * pitch + 64 * cb)});
        if (c == 63) item.push_back({'+', from + 4 * ((16 * rb + i) * pitch + 64 * cb + 65)});
      }
      for (std::uint64_t i = 0; i < 16; ++i)
        item.push_back({'-', to + 4 * ((16 * rb + i + 1) * pitch + 64 * cb + c + 1)});
    }
    EXPECT_EQ(touches(*st, launch, cb * 3 + rb), expected) << "launch " << launch;
  }
}

TEST(Stencil, VerticalBandsShareThePagesOfTheRows) {
  // Fewer rows than in the the papers' input sizes: what is shared repeats from row to row.
  struct Case {
    std::uint64_t rows, columns;
    int gpus;
    double percent;
  };
  for (const auto& [rows, columns, gpus, percent] :
       {Case{514, 4098, 2, 99.2}, {1026, 2050, 3, 97.6}, {1026, 1026, 4, 100}}) {
    const auto st = make("ST", {{"rows", rows}, {"columns", columns}, {"iterations", 2}});
    const Census census = take_census(*st, 4);
    EXPECT_NEAR(percent_by(*st, census, gpus), percent, 1) << rows << "×" << columns;
    EXPECT_EQ(pages_touched(census), pages_of(*st)) << rows << "×" << columns;
  }
}

}  // namespace
}  // namespace nearfar::st_test
