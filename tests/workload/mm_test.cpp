// MM against its closed forms.
#include <gtest/gtest.h>

#include "workload/census.h"

namespace nearfar::mm_test {
namespace {

using namespace nearfar::testing;

TEST(Multiply, TouchesTheLinesOfTheClosedForm) {
  for (const std::uint64_t n : {512U, 32U * 5U}) {
    const std::uint64_t blocks = n / 32;
    EXPECT_EQ(take_census(*make("MM", {{"n", n}})).lines.total, blocks * blocks * (128 * blocks + 64)) << "n " << n;
  }
}

TEST(Multiply, AWavefrontIsTheSequenceOfTheMachineCode) {
  const Census wave = take_wave(*make("MM"), 0, 20);
  EXPECT_EQ(wave.instructions, 1086U * 16 + 165);
  EXPECT_EQ(wave.loads, 36U * 16);
  EXPECT_EQ(wave.stores, 4U);
  EXPECT_EQ(wave.scalar_loads, 0U);
  EXPECT_EQ(wave.barriers, 2U * 16);
  EXPECT_EQ(wave.lines.least, 2U);
  EXPECT_EQ(wave.lines.most, 16U);
  EXPECT_EQ(wave.lines.total, 128U * 16 + 64);
  EXPECT_EQ(wave.pages.least, 1U);
  EXPECT_EQ(wave.pages.most, 8U);
}

TEST(Multiply, EverybodyReadsB) {
  const auto mm = make("MM");
  const Census census = take_census(*mm, 4);
  EXPECT_EQ(pages_touched(census), pages_of(*mm));
  EXPECT_EQ(pages_by(census, buffer(*mm, "A"), 1), pages_of(buffer(*mm, "A")));
  EXPECT_EQ(pages_by(census, buffer(*mm, "B"), 4), pages_of(buffer(*mm, "B")));
  EXPECT_EQ(pages_by(census, buffer(*mm, "C"), 1), pages_of(buffer(*mm, "C")));
  EXPECT_NEAR(percent_by(*mm, census, 1), 67, 1);
  EXPECT_NEAR(percent_by(*mm, census, 4), 33, 1);
}

TEST(Multiply, WithLocalRowsEverybodyReadsTheFirst32OfA) {
  const auto mm = make("MM", {{"a_rows", 1}});
  const Census census = take_census(*mm, 4);
  EXPECT_EQ(census.lines.total, 540'672U);
  const std::uint64_t rows = 32 * 512 * 4 / kPageBytes;
  EXPECT_EQ(pages_by(census, buffer(*mm, "A"), 4), rows);
  EXPECT_EQ(pages_by(census, buffer(*mm, "A"), 0), pages_of(buffer(*mm, "A")) - rows);
  EXPECT_GT(percent_by(*mm, census, 4), 50);
  EXPECT_LT(percent_by(*mm, census, 4), 53);
}

TEST(Multiply, ItemsReadRowsOfAAndColumnsOfB) {
  const std::uint64_t n = 96, g = n / 4;
  for (const std::uint64_t local_rows : {0U, 1U}) {
    const auto mm = make("MM", {{"n", n}, {"a_rows", local_rows}});
    const VirtAddr a = buffer(*mm, "A").base, b = buffer(*mm, "B").base, c = buffer(*mm, "C").base;
    const std::uint64_t gx = 1, gy = 2;
    Items expected;
    for (std::uint64_t ly = 0; ly < 8; ++ly) {
      for (std::uint64_t lx = 0; lx < 8; ++lx) {
        auto& item = expected.emplace_back();
        const std::uint64_t x = 8 * gx + lx, y = 8 * gy + ly;
        for (std::uint64_t i = 0; i < n / 32; ++i) {
          for (std::uint64_t k = 0; k < 4; ++k) {
            item.push_back({'+', a + 16 * (i * 8 + lx + (4 * (local_rows == 1 ? ly : y) + k) * g)});
          }
          for (std::uint64_t j = 0; j < 32; ++j) item.push_back({'+', b + 16 * (x + (32 * i + j) * g)});
        }
        for (std::uint64_t k = 0; k < 4; ++k) item.push_back({'-', c + 16 * (x + (4 * y + k) * g)});
      }
    }
    EXPECT_EQ(touches(*mm, 0, gy * 3 + gx), expected);
  }
}

}  // namespace
}  // namespace nearfar::mm_test
