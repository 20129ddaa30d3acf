// The PolyBench programs against their closed forms.
#include <gtest/gtest.h>

#include "workload/census.h"

namespace nearfar::polybench_test {
namespace {

using namespace nearfar::testing;

std::uint64_t lines(std::string_view name, std::vector<ParameterSetting> settings) {
  return take_census(*make(name, std::move(settings))).lines.total;
}

TEST(PolyBench, WalksTouchTheLinesOfTheClosedForm) {
  const auto walks = [](std::uint64_t nx, std::uint64_t ny) {
    return nx / 64 * (69 * ny + 4) + ny / 64 * (9 * nx + 4);
  };
  for (const char* name : {"ATAX", "BICG"}) {
    EXPECT_EQ(lines(name, {}), 718'944U) << name;
    EXPECT_EQ(lines(name, {{"nx", 192}, {"ny", 320}}), walks(192, 320)) << name;
    EXPECT_EQ(lines(name, {{"nx", 192}, {"ny", 320}, {"wg", 64}}), walks(192, 320)) << name;
  }
  EXPECT_EQ(lines("MVT", {}), 718'944U);
  for (const std::uint64_t n : {128U, 320U}) {
    EXPECT_EQ(lines("MVT", {{"n", n}}), walks(n, n));
    EXPECT_EQ(lines("MVT", {{"n", n}, {"bytes", 8}}), n / 64 * (73 * n + 8) + n / 64 * (17 * n + 8));
    EXPECT_EQ(lines("GESUMMV", {{"n", n}}), n / 64 * (146 * n + 8));
    EXPECT_EQ(lines("GEMV", {{"n", n}}), n * n / 64 * 92 + n / 64 * 16);
  }
  EXPECT_EQ(lines("GESUMMV", {}), 598'080U);
  EXPECT_EQ(lines("GEMV", {}), 848'064U);
}

TEST(PolyBench, ProductsTouchTheLinesOfTheClosedForm) {
  EXPECT_EQ(lines("GEMM", {}), 889'344U);
  EXPECT_EQ(lines("GEMM", {{"ni", 64}, {"nj", 96}, {"nk", 33}}), 64 * 96 / 64 * (8 * 33 + 8));
  EXPECT_EQ(lines("GEMM", {{"ni", 64}, {"nj", 96}, {"nk", 33}, {"strips", 2}}), 16 * 96 / 64 * (8 * 33 + 8));
  EXPECT_EQ(lines("MM2", {}), 527'360U);
  EXPECT_EQ(lines("MM3", {}), 789'504U);
  EXPECT_EQ(lines("MM2", {{"n", 96}}), 96 * 96 / 64 * (16 * 96 + 12));
  EXPECT_EQ(lines("MM3", {{"n", 96}}), 3 * 96 * 96 / 64 * (8 * 96 + 4));
}

TEST(PolyBench, StencilsTouchTheLinesOfTheClosedForm) {
  EXPECT_EQ(lines("J2D", {}), 729'300U);
  EXPECT_EQ(lines("C2D", {}), 451'724U);
  for (const std::uint64_t n : {96U, 256U}) {
    EXPECT_EQ(lines("J2D", {{"n", n}, {"steps", 1}}), (9 * n * n - 50 * n + 64) / 16) << n;
    EXPECT_EQ(lines("C2D", {{"n", n}}), (7 * n * n - 110 * n + 192) / 16) << n;
  }
  EXPECT_EQ(lines("LU", {}), 621'720U);
  EXPECT_EQ(lines("LU", {{"n", 256}}), 1'470'800U);
}

TEST(PolyBench, WavefrontsAreAsLongAsTheMachineCode) {
  // Instructions of one step: what a longer loop adds.
  const auto step = [](std::string_view name, std::vector<ParameterSetting> shorter,
                       std::vector<ParameterSetting> longer, std::size_t launch) {
    return static_cast<double>(take_wave(*make(name, std::move(longer)), launch).instructions) -
           static_cast<double>(take_wave(*make(name, std::move(shorter)), launch).instructions);
  };
  EXPECT_NEAR(step("ATAX", {{"ny", 64}}, {{"ny", 65}}, 0), 13, 1.3);
  EXPECT_NEAR(step("ATAX", {{"nx", 64}}, {{"nx", 65}}, 1), 17, 1.7);
  EXPECT_NEAR(step("GEMM", {{"nk", 64}}, {{"nk", 65}}, 0), 18, 1.8);
  EXPECT_NEAR(step("GESUMMV", {{"n", 64}}, {{"n", 65}}, 0), 20, 2);
  EXPECT_NEAR(static_cast<double>(take_wave(*make("J2D"), 0, 20).instructions), 70, 7);
  EXPECT_NEAR(static_cast<double>(take_wave(*make("J2D"), 1, 20).instructions), 35, 3.5);
  EXPECT_NEAR(static_cast<double>(take_wave(*make("C2D"), 0, 40).instructions), 65, 6.5);
  EXPECT_NEAR(static_cast<double>(take_wave(*make("GEMV"), 0, 40).instructions), 45, 4.5);
  EXPECT_NEAR(static_cast<double>(take_wave(*make("LU"), 1, 3).instructions), 40, 4);
}

TEST(PolyBench, RowWalksTouchAPageALaneAndColumnWalksRunAlongThem) {
  const auto atax = make("ATAX", {{"nx", 256}, {"ny", 1024}});
  const Census along = take_wave(*atax, 0), down = take_wave(*atax, 1);
  EXPECT_EQ(along.lines.most, 64U);
  EXPECT_EQ(along.pages.most, 64U);
  EXPECT_EQ(along.loads, 1 + 2 * 1024U);
  EXPECT_EQ(along.stores, 1024U);
  EXPECT_EQ(down.lines.most, 4U);
  EXPECT_EQ(down.pages.most, 1U);
}

TEST(PolyBench, RowBandsAgainstColumnBandsShareTheMatrix) {
  // Fewer rows than in the the papers' input sizes: every row has as many pages as there.
  const auto atax = make("ATAX", {{"nx", 1024}, {"ny", 4096}, {"wg", 64}});
  const Census census = take_census(*atax, 4);
  const Buffer& a = buffer(*atax, "A");
  EXPECT_NEAR(static_cast<double>(pages_by(census, a, 2)) / static_cast<double>(pages_of(a)), 0.75, 0.01);
  EXPECT_NEAR(static_cast<double>(pages_by(census, a, 1)) / static_cast<double>(pages_of(a)), 0.25, 0.01);
  EXPECT_EQ(pages_by(census, buffer(*atax, "x"), 4), 4U);

  const auto narrow = make("ATAX", {{"nx", 1024}, {"ny", 1024}, {"wg", 64}});
  EXPECT_EQ(pages_by(take_census(*narrow, 4), buffer(*narrow, "A"), 4), 1024U);
}

TEST(PolyBench, ProductsShareTheRightHandMatrix) {
  const auto mm2 = make("MM2", {{"n", 256}});
  const Census census = take_census(*mm2, 4);
  EXPECT_EQ(percent_by(*mm2, census, 4), 40);
  EXPECT_EQ(percent_by(*mm2, census, 1), 60);
  const auto mm3 = make("MM3", {{"n", 256}});
  const Census three = take_census(*mm3, 4);
  for (const char* name : {"B", "D", "F"}) EXPECT_EQ(pages_by(three, buffer(*mm3, name), 4), 64U) << name;
  EXPECT_NEAR(percent_by(*mm3, three, 4), 43, 1);
}

TEST(PolyBench, StencilsShareTheirBordersOnly) {
  for (const char* name : {"J2D", "C2D"}) {
    const auto workload = make(name, {{"n", 1024}});
    const Census census = take_census(*workload, 4);
    EXPECT_EQ(pages_by(census, buffer(*workload, "A"), 2), 6U) << name;
    EXPECT_EQ(pages_by(census, buffer(*workload, "A"), 1), 1018U) << name;
  }
}

TEST(PolyBench, EverybodyReadsAndWritesTheMatrixOfLu) {
  const auto lu = make("LU", {{"n", 1024}});
  Counter counter(*lu);
  // Every eighth step whole: the bands move little between them. Of the others one row of workgroups a GPU: it reads
  // the pivot's row, as all of them do.
  for (std::size_t l = 0; l < lu->launches().size(); ++l) {
    const Launch& launch = lu->launches()[l];
    for (unsigned gpu = 0; gpu < 4; ++gpu) {
      const Share share(launch, launch.split, gpu, 4, kCus);
      const std::uint64_t groups = l / 2 % 8 == 0 ? share.size() : std::min<std::uint64_t>(share.size(), 32);
      for (std::uint64_t i = 0; i < groups; ++i) counter.group(l, share[i], gpu);
    }
  }
  EXPECT_NEAR(percent_by(*lu, counter.census(), 4), 92, 3);
  EXPECT_NEAR(percent_by(*lu, counter.census(), 3), 8, 3);
}

TEST(PolyBench, ItemsOfAProductGoAlongARowAndDownAColumn) {
  const std::uint64_t ni = 20, nj = 40, nk = 3;
  const auto gemm = make("GEMM", {{"ni", ni}, {"nj", nj}, {"nk", nk}});
  const VirtAddr a = buffer(*gemm, "A").base, b = buffer(*gemm, "B").base, c = buffer(*gemm, "C").base;
  for (const std::uint64_t group : {0U, 5U}) {  // the second is the lower right one, beyond both edges
    Items expected;
    for (std::uint64_t i = group / 2 * 8; i < group / 2 * 8 + 8; ++i) {
      for (std::uint64_t j = group % 2 * 32; j < group % 2 * 32 + 32; ++j) {
        auto& item = expected.emplace_back();
        if (i >= ni || j >= nj) continue;
        const VirtAddr own = c + 4 * (i * nj + j);
        item = {{'+', own}, {'-', own}};
        for (std::uint64_t k = 0; k < nk; ++k) {
          item.push_back({'+', a + 4 * (i * nk + k)});
          item.push_back({'+', b + 4 * (k * nj + j)});
          item.push_back({'-', own});
        }
      }
    }
    EXPECT_EQ(touches(*gemm, 0, group), expected);
  }
}

/// Runs LU on numbers, with the addresses of the streams, and compares with the plain algorithm.
TEST(PolyBench, TheStreamsOfLuDecompose) {
  constexpr std::uint64_t kN = 40;
  const auto lu = make("LU", {{"n", kN}});
  const VirtAddr a = buffer(*lu, "A").base;
  std::vector<double> plain(kN * kN);
  for (std::uint64_t i = 0; i < kN * kN; ++i)
    plain[i] = static_cast<double>(i * 37 % 101) + (i % (kN + 1) == 0 ? 500 : 0);
  std::vector<double> streamed = plain;
  for (std::uint64_t k = 0; k + 1 < kN; ++k) {
    for (std::uint64_t j = k + 1; j < kN; ++j) plain[k * kN + j] /= plain[k * kN + k];
    for (std::uint64_t i = k + 1; i < kN; ++i) {
      for (std::uint64_t j = k + 1; j < kN; ++j) plain[i * kN + j] -= plain[i * kN + k] * plain[k * kN + j];
    }
  }
  const auto value = [&](const Touch& touch) -> double& { return streamed.at((touch.at.value - a.value) / 4); };
  for (std::size_t l = 0; l < lu->launches().size(); ++l) {
    const double pivot = streamed[l / 2 * (kN + 1)];
    for (std::uint64_t group = 0; group < lu->launches()[l].groups(); ++group) {
      for (const auto& item : touches(*lu, l, group)) {
        if (item.empty()) continue;
        value(item.back()) = l % 2 == 0 ? value(item[0]) / pivot : value(item[2]) - value(item[0]) * value(item[1]);
      }
    }
  }
  EXPECT_EQ(streamed, plain);
}

}  // namespace
}  // namespace nearfar::polybench_test
