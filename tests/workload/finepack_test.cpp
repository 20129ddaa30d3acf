// The programs of the FinePack study in their local form, with that study's 32 lanes and lines of 128 bytes, against
// the numbers counted for it.
#include <gtest/gtest.h>

#include <queue>

#include "workload/census.h"
#include "workload/graph/algorithms.h"
#include "workload/graph/generators.h"

namespace nearfar {
namespace {

using namespace nearfar::testing;

struct Lines {
  double loaded = 0, stored = 0;
};

/// Line accesses of the launches from `first` to `end`.
Lines count(const Workload& workload, std::size_t first, std::size_t end) {
  Lines lines;
  Coalescer coalescer(128);
  LaneAddresses addresses;
  for (std::size_t l = first; l < end; ++l) {
    const Launch& launch = workload.launches()[l];
    for (std::uint64_t group = 0; group < launch.groups(); ++group) {
      for (std::uint32_t w = 0; w < launch.waves(32); ++w) {
        Stream stream = workload.wavefront(l, launch.wave(group, w, 32));
        for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
          if (op.lanes == nullptr) continue;
          op.lanes(op.callable, 32, addresses);
          for (const PageGroup& each : coalescer.loads(addresses, op.bytes)) {
            (op.kind == OpKind::Load ? lines.loaded : lines.stored) += std::popcount(each.lines);
          }
        }
      }
    }
  }
  return lines;
}

TEST(Jacobi, TouchesTheLinesOfTheClosedForm) {
  const Lines small = count(*make("Jacobi"), 0, 1);
  EXPECT_EQ(small.loaded, 45'576);
  EXPECT_EQ(small.stored, 2'048);
  const Lines medium = count(*make("Jacobi", {{"n", 1 << 20}}), 3, 4);
  EXPECT_EQ(medium.loaded, 729'096);
  EXPECT_EQ(medium.stored, 32'768);
}

TEST(Jacobi, NeighboursShareTheVector) {
  const auto jacobi = make("Jacobi", {{"iterations", 2}});
  const Census census = take_census(*jacobi, 4);
  // Each of three borders has a sixteenth of the vector on both sides.
  EXPECT_EQ(pages_by(census, buffer(*jacobi, "x"), 2), 3U * 2 * 4);
  EXPECT_EQ(pages_by(census, buffer(*jacobi, "b"), 1), 64U);
}

TEST(CagePageRank, TouchesTheLinesCounted) {
  const Lines small = count(*make("PageRank"), 0, 1);
  EXPECT_NEAR(small.loaded, 126'205, 0.005 * 126'205);
  EXPECT_EQ(small.stored, 16384 / 4);
  EXPECT_NEAR(count(*make("PageRank", {{"n", 131072}}), 0, 1).loaded, 1'354'581, 0.005 * 1'354'581);
}

TEST(CagePageRank, ReferencesReachNoFartherThanTheNextGpu) {
  const auto pagerank = make("PageRank", {{"n", 65536}});
  const Census census = take_census(*pagerank, 4);
  EXPECT_EQ(pages_by(census, buffer(*pagerank, "rank"), 4), 0U);
  EXPECT_GT(pages_by(census, buffer(*pagerank, "rank"), 2), 10U);
}

std::vector<std::uint32_t> dijkstra(const Csr& graph, std::uint32_t source) {
  std::vector<std::uint32_t> distance(graph.vertices(), ShortestPaths::kFar);
  using Candidate = std::pair<std::uint32_t, std::uint32_t>;
  std::priority_queue<Candidate, std::vector<Candidate>, std::greater<>> queue;
  queue.push({0, source});
  distance[source] = 0;
  while (!queue.empty()) {
    const auto [length, v] = queue.top();
    queue.pop();
    if (length > distance[v]) continue;
    for (std::uint32_t e = graph.row[v]; e < graph.row[v + 1]; ++e) {
      if (length + graph.weight[e] >= distance[graph.col[e]]) continue;
      distance[graph.col[e]] = length + graph.weight[e];
      queue.push({distance[graph.col[e]], graph.col[e]});
    }
  }
  return distance;
}

TEST(PushedPaths, AreThoseOfDijkstra) {
  for (Csr graph : {web_graph(5000, 1), uniform_graph(3000, 9000, 2), road_graph(40, 40, 0.6, 3)}) {
    draw_weights(graph, 64, 1);
    const PushedPaths paths = push_rounds(graph, 0, 100'000);
    EXPECT_TRUE(paths.converged);
    EXPECT_EQ(paths.distance, dijkstra(graph, 0));
    EXPECT_FALSE(push_rounds(graph, 0, 2).converged);
  }
}

TEST(BellmanFord, WritesWhereSomebodyComesNearer) {
  const auto program = make("BellmanFord");
  Csr web = web_graph(4096, 1);
  draw_weights(web, 64, 1);
  const PushedPaths paths = push_rounds(web, 0, 1000);
  ASSERT_EQ(program->launches().size(), 2 * paths.rounds.size());
  const std::size_t round = paths.rounds.size() / 2;
  std::uint64_t improving = 0, written = 0;
  for (std::uint64_t e = 0; e < web.edges(); ++e) improving += paths.rounds[round].improving.has(e);
  for (std::uint64_t group = 0; group < 16; ++group) {
    for (const auto& item : touches(*program, 2 * round, group)) {
      written += static_cast<std::uint64_t>(std::ranges::count(item, '-', &Touch::how));
    }
  }
  EXPECT_EQ(written, improving);
}

TEST(LeastSquares, TouchesTheLinesCounted) {
  for (const auto& [n, loaded] : {std::pair{2048U, 45'158.0}, {8192U, 216'976.0}}) {
    const auto als = make("ALS", {{"n", n}});
    for (std::size_t half = 0; half < 2; ++half) {
      const Lines lines = count(*als, half, half + 1);
      EXPECT_EQ(lines.stored, 8.0 * n * 2) << n;
      EXPECT_NEAR(lines.loaded, loaded, 0.05 * loaded) << n;
    }
  }
}

}  // namespace
}  // namespace nearfar
