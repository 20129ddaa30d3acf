// FIR against its closed forms.
#include <gtest/gtest.h>

#include "workload/census.h"

namespace nearfar::fir_test {
namespace {

using namespace nearfar::testing;

TEST(Fir, TouchesTheLinesOfTheClosedForm) {
  EXPECT_EQ(take_census(*make("FIR")).lines.total, 679'936U);
  for (const std::uint64_t n : {256U, 256U * 37U}) {
    for (const std::uint64_t taps : {16U, 32U}) {
      const Census census = take_census(*make("FIR", {{"n", n}, {"taps", taps}}));
      EXPECT_EQ(census.lines.total, n / 64 * (5 * taps - (taps + 15) / 16 + 4)) << n << " samples, " << taps << " taps";
    }
  }
}

TEST(Fir, AWavefrontIsTheSequenceOfTheMachineCode) {
  const auto fir = make("FIR");
  for (const std::uint64_t group : {0U, 5U}) {
    const Census wave = take_wave(*fir, 0, group, 1);
    EXPECT_EQ(wave.instructions, 402U);
    EXPECT_EQ(wave.loads, 16U);
    EXPECT_EQ(wave.stores, 1U);
    EXPECT_EQ(wave.scalar_loads, 16U);
    EXPECT_EQ(wave.barriers, 0U);
    EXPECT_EQ(wave.lines.least, 4U);
    EXPECT_EQ(wave.lines.most, 5U);
    EXPECT_EQ(wave.lines.total, 83U);
    EXPECT_LE(wave.pages.most, 2U);
  }
}

TEST(Fir, OnlyTheFirstWavefrontReadsTheHistory) {
  const auto fir = make("FIR", {{"n", 1024}});
  const std::uint64_t last = fir->buffers().size() - 1;
  ASSERT_EQ(fir->buffers()[last].name, "history");
  EXPECT_EQ(pages_by(take_wave(*fir, 0, 0, 0), fir->buffers()[last], 1), 1U);
  EXPECT_EQ(pages_by(take_wave(*fir, 0, 0, 1), fir->buffers()[last], 1), 0U);
  EXPECT_EQ(pages_by(take_wave(*fir, 0, 3, 0), fir->buffers()[last], 1), 0U);
}

TEST(Fir, ItemsReadTheSamplesBeforeThemAndHistoryBeforeTheFirst) {
  const auto fir = make("FIR", {{"n", 512}});
  const VirtAddr input = buffer(*fir, "input").base, output = buffer(*fir, "output").base;
  const VirtAddr history = buffer(*fir, "history").base;
  for (const std::uint64_t group : {0U, 1U}) {
    Items expected;
    for (std::uint64_t t = 256 * group; t < 256 * (group + 1); ++t) {
      auto& item = expected.emplace_back();
      for (std::uint64_t i = 0; i < 16; ++i) {
        item.push_back({'+', t >= i ? input + 4 * (t - i) : history + 4 * (16 - (i - t))});
      }
      item.push_back({'-', output + 4 * t});
    }
    EXPECT_EQ(touches(*fir, 0, group), expected);
  }
}

TEST(Fir, GpusShareOnePageAtEachBorder) {
  const auto fir = make("FIR");
  const Census census = take_census(*fir, 4);
  EXPECT_EQ(pages_touched(census), pages_of(*fir));
  EXPECT_EQ(pages_by(census, buffer(*fir, "input"), 2), 3U);
  EXPECT_EQ(pages_by(census, buffer(*fir, "input"), 1), pages_of(buffer(*fir, "input")) - 3);
  EXPECT_EQ(pages_by(census, buffer(*fir, "output"), 1), pages_of(buffer(*fir, "output")));
  EXPECT_EQ(pages_by(census, buffer(*fir, "coeff"), 4), 1U);
  EXPECT_EQ(pages_by(census, buffer(*fir, "history"), 1), 1U);
  EXPECT_NEAR(percent_by(*fir, census, 1), 100, 1);
}

}  // namespace
}  // namespace nearfar::fir_test
