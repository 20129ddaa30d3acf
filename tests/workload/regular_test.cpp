// AES, BS, SC, FFT, the layers of neural networks, and Rodinia's programs against their closed forms.
#include <gtest/gtest.h>

#include <pcg_random.hpp>

#include "workload/census.h"

namespace nearfar::regular_test {
namespace {

using namespace nearfar::testing;

std::uint64_t lines(std::string_view name, std::vector<ParameterSetting> settings = {}) {
  return take_census(*make(name, std::move(settings))).lines.total;
}

TEST(Aes, TouchesTheLinesOfTheClosedForm) {
  EXPECT_NEAR(static_cast<double>(lines("AES")), 950'272, 10);
  const auto aes = make("AES");
  const Census wave = take_wave(*aes, 0, 3);
  EXPECT_EQ(wave.lines.total, 928U);
  EXPECT_EQ(wave.loads, 1 + 14 * 16U);
  EXPECT_EQ(wave.stores, 1U);
  EXPECT_EQ(wave.scalar_loads, 15U);
  EXPECT_NEAR(static_cast<double>(wave.instructions), 3180, 318);
  EXPECT_EQ(percent_by(*aes, take_census(*aes, 4), 1), 100);
}

TEST(BitonicSort, TouchesTheLinesOfTheClosedForm) {
  EXPECT_EQ(lines("BS"), 712'704U);
  for (const std::uint64_t s : {7U, 10U}) {
    const std::uint64_t n = std::uint64_t{1} << s;
    EXPECT_EQ(lines("BS", {{"n", n}}), n / 8 * (s * (s + 1) / 2 + 4 * s - 6));
    EXPECT_EQ(lines("BS", {{"n", n}, {"first_stage", s - 1}}), n / 8 * (s - 1 + 5)) << "the last stage";
  }
  const Census wave = take_wave(*make("BS"), 50, 7);
  EXPECT_EQ(wave.instructions, 49U);
  EXPECT_EQ(wave.loads, 2U);
  EXPECT_EQ(wave.stores, 2U);
}

TEST(BitonicSort, PartnersShareHalfOfThePagesInTwosAndAQuarterInThrees) {
  const auto bs = make("BS");
  const Census census = take_census(*bs, 4);
  EXPECT_EQ(percent_by(*bs, census, 1), 25);
  EXPECT_EQ(percent_by(*bs, census, 2), 50);
  EXPECT_EQ(percent_by(*bs, census, 3), 25);
}

/// Lets the streams' addresses sort real numbers: what an item compares, in which direction its stage says.
TEST(BitonicSort, TheStreamsSort) {
  constexpr std::uint64_t kN = 1024;
  const auto bs = make("BS", {{"n", kN}});
  const VirtAddr base = bs->buffers()[0].base;
  pcg32 random(1);
  std::vector<std::uint32_t> data(kN);
  for (auto& each : data) each = random();
  std::size_t launch = 0;
  for (std::uint32_t stage = 0; stage < 10; ++stage) {
    for (std::uint32_t pass = 0; pass <= stage; ++pass, ++launch) {
      for (std::uint64_t group = 0; group < kN / 128; ++group) {
        const Items items = touches(*bs, launch, group);
        for (std::uint64_t t = 0; t < 64; ++t) {
          auto& left = data.at((items[t].at(0).at.value - base.value) / 4);
          auto& right = data.at((items[t].at(1).at.value - base.value) / 4);
          const bool ascending = ((group * 64 + t) >> stage) % 2 == 0;
          if ((left > right) == ascending) std::swap(left, right);
        }
      }
    }
  }
  EXPECT_EQ(launch, bs->launches().size());
  EXPECT_TRUE(std::ranges::is_sorted(data));
}

TEST(SimpleConvolution, TouchesTheLinesOfTheClosedForm) {
  EXPECT_EQ(lines("SC"), 788'503U);
  EXPECT_NEAR(static_cast<double>(lines("SC", {{"width", 254}, {"height", 254}})) / (254 * 254 / 64.0), 48.52, 0.05);
  const Census wave = take_wave(*make("SC"), 0, 5);
  EXPECT_NEAR(static_cast<double>(wave.instructions), 290, 29);
  EXPECT_EQ(wave.loads, 9U);
  EXPECT_EQ(wave.stores, 1U);
  EXPECT_EQ(wave.scalar_loads, 9U);
}

TEST(SimpleConvolution, ItemsReadThePixelsUnderTheMask) {
  const std::uint64_t width = 70, height = 3, mask = 2;
  const auto sc = make("SC", {{"width", width}, {"height", height}, {"mask", mask}});
  const VirtAddr input = buffer(*sc, "input").base, output = buffer(*sc, "output").base;
  for (const std::uint64_t group : {1U, 3U}) {  // one runs over the end of a row, one over the end of the image
    Items expected(64);
    for (std::uint64_t t = group * 64; t < std::min((group + 1) * 64, width * height); ++t) {
      auto& item = expected[t % 64];
      for (std::uint64_t j = 0; j < mask; ++j) {
        for (std::uint64_t i = 0; i < mask; ++i) {
          item.push_back({'+', input + 4 * ((t / width + j) * (width + mask - 1) + t % width + i)});
        }
      }
      item.push_back({'-', output + 4 * t});
    }
    EXPECT_EQ(touches(*sc, 0, group), expected) << group;
  }
}

TEST(Fft, AWavefrontTransformsOnePageInPlace) {
  const auto fft = make("FFT");
  EXPECT_EQ(take_census(*fft).lines.total, 524'288U);
  const Census wave = take_wave(*fft, 0, 9);
  EXPECT_EQ(wave.loads, 8U);
  EXPECT_EQ(wave.stores, 8U);
  EXPECT_EQ(wave.barriers, 7U);
  EXPECT_EQ(wave.lines.least, 8U);
  EXPECT_EQ(wave.lines.most, 8U);
  EXPECT_EQ(pages_touched(wave), 1U);
  EXPECT_NEAR(static_cast<double>(wave.instructions), 2000, 100);
  EXPECT_EQ(percent_by(*fft, take_census(*fft, 4), 1), 100);
}

TEST(Im2col, TouchesTheLinesAsMeasured) {
  const auto im2col = make("Im2col");
  const Census census = take_census(*im2col, 4);
  EXPECT_EQ(census.lines.total, 374'960U);
  EXPECT_NEAR(static_cast<double>(take_wave(*im2col, 0, 70).instructions), 215, 10);
  const Buffer& input = buffer(*im2col, "input");
  EXPECT_EQ(pages_by(census, input, 2), pages_of(input)) << "each page of the images by two GPUs";
  EXPECT_EQ(pages_by(census, buffer(*im2col, "output"), 1), pages_of(buffer(*im2col, "output")));
  EXPECT_NEAR(percent_by(*im2col, census, 1), 90, 1);
}

TEST(Im2col, ItemsGatherTheirPixel) {
  const std::uint64_t side = 10, kernel = 3, stride = 2, pad = 1, out = 5, batch = 2, channels = 3;
  const auto im2col = make("Im2col", {{"batch", batch}, {"side", side}, {"stride", stride}});
  const VirtAddr input = buffer(*im2col, "input").base, output = buffer(*im2col, "output").base;
  const std::uint64_t columns = batch * out * out;
  for (const std::uint64_t group : {2U, 27U}) {
    Items expected;
    for (std::uint64_t y = group / 7 * 8; y < group / 7 * 8 + 8; ++y) {
      for (std::uint64_t x = group % 7 * 8; x < group % 7 * 8 + 8; ++x) {
        auto& item = expected.emplace_back();
        if (x >= columns || y >= channels * kernel * kernel) continue;
        const std::uint64_t b = x / (out * out), q = x % (out * out);
        const std::uint64_t rx = q % out * stride + y % kernel - pad, ry = q / out * stride + y % 9 / kernel - pad;
        if (rx < side && ry < side) {
          item.push_back({'+', input + 4 * (((b * channels + y / 9) * side + ry) * side + rx)});
        }
        item.push_back({'-', output + 4 * (y * columns + x)});
      }
    }
    EXPECT_EQ(touches(*im2col, 0, group), expected) << group;
  }
}

TEST(Conv2d, TouchesTheLinesAsMeasured) {
  const auto conv = make("Conv2d");
  const Census census = take_census(*conv, 4);
  EXPECT_EQ(census.lines.total, 622'124U);
  EXPECT_EQ(pages_by(census, buffer(*conv, "col"), 4), pages_of(buffer(*conv, "col")));
  for (const char* mine : {"bias", "product"}) {
    EXPECT_EQ(pages_by(census, buffer(*conv, mine), 1), pages_of(buffer(*conv, mine))) << mine;
  }
  EXPECT_NEAR(percent_by(*conv, census, 4), 17, 1);
  // The product alone, where everything is a multiple of the tile: m·n/64·(12 + 8·k/16).
  const auto even = make("Conv2d", {{"channels", 16}, {"kernel", 1}, {"pad", 0}, {"side", 16}, {"filters", 32}});
  Counter counter(*even);
  for (std::uint64_t group = 0; group < even->launches()[1].groups(); ++group) counter.group(1, group);
  EXPECT_EQ(counter.census().lines.total, 32U * 256 / 64 * (12 + 8));
}

TEST(Conv2d, TheFullLayerTurnsBiasAndResultAround) {
  const std::uint64_t side = 10, filters = 20, batch = 2, area = side * side;
  const auto conv = make("Conv2d", {{"batch", batch}, {"side", side}, {"filters", filters}, {"full", 1}});
  ASSERT_EQ(conv->launches().size(), 6U);
  const VirtAddr product = buffer(*conv, "product").base, output = buffer(*conv, "output").base;
  const VirtAddr repeated = buffer(*conv, "repeated_bias").base, bias = buffer(*conv, "bias").base;
  const auto at = [](VirtAddr array, VirtAddr base) { return (array.value - base.value) / 4; };
  for (std::uint64_t group = 0; group < conv->launches()[5].groups(); ++group) {
    for (const auto& item : touches(*conv, 3, group)) {
      if (item.empty()) continue;
      const std::uint64_t to = at(item.back().at, bias), from = at(item[item.size() - 2].at, repeated);
      EXPECT_EQ(item.size(), 3U * 2 + 2);
      EXPECT_EQ(std::pair(to / (batch * area), to % (batch * area)), std::pair(from % filters, from / filters));
    }
    for (const auto& item : touches(*conv, 5, group)) {
      if (item.empty()) continue;
      const std::uint64_t to = at(item.back().at, output), from = at(item[item.size() - 2].at, product);
      EXPECT_EQ(item.size(), 3U * 4 + 2);
      EXPECT_EQ(to % area, from % area);
      EXPECT_EQ(to / area / filters, from / area % batch) << "the image";
      EXPECT_EQ(to / area % filters, from / area / batch) << "the filter";
    }
  }
  const auto larger = make("Conv2d", {{"full", 1}});
  const Census census = take_census(*larger, 4);
  EXPECT_LT(percent_by(*larger, census, 1), 90) << "copies and transpositions share more than the core";
}

TEST(NeedlemanWunsch, TouchesTheLinesOfTheClosedForm) {
  EXPECT_EQ(lines("NW"), 746'496U);
  EXPECT_EQ(lines("NW", {{"n", 240}}), 81U * 15 * 15);
  EXPECT_EQ(lines("NW", {{"n", 320}, {"block", 64}}), 702U * 5 * 5);
  EXPECT_NEAR(static_cast<double>(take_wave(*make("NW"), 0).instructions), 900, 90);
  const auto nw = make("NW", {{"n", 512}});
  EXPECT_EQ(nw->launches().size(), 63U);
  const Census census = take_census(*nw);
  EXPECT_EQ(pages_by(census, buffer(*nw, "output_itemsets"), 0), pages_of(buffer(*nw, "output_itemsets")));
  EXPECT_EQ(pages_touched(census), 2 * pages_of(buffer(*nw, "reference")));
}

TEST(NeedlemanWunsch, LongDiagonalsAreSharedByTwo) {
  const auto nw = make("NW", {{"n", 6816}});
  const Census census = take_census(*nw, 4);
  EXPECT_NEAR(percent_by(*nw, census, 1), 54, 1);
  EXPECT_NEAR(percent_by(*nw, census, 2), 42, 1);
  EXPECT_NEAR(percent_by(*nw, census, 3), 4, 1);
}

TEST(NeedlemanWunsch, EveryElementIsMadeOnceAfterThoseNorthAndWest) {
  constexpr std::uint64_t kN = 64;
  const auto nw = make("NW", {{"n", kN}});
  const VirtAddr items = buffer(*nw, "input_itemsets").base;
  const auto inside = [&](const Touch& touch) {
    return touch.at >= items && touch.at < items + 4 * (kN + 1) * (kN + 1);
  };
  std::vector<int> made((kN + 1) * (kN + 1));
  for (std::uint64_t i = 0; i <= kN; ++i) made[i] = made[i * (kN + 1)] = 1;  // the borders are given
  for (std::size_t l = 0; l < nw->launches().size(); ++l) {
    std::vector<std::size_t> stored;
    for (std::uint64_t group = 0; group < nw->launches()[l].groups(); ++group) {
      for (const auto& item : touches(*nw, l, group)) {
        for (const Touch& touch : item) {
          if (!inside(touch)) continue;
          const auto index = static_cast<std::size_t>((touch.at.value - items.value) / 4);
          if (touch.how == '+') {
            EXPECT_EQ(made[index], 1) << "read before it was made";
          } else {
            stored.push_back(index);
          }
        }
      }
    }
    for (const std::size_t index : stored) ++made[index];
  }
  EXPECT_EQ(made, std::vector<int>(made.size(), 1));
}

TEST(Lud, TouchesTheLinesOfTheClosedForm) {
  EXPECT_EQ(lines("LUD"), 923'930U);
  const std::uint64_t b = 6;
  EXPECT_EQ(lines("LUD", {{"n", 16 * b}}), 64 * (b - 1) * b * (2 * b - 1) / 6 + 79 * b * (b - 1) / 2 + 31 * b);
  EXPECT_EQ(make("LUD")->launches().size(), 3U * 35 - 2);
  EXPECT_NEAR(static_cast<double>(take_wave(*make("LUD"), 2).instructions), 100, 10);
}

TEST(BackPropagation, TouchesTheLinesOfTheClosedForm) {
  EXPECT_EQ(lines("BackProp"), 745'472U);
  EXPECT_EQ(lines("BackProp", {{"n", 4096}}), 4096U * 91 / 8);
  const auto back = make("BackProp");
  const Census forward = take_wave(*back, 0, 100), adjust = take_wave(*back, 1, 100);
  EXPECT_NEAR(static_cast<double>(forward.instructions), 115, 11);
  EXPECT_NEAR(static_cast<double>(adjust.instructions), 65, 6.5);
  EXPECT_EQ(forward.barriers, 8U);
  const Census census = take_census(*back, 4);
  EXPECT_NEAR(percent_by(*back, census, 1), 100, 1);
  EXPECT_EQ(pages_by(census, buffer(*back, "delta"), 4), 1U);
  EXPECT_EQ(pages_by(census, buffer(*back, "hidden"), 0), 1U);
}

TEST(Hotspot, TouchesTheLinesOfTheClosedForm) {
  EXPECT_EQ(lines("Hotspot", {{"launches", 1}}), 472'712U);
  EXPECT_EQ(lines("Hotspot", {{"launches", 1}, {"height", 2}}), 594'832U);
  EXPECT_EQ(lines("Hotspot", {{"launches", 3}, {"n", 512}}), 3 * 116'864U);
  EXPECT_NEAR(static_cast<double>(take_wave(*make("Hotspot"), 0, 100).instructions), 150, 15);
  const auto hotspot = make("Hotspot");
  const Census census = take_census(*hotspot, 4);
  // A border between two GPUs runs through a row of tiles: 16 rows of the chip in each of three grids.
  EXPECT_NEAR(percent_by(*hotspot, census, 1), 95, 1);
  EXPECT_NEAR(percent_by(*hotspot, census, 2), 5, 1);
}

}  // namespace
}  // namespace nearfar::regular_test
