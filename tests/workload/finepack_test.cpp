// The programs of the FinePack study in their local form, with that study's 32 lanes and lines of 128 bytes, against
// the numbers counted for it.
#include <gtest/gtest.h>

#include <queue>

#include "workload/census.h"
#include "workload/graph/algorithms.h"
#include "workload/graph/generators.h"

namespace nearfar::finepack_test {
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
          op.lanes(op.operation, 32, addresses);
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
    const auto als = make("ALS", {{"n", n}, {"factors", 16}, {"solver", 0}});
    for (std::size_t half = 0; half < 2; ++half) {
      const Lines lines = count(*als, half, half + 1);
      EXPECT_EQ(lines.stored, 8.0 * n * 2) << n;
      EXPECT_NEAR(lines.loaded, loaded, 0.05 * loaded) << n;
    }
  }
}

TEST(Tomography, TouchesAboutTheLinesCounted) {
  const auto ct = make("CT", {{"slices", 1}});
  EXPECT_NEAR(count(*ct, 0, 1).loaded, 0.12e6, 0.012e6);
  EXPECT_NEAR(count(*ct, 1, 2).loaded, 0.02e6, 0.006e6);
  EXPECT_NEAR(count(*ct, 2, 3).loaded, 0.04e6, 0.006e6);
  const auto larger = make("CT", {{"side", 128}, {"views", 64}, {"slices", 1}});
  EXPECT_NEAR(count(*larger, 0, 1).loaded, 0.99e6, 0.05e6);
  EXPECT_NEAR(count(*larger, 1, 2).loaded, 0.34e6, 0.05e6);
  EXPECT_NEAR(count(*larger, 2, 3).loaded, 0.20e6, 0.03e6);
}

TEST(Tomography, EveryVoxelIsUpdatedOnceAndEverySumStoredOnce) {
  const auto ct = make("CT", {{"side", 16}, {"views", 8}, {"slices", 2}});
  for (const std::size_t launch : {1U, 2U}) {
    std::vector<VirtAddr> stored;
    for (std::uint64_t group = 0; group < ct->launches()[launch].groups(); ++group) {
      for (const auto& item : touches(*ct, launch, group)) {
        if (!item.empty()) stored.push_back(item.back().at);
      }
    }
    std::ranges::sort(stored);
    EXPECT_EQ(stored.size(), launch == 1 ? 4U * 512 : 512U);
    EXPECT_EQ(std::ranges::adjacent_find(stored), stored.end());
  }
}

TEST(Diffusion, TouchesAboutTheLinesCounted) {
  // The study's own counts have the planes that each GPU keeps of its neighbours', which are updated too.
  const auto small = make("Diffusion");
  const Lines step = count(*small, 0, 7);
  EXPECT_NEAR(step.loaded + step.stored, 0.43e6, 0.15 * 0.43e6);
  const auto medium = make("Diffusion", {{"n", 128}});
  const Lines larger = count(*medium, 0, 7);
  EXPECT_NEAR(larger.loaded + larger.stored, 8.03e6, 0.15 * 8.03e6);
}

TEST(Diffusion, NeighboursShareTheirBorderPlanes) {
  const auto diffusion = make("Diffusion", {{"n", 64}});
  const Census census = take_census(*diffusion, 4);
  const Buffer& u = buffer(*diffusion, "u");
  EXPECT_EQ(pages_by(census, u, 3) + pages_by(census, u, 4), 0U);
  EXPECT_GT(pages_by(census, u, 2), 0U);
  EXPECT_LT(pages_by(census, u, 2), pages_of(u) / 2);
}

TEST(WavePropagation, TouchesAboutTheLinesCounted) {
  const auto eqwp = make("EQWP");
  const Lines step = count(*eqwp, 0, 4);
  EXPECT_NEAR(step.loaded + step.stored, 0.61e6, 0.15 * 0.61e6);
  const auto larger = make("EQWP", {{"nx", 128}, {"nz", 128}});
  const Lines other = count(*larger, 0, 4);
  EXPECT_NEAR(other.loaded + other.stored, 2.27e6, 0.15 * 2.27e6);
}

TEST(Turbulence, TranspositionsAndExchangesMoveEveryElementOnce) {
  const auto hit = make("HIT", {{"n", 16}, {"right_sides", 1}});
  for (std::size_t l = 0; l < hit->launches().size(); ++l) {
    const std::string& kernel = hit->launches()[l].kernel;
    if (kernel != "transpose" && kernel != "swap") continue;
    std::vector<VirtAddr> read, written;
    for (std::uint64_t group = 0; group < hit->launches()[l].groups(); ++group) {
      for (const auto& item : touches(*hit, l, group)) {
        for (const Touch& touch : item) (touch.how == '+' ? read : written).push_back(touch.at);
      }
    }
    for (auto* each : {&read, &written}) {
      std::ranges::sort(*each);
      EXPECT_EQ(each->size(), 16U * 16 * 9) << kernel;
      EXPECT_EQ(std::ranges::adjacent_find(*each), each->end()) << kernel;
    }
  }
}

TEST(Turbulence, ExchangesAreAllToAll) {
  const auto hit = make("HIT", {{"n", 32}, {"right_sides", 1}});
  const Census census = take_census(*hit, 4);
  const Buffer& receive = buffer(*hit, "receive");
  EXPECT_GT(pages_by(census, receive, 4), pages_of(receive) * 9 / 10);
}

}  // namespace
}  // namespace nearfar::finepack_test
