#include "cli/numbers.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>

namespace nearfar::numbers_test {
namespace {

TEST(Numbers, GroupsDigitsByThree) {
  EXPECT_EQ(grouped(0), "0");
  EXPECT_EQ(grouped(999), "999");
  EXPECT_EQ(grouped(1000), "1,000");
  EXPECT_EQ(grouped(8388608), "8,388,608");
  EXPECT_EQ(grouped(~std::uint64_t{0}), "18,446,744,073,709,551,615");
}

RC_GTEST_PROP(Numbers, GroupingOnlyAddsCommas, (std::uint64_t value)) {
  std::string text = grouped(value);
  for (std::size_t i = 0; i < text.size(); ++i) RC_ASSERT((text[text.size() - 1 - i] == ',') == (i % 4 == 3));
  std::erase(text, ',');
  RC_ASSERT(text == std::to_string(value));
}

TEST(Numbers, PercentOfNothingIsADash) {
  EXPECT_EQ(percent(1, 8), "12.5 %");
  EXPECT_EQ(percent(0, 0), "-");
}

TEST(Numbers, SizesAreBinaryAndRatesDecimal) {
  EXPECT_EQ(size_text(1023), "1023 B");
  EXPECT_EQ(size_text(1536), "1.50 KiB");
  EXPECT_EQ(size_text(128.0 * 1024 * 1024), "128 MiB");
  EXPECT_EQ(rate_text(55.1e9), "55.1 GB/s");
  EXPECT_EQ(rate_text(2e12), "2.00 TB/s");
}

TEST(Numbers, TimesAndCountsKeepThreeDigits) {
  EXPECT_EQ(time_text(0.00123), "1.23 ms");
  EXPECT_EQ(time_text(45.6e-6), "45.6 µs");
  EXPECT_EQ(time_text(12), "12.0 s");
  EXPECT_EQ(count_text(950), "950");
  EXPECT_EQ(count_text(3.4e6), "3.40 M");
  EXPECT_EQ(clock_text(1e9), "1 GHz");
  EXPECT_EQ(clock_text(1.2e9), "1.2 GHz");
  EXPECT_EQ(clock_text(745e6), "745 MHz");
}

}  // namespace
}  // namespace nearfar::numbers_test
