// MT against its closed forms.
#include <gtest/gtest.h>

#include <map>

#include "workload/census.h"

namespace nearfar {
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

TEST(Transpose, BlocksLandWhereTheTransposePutsThem) {
  const std::uint64_t width = 128;
  const auto mt = make("MT", {{"width", width}});
  const std::uint64_t input = buffer(*mt, "input").base.value, output = buffer(*mt, "output").base.value;
  LaneAddresses lanes;
  for (std::uint64_t group = 0; group < 4; ++group) {
    std::map<std::pair<std::uint64_t, std::uint64_t>, int> read, written;   // 64×64 blocks by row and column
    for (std::uint32_t w = 0; w < 4; ++w) {
      Stream stream = mt->wavefront(0, mt->launches()[0].wave(group, w, 64));
      for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
        if (op.lanes == nullptr) continue;
        op.lanes(op.callable, 64, lanes);
        for (const std::uint64_t address : lanes.address) {
          const std::uint64_t element = (address - (op.kind == OpKind::Load ? input : output)) / 4;
          ++(op.kind == OpKind::Load ? read : written)[{element / width / 64, element % width / 64}];
        }
      }
    }
    const std::uint64_t gx = group % 2, gy = group / 2, column = (gx + gy) % 2;
    EXPECT_EQ(read, (std::map<std::pair<std::uint64_t, std::uint64_t>, int>{{{gx, column}, 1024}}));
    EXPECT_EQ(written, (std::map<std::pair<std::uint64_t, std::uint64_t>, int>{{{column, gx}, 1024}}));
  }
}

}  // namespace
}  // namespace nearfar
