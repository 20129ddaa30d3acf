// SSSP and Color: the rounds the host computes against plain algorithms, and the streams made from them.
#include <gtest/gtest.h>

#include <queue>

#include "workload/census.h"
#include "workload/graph/algorithms.h"
#include "workload/graph/generators.h"

namespace nearfar::pannotia_test {
namespace {

using namespace nearfar::testing;

/// Distances to the source along the edges, by Dijkstra over the reversed graph.
std::vector<std::uint32_t> dijkstra(const Csr& graph, std::uint32_t source) {
  std::vector<std::vector<std::pair<std::uint32_t, std::uint32_t>>> into(graph.vertices());
  for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) into[graph.col[e]].push_back({v, graph.weight[e]});
  }
  std::vector<std::uint32_t> distance(graph.vertices(), ShortestPaths::kFar);
  using Candidate = std::pair<std::uint32_t, std::uint32_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  queue.push({0, source});
  distance[source] = 0;
  while (!queue.empty()) {
    const auto [length, v] = queue.top();
    queue.pop();
    if (length > distance[v]) continue;
    for (const auto& [u, weight] : into[v]) {
      if (length + weight >= distance[u]) continue;
      distance[u] = length + weight;
      queue.push({distance[u], u});
    }
  }
  return distance;
}

std::vector<Csr> some_graphs() {
  return {uniform_graph(2000, 9000, 1), rmat_graph({.scale = 11, .draws = 16000}, 2), mesh_graph(40, 50),
          road_graph(50, 40, 0.6, 3), web_graph(3000, 4)};
}

TEST(ShortestPaths, AreThoseOfDijkstra) {
  for (Csr graph : some_graphs()) {
    draw_weights(graph, 100, 5);
    const ShortestPaths paths = min_plus_rounds(graph, 7, 100'000);
    EXPECT_TRUE(paths.converged);
    EXPECT_EQ(paths.distance, dijkstra(graph, 7));
    draw_weights(graph, 1, 5);
    EXPECT_EQ(min_plus_rounds(graph, 7, 100'000).distance, dijkstra(graph, 7)) << "levels of a breadth-first search";
  }
}

TEST(ShortestPaths, EndWithARoundThatChangesNothing) {
  Csr line = mesh_graph(10, 1);
  draw_weights(line, 1, 1);
  const ShortestPaths paths = min_plus_rounds(line, 0, 100);
  EXPECT_EQ(paths.changed.size(), 10U);
  for (std::uint32_t round = 0; round < 10; ++round) {
    for (std::uint32_t v = 0; v < 10; ++v) EXPECT_EQ(paths.changed[round].has(v), v == round + 1) << round << " " << v;
  }
  EXPECT_FALSE(min_plus_rounds(line, 0, 5).converged);
}

TEST(ShortestPaths, RoundsAreAsManyAsMeasured) {
  Csr mesh = mesh_graph(256, 256);
  draw_weights(mesh, 100, 1);
  EXPECT_NEAR(static_cast<double>(min_plus_rounds(mesh, 0, 10'000).changed.size()), 528, 40);
  Csr uniform = uniform_graph(1 << 16, 8 << 16, 1);
  draw_weights(uniform, 100, 1);
  EXPECT_NEAR(static_cast<double>(min_plus_rounds(uniform, 0, 10'000).changed.size()), 23, 4);
}

TEST(Sssp, TouchesTheLinesAsMeasured) {
  EXPECT_NEAR(static_cast<double>(take_census(*make("SSSP")).lines.total), 740'000, 0.02 * 740'000);
  const auto per_wave = [](std::vector<ParameterSetting> settings) {
    const auto sssp = make("SSSP", std::move(settings));
    Counter counter(*sssp);
    for (std::uint64_t group = 0; group < sssp->launches()[2].groups(); ++group) counter.group(2, group);
    return static_cast<double>(counter.census().lines.total) / static_cast<double>(counter.census().waves);
  };
  EXPECT_NEAR(per_wave({}), 167, 0.05 * 167);
  EXPECT_NEAR(per_wave({{"graph", 0}, {"m", 8 << 16}}), 1154, 0.05 * 1154);
  EXPECT_NEAR(per_wave({{"graph", 1}, {"m", 8 << 16}}), 1364, 0.05 * 1364);
}

TEST(Sssp, RunsUntilNothingChanges) {
  const auto sssp = make("SSSP", {{"n", 10 * 10}, {"iterations", 1000}});
  Csr mesh = mesh_graph(10, 10);
  draw_weights(mesh, 100, 1);
  EXPECT_EQ(sssp->launches().size(), 1 + 3 * min_plus_rounds(mesh, 0, 1000).changed.size());
  const Buffer& stop = buffer(*sssp, "stop");
  const auto reports = [&](std::size_t launch) {
    return pages_by(take_wave(*sssp, launch, 0), stop, 1) + pages_by(take_wave(*sssp, launch, 1), stop, 1);
  };
  for (std::size_t launch = 3; launch + 1 < sssp->launches().size(); launch += 3) EXPECT_GE(reports(launch), 1U);
  EXPECT_EQ(reports(sssp->launches().size() - 1), 0U);
}

TEST(Sssp, MeshBandsShareTheirBordersAndUniformGraphsTheirVector) {
  const auto mesh = make("SSSP");
  EXPECT_GT(percent_by(*mesh, take_census(*mesh, 4), 1), 90);
  const auto uniform = make("SSSP", {{"graph", 0}, {"iterations", 1}});
  EXPECT_EQ(pages_by(take_census(*uniform, 4), buffer(*uniform, "vector1"), 4), 64U);
}

TEST(Coloring, GivesNeighboursDifferentColours) {
  for (const Csr& each : some_graphs()) {
    const Csr graph = symmetrize(without_self_loops(each));
    const Coloring coloring = color_rounds(graph, 3, 100'000);
    for (std::uint32_t v = 0; v < graph.vertices(); ++v) {
      ASSERT_LT(coloring.color[v], coloring.rounds) << "left uncoloured";
      if (graph.degree(v) == 1) continue;  // such a vertex does not look at its neighbour, nor wait for it
      for (const std::uint32_t u : graph.neighbours(v)) {
        if (graph.degree(u) != 1) {
          ASSERT_NE(coloring.color[v], coloring.color[u]);
        }
      }
    }
  }
}

TEST(Coloring, IsTheSeeds) {
  const Csr mesh = mesh_graph(30, 30);
  EXPECT_EQ(color_rounds(mesh, 1, 100).color, color_rounds(mesh, 1, 100).color);
  EXPECT_NE(color_rounds(mesh, 1, 100).color, color_rounds(mesh, 2, 100).color);
}

TEST(Color, TouchesAboutTheLinesMeasured) {
  const auto color = make("Color");
  const double rounds = static_cast<double>(color->launches().size()) / 2;
  EXPECT_NEAR(rounds, 14, 2);
  EXPECT_NEAR(static_cast<double>(take_census(*color).lines.total), 629'081, 0.05 * 629'081);
}

TEST(Color, OnlyUncolouredVerticesWork) {
  const auto color = make("Color", {{"n", 400}});
  const Coloring coloring = color_rounds(mesh_graph(20, 20), 1, 10'000);
  ASSERT_EQ(color->launches().size(), 2 * coloring.rounds);
  const VirtAddr max = buffer(*color, "max").base, colors = buffer(*color, "color").base;
  for (std::uint32_t round = 0; round < coloring.rounds; ++round) {
    for (std::uint64_t group = 0; group < 2; ++group) {
      const Items looking = touches(*color, std::size_t{2} * round, group);
      const Items taking = touches(*color, std::size_t{2} * round + 1, group);
      for (std::uint32_t t = 0; t < 256 && group * 256 + t < 400; ++t) {
        const std::uint64_t v = group * 256 + t;
        const bool alive = coloring.color[v] >= round;
        EXPECT_EQ(std::ranges::count(looking[t], Touch{'-', max + 4 * v}), alive ? 1 : 0);
        EXPECT_EQ(std::ranges::count(taking[t], Touch{'-', colors + 4 * v}), coloring.color[v] == round ? 1 : 0);
      }
    }
  }
}

/// The ranks as the fixed point of their own definition.
TEST(Ranks, ConvergeToTheirDefinition) {
  for (const Csr& matrix : some_graphs()) {
    const Ranks ranks = rank_rounds(matrix, 0.85, 1000);
    ASSERT_LT(ranks.rounds, 1000U);
    std::vector<double> entries(matrix.vertices());
    for (const std::uint32_t column : matrix.col) entries[column] += 1;
    for (std::uint32_t v = 0; v < matrix.vertices(); ++v) {
      double rank = 0.15 / matrix.vertices();
      for (const std::uint32_t column : matrix.neighbours(v)) rank += 0.85 * ranks.rank[column] / entries[column];
      ASSERT_NEAR(ranks.rank[v] * matrix.vertices(), rank * matrix.vertices(), 1e-4);
    }
  }
}

TEST(Ranks, DecideHowLongPageRankRuns) {
  const auto pr = make("PR", {{"n", 256}, {"m", 4096}, {"iterations", 0}});
  EXPECT_EQ(pr->launches().size(), rank_rounds(uniform_graph(256, 4096, 1), 0.85, 1000).rounds);
}

}  // namespace
}  // namespace nearfar::pannotia_test
