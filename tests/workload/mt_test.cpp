// MT against its closed forms.
#include <gtest/gtest.h>

#include "workload/census.h"

namespace nearfar::mt_test {
namespace {

using namespace nearfar::testing;

TEST(Transpose, TouchesTheLinesOfTheClosedForm) {
  for (const std::uint64_t width : {2048U, 64U * 7U}) {
    EXPECT_EQ(take_census(*make("MT", {{"width", width}})).lines.total, width * width / 8) << "width " << width;
  }
}

TEST(Transpose, AWavefrontIsTheSequenceOfTheMachineCode) {
  const Census wave = take_wave(*make("MT"), 0, 77, 2);
  EXPECT_EQ(wave.instructions, 146U);
  EXPECT_EQ(wave.loads, 4U);
  EXPECT_EQ(wave.stores, 4U);
  EXPECT_EQ(wave.scalar_loads, 0U);
  EXPECT_EQ(wave.barriers, 1U);
  EXPECT_EQ(wave.lines.least, 16U);
  EXPECT_EQ(wave.lines.most, 16U);
  EXPECT_EQ(wave.pages.least, 4U);
  EXPECT_EQ(wave.pages.most, 4U);
}

TEST(Transpose, OutputPagesAreSharedAsTheWidthSays) {
  for (const auto& [width, gpus] : {std::pair{1024U, 4}, {2048U, 2}, {4096U, 1}}) {
    const auto mt = make("MT", {{"width", width}});
    const Census census = take_census(*mt, 4);
    EXPECT_EQ(pages_touched(census), pages_of(*mt));
    EXPECT_EQ(pages_by(census, buffer(*mt, "input"), 1), pages_of(buffer(*mt, "input"))) << "width " << width;
    EXPECT_EQ(pages_by(census, buffer(*mt, "output"), gpus), pages_of(buffer(*mt, "output"))) << "width " << width;
  }
}

TEST(Transpose, ItemsMoveTheirVectorsAcrossTheDiagonal) {
  const std::uint64_t width = 192, nb = 3, wv = width / 4;
  const auto mt = make("MT", {{"width", width}});
  const VirtAddr input = buffer(*mt, "input").base, output = buffer(*mt, "output").base;
  for (std::uint64_t group = 0; group < nb * nb; ++group) {
    const std::uint64_t gx = group % nb, gy = group / nb, giy = gx, gix = (gx + gy) % nb;
    Items expected;
    for (std::uint64_t ly = 0; ly < 16; ++ly) {
      for (std::uint64_t lx = 0; lx < 16; ++lx) {
        auto& item = expected.emplace_back();
        const std::uint64_t in = gix * 16 + lx + (giy * 16 + ly) * 4 * wv;
        const std::uint64_t out = giy * 16 + lx + (gix * 16 + ly) * 4 * wv;
        for (std::uint64_t k = 0; k < 4; ++k) item.push_back({'+', input + 16 * (in + k * wv)});
        for (std::uint64_t k = 0; k < 4; ++k) item.push_back({'-', output + 16 * (out + k * wv)});
      }
    }
    EXPECT_EQ(touches(*mt, 0, group), expected) << "workgroup " << group;
  }
}

}  // namespace
}  // namespace nearfar::mt_test
