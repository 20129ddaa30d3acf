// ReLU, SpMV and BFS: their closed forms, and what their items touch against the kernels' own loops.
#include <gtest/gtest.h>

#include <queue>
#include <set>

#include "workload/census.h"
#include "workload/graph/algorithms.h"
#include "workload/graph/generators.h"

namespace nearfar::relu_spmv_bfs_test {
namespace {

using namespace nearfar::testing;

TEST(Relu, TouchesTheLinesOfTheClosedForm) {
  EXPECT_EQ(take_census(*make("ReLU")).lines.total, std::uint64_t{1 << 22} / 8);
  EXPECT_EQ(take_census(*make("ReLU", {{"n", 1000}})).lines.total, 2U * 63) << "the last line is not full";
}

TEST(Relu, AWavefrontIsTheSequenceOfTheMachineCode) {
  const auto relu = make("ReLU", {{"n", 64 + 7}});
  for (const std::uint64_t group : {0U, 1U}) {
    const Census wave = take_wave(*relu, 0, group);
    EXPECT_EQ(wave.instructions, 27U);
    EXPECT_EQ(wave.loads, 1U);
    EXPECT_EQ(wave.stores, 1U);
    EXPECT_EQ(wave.lines.total, group == 0 ? 8U : 2U);
  }
}

TEST(Relu, GpusShareNoPage) {
  const auto relu = make("ReLU", {{"n", 1 << 16}});
  EXPECT_EQ(percent_by(*relu, take_census(*relu, 4), 1), 100);
}

constexpr std::uint32_t kRows = 300, kEntries = 2000;

TEST(Spmv, ItemsGoThroughTheirRowsAndStoreTheSum) {
  const Csr matrix = uniform_graph(kRows, kEntries, 3);
  const auto spmv = make("SpMV", {{"n", kRows}, {"m", kEntries}}, 3);
  const auto at = [&](const char* name, std::uint64_t i) { return buffer(*spmv, name).base + 4 * i; };
  for (std::uint64_t group = 0; group < 3; ++group) {
    Items expected(128);
    for (std::uint64_t t = 0; t < 128; ++t) {
      const std::uint64_t row = 128 * group + t;
      if (row >= kRows) continue;
      expected[t] = {{'+', at("rowDelimiters", row + 1)}, {'+', at("rowDelimiters", row)}};
      for (std::uint64_t j = matrix.row[row]; j < matrix.row[row + 1]; ++j) {
        expected[t].push_back({'+', at("cols", j)});
        expected[t].push_back({'+', at("val", j)});
        expected[t].push_back({'+', at("vec", matrix.col[j])});
      }
      expected[t].push_back({'-', at("out", row)});
    }
    EXPECT_EQ(touches(*spmv, 0, group), expected) << "workgroup " << group;
  }
}

TEST(Spmv, AWavefrontIsTheSequenceOfTheMachineCode) {
  const Csr matrix = uniform_graph(kRows, kEntries, 3);
  const auto spmv = make("SpMV", {{"n", kRows}, {"m", kEntries}}, 3);
  for (std::uint32_t wave = 0; 64 * wave < kRows; ++wave) {
    std::uint64_t steps = 0;
    for (std::uint32_t row = 64 * wave; row < std::min(64 * (wave + 1), kRows); ++row) {
      steps = std::max<std::uint64_t>(steps, matrix.degree(row));
    }
    const Census census = take_wave(*spmv, 0, wave / 2, wave % 2);
    EXPECT_EQ(census.instructions, 59 + 20 * steps);
    EXPECT_EQ(census.loads, 2 + 3 * steps);
    EXPECT_EQ(census.stores, 1U);
  }
  EXPECT_EQ(take_wave(*spmv, 0, 2, 1).instructions, 14U) << "a wavefront behind the last row";
}

TEST(BreadthFirst, LevelsAreDistances) {
  // A mesh has its edges both ways, so that distances to a vertex are those from it.
  for (Csr graph : {mesh_graph(20, 30), road_graph(30, 20, 0.6, 3)}) {
    draw_weights(graph, 1, 1);
    EXPECT_EQ(breadth_first_levels(graph, 7), min_plus_rounds(graph, 7, 100'000).distance);
  }
  Csr apart;  // 0 → 1, and 2 alone
  apart.row = {0, 1, 1, 1};
  apart.col = {1};
  EXPECT_EQ(breadth_first_levels(apart, 0), (std::vector<std::uint32_t>{0, 1, kUnreached}));
}

TEST(Bfs, HasALaunchForEachLevel) {
  const auto launches = [](std::vector<ParameterSetting> settings) { return make("BFS", settings)->launches().size(); };
  EXPECT_EQ(launches({{"n", 400}, {"graph", 2}}), 39U) << "from corner to corner of a mesh of 20 × 20: levels 0 to 38";
  EXPECT_EQ(launches({{"n", 400}, {"graph", 2}, {"iterations", 5}}), 5U);
}

TEST(Bfs, ItemsLookAtTheVerticesOfTheirGroupAndAtTheEdgesOfThoseOfTheLevel) {
  const Csr graph = rmat_graph({.scale = 8, .draws = 4000}, 3);  // some vertices have more than 32 edges
  const auto bfs = make("BFS", {{"n", 256}, {"m", 4000}, {"graph", 1}, {"wg", 128}}, 3);
  const std::vector<std::uint32_t> level = breadth_first_levels(graph, 0);
  const auto at = [&](const char* name, std::uint64_t i) { return buffer(*bfs, name).base + 4 * i; };
  std::set<std::uint32_t> reached{0};
  for (std::size_t launch = 0; launch < bfs->launches().size(); ++launch) {
    std::set<std::uint32_t> found;
    for (std::uint64_t group = 0; group < 2; ++group) {
      Items expected(128);
      for (std::uint64_t t = 0; t < 128; ++t) {
        const std::uint64_t item = 128 * group + t, first = item / 32 * 32;
        for (std::uint64_t v = first; v < first + 32; ++v) {
          expected[t].push_back({'+', at("levels", v)});
          if (level[v] != launch) continue;
          expected[t].push_back({'+', at("edgeArray", v)});
          for (std::uint64_t e = graph.row[v] + item % 32; e < graph.row[v + 1]; e += 32) {
            expected[t].push_back({'+', at("edgeArrayAux", e)});
            expected[t].push_back({'+', at("levels", graph.col[e])});
            if (reached.contains(graph.col[e])) continue;
            expected[t].push_back({'-', at("levels", graph.col[e])});
            expected[t].push_back({'-', at("flag", 0)});
            found.insert(graph.col[e]);
          }
        }
      }
      EXPECT_EQ(touches(*bfs, launch, group), expected) << "launch " << launch << ", workgroup " << group;
    }
    reached.merge(found);
  }
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) EXPECT_EQ(reached.contains(v), level[v] != kUnreached);
}

TEST(Bfs, AWavefrontWithoutVerticesOfTheLevelReadsLevelsAlone) {
  const auto bfs = make("BFS", {{"n", 4096}, {"graph", 2}});
  const Census wave = take_wave(*bfs, 0, 2, 3);
  EXPECT_EQ(wave.loads, 32U);
  EXPECT_EQ(wave.lines.total, 32U * 2) << "two groups of 32 items, each at one vertex";
  EXPECT_EQ(wave.stores, 0U);
  EXPECT_EQ(wave.instructions, 55 + 13 + 32U * 16 + 1);
}

}  // namespace
}  // namespace nearfar::relu_spmv_bfs_test
