// Quantities as text: exact reading, round trips, and time rounded half up once.
#include "config/units.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <boost/multiprecision/cpp_int.hpp>
#include <string>
#include <string_view>

namespace nearfar::units_test {
namespace {

constexpr Frequency k1GHz = 1000_MHz;

std::string problem_of(const auto& parse) {
  try {
    parse();
    return "";
  } catch (const BadValue& problem) {
    return problem.what();
  }
}

TEST(Units, ReadsSizes) {
  EXPECT_EQ(parse_bytes("64"), 64U);
  EXPECT_EQ(parse_bytes("64B"), 64U);
  EXPECT_EQ(parse_bytes("16KiB"), 16384U);
  EXPECT_EQ(parse_bytes("2 MiB"), 2097152U);
  EXPECT_EQ(parse_bytes("1.5KiB"), 1536U);
  EXPECT_EQ(parse_bytes("4GiB"), std::uint64_t{4} << 30);
  EXPECT_EQ(parse_bytes("1TiB"), std::uint64_t{1} << 40);
  EXPECT_EQ(parse_bytes("18446744073709551615"), ~std::uint64_t{0});
}

TEST(Units, RefusesSizes) {
  for (const std::string_view text : {"", "KiB", "1kib", "1MB", "0.3KiB", "1,5KiB", "0x10", "1e3", "+1", "-1", "1.KiB",
                                      ".5KiB", "1 2", "18446744073709551616", "16777216TiB", "1KiB ", " 1KiB"}) {
    EXPECT_THROW(parse_bytes(text), BadValue) << text;
  }
}

TEST(Units, HintsAtTheRightUnit) {
  EXPECT_EQ(problem_of([] { return parse_bytes("1.5GB"); }),
            "`GB` is not a unit here, because sizes are powers of 1024. Did you mean `1.5GiB`?");
  EXPECT_EQ(problem_of([] { return parse_bytes("4M"); }),
            "`M` is not a unit here, because sizes are powers of 1024. Did you mean `4MiB`?");
  EXPECT_EQ(problem_of([] { return parse_frequency("1.5gHz"); }), "`gHz` is not a unit here. Did you mean `GHz`?");
}

TEST(Units, ReadsBandwidth) {
  const auto rate = [](std::string_view text) { return parse_bandwidth(text, k1GHz)->bytes_per_second; };
  EXPECT_EQ(rate("32GB/s"), 32'000'000'000U);
  EXPECT_EQ(rate("300 GB/s"), 300'000'000'000U);
  EXPECT_EQ(rate("1TB/s"), 1'000'000'000'000U);
  EXPECT_EQ(rate("62.5GB/s"), 62'500'000'000U);
  EXPECT_EQ(rate("16B/cycle"), 16'000'000'000U);
  EXPECT_EQ(parse_bandwidth("22.5B/cycle", Frequency{1'400'000'000})->bytes_per_second, 31'500'000'000U);
}

TEST(Units, BandwidthPerCycleWaitsForTheClock) {
  EXPECT_FALSE(parse_bandwidth("16B/cycle", std::nullopt).has_value());
  EXPECT_TRUE(parse_bandwidth("16GB/s", std::nullopt).has_value());
}

TEST(Units, RefusesBandwidthThatIsNotWhole) {
  EXPECT_THROW(parse_bandwidth("0.5B/cycle", Frequency{3}), BadValue);
  EXPECT_THROW(parse_bandwidth("0.0000000001GB/s", k1GHz), BadValue);
}

TEST(Units, ReadsTime) {
  EXPECT_EQ(parse_cycles("107", k1GHz), 107U);
  EXPECT_EQ(parse_cycles("107 cycles", k1GHz), 107U);
  EXPECT_EQ(parse_cycles("1 cycle", k1GHz), 1U);
  EXPECT_EQ(parse_cycles("106.7ns", k1GHz), 107U);
  EXPECT_EQ(parse_cycles("1.5us", k1GHz), 1500U);
  EXPECT_EQ(parse_cycles("250ps", k1GHz), 0U);
  EXPECT_EQ(parse_cycles("1ms", k1GHz), 1'000'000U);
  EXPECT_FALSE(parse_cycles("5ns", std::nullopt).has_value());
  EXPECT_EQ(parse_cycles("5", std::nullopt), 5U);
}

TEST(Units, RoundsHalfUp) {
  EXPECT_EQ(parse_cycles("0.5ns", k1GHz), 1U);
  EXPECT_EQ(parse_cycles("0.499999ns", k1GHz), 0U);
  EXPECT_EQ(parse_cycles("1.5ns", k1GHz), 2U);
  EXPECT_EQ(parse_cycles("2.5ns", k1GHz), 3U);
  EXPECT_EQ(parse_cycles("13.75ns", 2000_MHz), 28U);
  EXPECT_EQ(parse_cycles("300ns", 800_MHz), 240U);
}

TEST(Units, WritesTheShortestForm) {
  EXPECT_EQ(format_bytes(0), "0B");
  EXPECT_EQ(format_bytes(64), "64B");
  EXPECT_EQ(format_bytes(1536), "1536B");
  EXPECT_EQ(format_bytes(6_MiB), "6MiB");
  EXPECT_EQ(format_bandwidth(Bandwidth{0}), "0B/s");
  EXPECT_EQ(format_bandwidth(32_GBps), "32GB/s");
  EXPECT_EQ(format_bandwidth(Bandwidth{62'500'000'000}), "62.5GB/s");
  EXPECT_EQ(format_bandwidth(Bandwidth{1'000'000'000'000}), "1TB/s");
  EXPECT_EQ(format_bandwidth(Bandwidth{1'000'000'001}), "1000000001B/s");
  EXPECT_EQ(format_bandwidth(Bandwidth{1'234'567'000'000}), "1234.567GB/s");
  EXPECT_EQ(format_frequency(Frequency{1'400'000'000}), "1.4GHz");
  EXPECT_EQ(format_frequency(800_MHz), "800MHz");
}

RC_GTEST_PROP(Units, SizesReadBackAsWritten, (std::uint64_t n)) { RC_ASSERT(parse_bytes(format_bytes(n)) == n); }

RC_GTEST_PROP(Units, RoundSizesReadBackAsWritten, (std::uint16_t n)) {
  const auto shift = *rc::gen::inRange(0, 45);
  const std::uint64_t bytes = std::uint64_t{n} << shift;
  RC_ASSERT(parse_bytes(format_bytes(bytes)) == bytes);
}

RC_GTEST_PROP(Units, BandwidthReadsBackAsWritten, (std::uint32_t n)) {
  std::uint64_t rate = n;
  for (int i = *rc::gen::inRange(0, 9); i > 0; --i) rate *= 10;
  RC_ASSERT(parse_bandwidth(format_bandwidth({rate}), std::nullopt)->bytes_per_second == rate);
}

RC_GTEST_PROP(Units, FrequencyReadsBackAsWritten, (std::uint64_t n)) {
  RC_ASSERT(parse_frequency(format_frequency({n})).hertz == n);
}

RC_GTEST_PROP(Units, TimeAgreesWithRationalArithmetic, (std::uint32_t picoseconds)) {
  const auto megahertz = *rc::gen::inRange<std::uint64_t>(1, 10'001);
  std::string text =
      std::to_string(picoseconds / 1000) + "." + std::to_string(1000 + picoseconds % 1000).substr(1) + "ns";
  using Rational = boost::multiprecision::cpp_rational;
  const Rational exact = Rational(picoseconds) * megahertz / 1'000'000 + Rational(1, 2);
  const boost::multiprecision::cpp_int whole = numerator(exact) / denominator(exact);
  RC_ASSERT(parse_cycles(text, Frequency{megahertz * 1'000'000}) == whole.convert_to<std::uint64_t>());
}

RC_GTEST_PROP(Units, ReadersOnlyThrowBadValue, (std::string text)) {
  const auto harmless = [&](const auto& parse) {
    try {
      parse();
    } catch (const BadValue& problem) {
      RC_ASSERT(!std::string(problem.what()).empty());
    }
  };
  harmless([&] { parse_integer(text); });
  harmless([&] { parse_bytes(text); });
  harmless([&] { parse_frequency(text); });
  harmless([&] { parse_bandwidth(text, k1GHz); });
  harmless([&] { parse_cycles(text, k1GHz); });
}

}  // namespace
}  // namespace nearfar::units_test
