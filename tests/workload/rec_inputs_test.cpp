// The inputs of the study of REC: footprints, windows, and how what the programs write lies in lines.
#include "workload/rec_inputs.h"

#include <gtest/gtest.h>

#include <map>

#include "config/error.h"
#include "workload/census.h"

namespace nearfar::rec_inputs_test {
namespace {

using namespace nearfar::testing;

Expected of(std::string_view name) { return expected(name, SizeClass::Rec); }

TEST(RecInputs, AreTheTwelveProgramsAtTheirFootprints) {
  std::string names;
  for (const RecInput& each : rec_inputs()) {
    names += each.workload;
    names += ' ';
    const double published = static_cast<double>(each.published_mib << 20);
    EXPECT_NEAR(static_cast<double>(each.size.bytes), published, 0.025 * published) << each.workload;
    EXPECT_GT(each.size.accesses, 0U) << each.workload;
    EXPECT_LE(each.size.accesses, 450'000'000U) << each.workload << " takes more than a few minutes";
    if (each.workload == "PR") continue;  // its graph takes seconds to make
    std::uint64_t bytes = 0;
    const auto workload = make_workload(each.workload, SizeClass::Rec, {}, 1);
    for (const Buffer& buffer : workload->buffers()) bytes += buffer.bytes;
    EXPECT_EQ(bytes, each.size.bytes) << each.workload;
  }
  EXPECT_EQ(names, "ATAX C2D FIR GEMM GEMV J2D LU MM2 MM3 PR SC ST ");
  EXPECT_EQ(of("PR").bytes, std::uint64_t{12} * (1 << 20) + std::uint64_t{8} * 31'981'568 + 4);
}

TEST(RecInputs, HaveTheAccessesOfTheClosedForms) {
  const auto walks = [](std::uint64_t nx, std::uint64_t ny) {
    return nx / 64 * (69 * ny + 4) + ny / 64 * (9 * nx + 4);
  };
  EXPECT_EQ(of("ATAX").accesses, walks(4096, 8192));
  EXPECT_EQ(of("C2D").accesses, 29'303'820U);
  EXPECT_EQ(of("FIR").accesses, std::uint64_t{83} * (1 << 24) / 64);
  EXPECT_EQ(of("GEMM").accesses, 20U * 8 * 4096 / 64 * (8 * 2048 + 8));
  EXPECT_EQ(of("GEMV").accesses, 8192U * 8192 / 64 * 92 + 8192 / 64 * 16);
  EXPECT_EQ(of("J2D").accesses, 20U * ((9U * 4096 * 4096 - 50 * 4096 + 64) / 16));
  EXPECT_EQ(of("MM2").accesses, 32U * 8 * 2560 / 64 * (16 * 2560 + 12));
  EXPECT_EQ(of("MM3").accesses, 3U * 52 * 8 * 1536 / 64 * (8 * 1536 + 4));
  EXPECT_EQ(of("SC").accesses, expected("SC", SizeClass::Paper).accesses);
  EXPECT_EQ(of("ST").accesses, 20U * 206 * 256 * 64);
}

TEST(RecInputs, TheirProductsFillFourGpusOnce) {
  constexpr std::uint64_t kRoom = 64 * 10;  // workgroups of four wavefronts in a GPU of 64 compute units
  for (const char* name : {"GEMM", "MM2", "MM3"}) {
    const auto workload = make_workload(name, SizeClass::Rec, {}, 1);
    for (const Launch& launch : workload->launches()) {
      EXPECT_LE(launch.groups() / 4, kRoom) << name;
      EXPECT_GT(launch.groups() / 4, kRoom - launch.groups_x) << name;
    }
  }
}

TEST(RecInputs, SettingsComeOverThem) {
  const std::vector<ParameterSetting> settings{{"iterations", 3}};
  EXPECT_EQ(make_workload("ST", SizeClass::Rec, settings, 1)->launches().size(), 3U);
  EXPECT_EQ(make_workload("ST", SizeClass::Rec, {}, 1)->launches().size(), 20U);
}

TEST(RecInputs, OtherWorkloadsHaveNone) {
  try {
    make_workload("MT", SizeClass::Rec, {}, 1);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "MT has no size `rec`, since the study of REC does not run it; its sizes are small, medium and paper.");
  }
  EXPECT_EQ(expected("MT", SizeClass::Rec).accesses, 0U);
}

TEST(Lu, StepsRunAtPlacesAllOverTheElimination) {
  constexpr std::uint64_t kN = 40;
  const auto pivots = [](std::vector<ParameterSetting> settings) {
    settings.push_back({"n", kN});
    const auto lu = make("LU", std::move(settings));
    std::vector<std::uint64_t> found;
    for (std::size_t l = 0; l < lu->launches().size(); l += 2) {
      const std::uint64_t first = (touches(*lu, l, 0)[0][0].at.value - lu->buffers()[0].base.value) / 4;
      EXPECT_EQ(first % kN, first / kN + 1) << "the element right of the pivot";
      found.push_back(first / kN);
    }
    return found;
  };
  EXPECT_EQ(pivots({{"steps", 2}}), (std::vector<std::uint64_t>{0, 1}));
  EXPECT_EQ(pivots({{"steps", 2}, {"places", 4}}), (std::vector<std::uint64_t>{0, 1, 9, 10, 19, 20, 29, 30}));
  const auto all = pivots({});
  EXPECT_EQ(all.size(), kN - 1);
  EXPECT_EQ(pivots({{"places", 7}}), all) << "0 steps are all of them";
  EXPECT_EQ(pivots({{"steps", 30}, {"places", 2}}), all) << "places that meet";
}

TEST(Atax, RepeatsTheWholeProgram) {
  const auto once = make("ATAX", {{"nx", 128}, {"ny", 64}}),
             twice = make("ATAX", {{"nx", 128}, {"ny", 64}, {"repeats", 2}});
  ASSERT_EQ(twice->launches().size(), 4U);
  EXPECT_EQ(twice->launches()[3].kernel, "atax_2");
  EXPECT_EQ(take_census(*twice).lines.total, 2 * take_census(*once).lines.total);
  for (const std::size_t l : {0U, 1U}) EXPECT_EQ(touches(*twice, l + 2, 0), touches(*once, l, 0));
}

/// Lines that more than one GPU writes in one launch, and lines that one writes and another reads in it.
struct Conflicts {
  std::uint64_t written_by_several = 0, written_and_read = 0;
};

Conflicts conflicts(const Workload& workload, std::size_t l, Split split) {
  struct Line {
    unsigned readers = 0, writers = 0;
  };
  std::map<std::uint64_t, Line> lines;
  for (unsigned gpu = 0; gpu < 4; ++gpu) {
    const Share share(workload.launches()[l], split, gpu, 4, 1);
    for (std::uint64_t i = 0; i < share.size(); ++i) {
      for (const auto& item : touches(workload, l, share[i])) {
        for (const Touch& touch : item) {
          Line& line = lines[touch.at.value / 64];
          (touch.how == '+' ? line.readers : line.writers) |= 1U << gpu;
        }
      }
    }
  }
  Conflicts found;
  for (const auto& [number, line] : lines) {
    found.written_by_several += (line.writers & (line.writers - 1)) != 0 ? 1 : 0;
    found.written_and_read += line.writers != 0 && (line.readers & ~line.writers) != 0 ? 1 : 0;
  }
  return found;
}

TEST(Lines, AreWrittenByOneGpuWhereRowsAreWholeLines) {
  for (const auto& [name, n] :
       std::map<std::string, std::uint64_t>{{"MM2", 64}, {"MM3", 64}, {"C2D", 128}, {"J2D", 128}}) {
    const auto workload = make(name, {{"n", n}});
    for (const Split split : {Split::Blocks, Split::RoundRobin}) {
      EXPECT_EQ(conflicts(*workload, 0, split).written_by_several, 0U) << name;
    }
  }
}

TEST(Lines, AreWrittenBySeveralGpusWhereRowsEndWithinOne) {
  const auto mm2 = make("MM2", {{"n", 70}});  // as 2590, 6 more than a multiple of 16
  EXPECT_GT(conflicts(*mm2, 0, Split::RoundRobin).written_by_several, 70U) << "more than one a row";
  const std::uint64_t at_borders = conflicts(*mm2, 0, Split::Blocks).written_by_several;
  EXPECT_GT(at_borders, 0U);
  EXPECT_LE(at_borders, 3U * 8 * 3) << "only in the rows where a GPU's workgroups end";
}

TEST(Lines, OfLuAreReadWhileAnotherGpuWritesThem) {
  const auto lu = make("LU", {{"n", 128}, {"steps", 1}});
  const Conflicts round_robin = conflicts(*lu, 1, Split::RoundRobin);
  EXPECT_GE(round_robin.written_by_several, 127U) << "the square begins within a line";
  EXPECT_GE(round_robin.written_and_read, 127U) << "the pivot's column is in the lines that the first workgroups write";
}

}  // namespace
}  // namespace nearfar::rec_inputs_test
