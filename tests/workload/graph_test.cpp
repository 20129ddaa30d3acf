// Generated graphs: as many edges as asked for, in order, each once, and distributed as their kind says.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "workload/graph/generators.h"

namespace nearfar::graph_test {
namespace {

void expect_well_formed(const Csr& csr) {
  ASSERT_EQ(csr.row.front(), 0U);
  ASSERT_EQ(csr.row.back(), csr.edges());
  for (std::uint32_t v = 0; v < csr.vertices(); ++v) {
    ASSERT_LE(csr.row[v], csr.row[v + 1]);
    const auto columns = csr.neighbours(v);
    ASSERT_TRUE(std::ranges::is_sorted(columns));
    ASSERT_EQ(std::ranges::adjacent_find(columns), columns.end()) << "a column twice in row " << v;
    ASSERT_TRUE(columns.empty() || columns.back() < csr.vertices());
  }
}

RC_GTEST_PROP(UniformGraph, HasTheEdgesAskedForEachOnce, ()) {
  const std::uint32_t n = *rc::gen::inRange(1U, 40U);
  const std::uint64_t m = *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{n} * n + 1);
  const Csr csr = uniform_graph(n, m, *rc::gen::arbitrary<std::uint64_t>());
  RC_ASSERT(csr.vertices() == n);
  RC_ASSERT(csr.edges() == m);
  expect_well_formed(csr);
}

TEST(UniformGraph, IsASetOfPairsEachEquallyLikely) {
  // 2 of the 4 pairs of a 2×2 matrix: six possible sets.
  std::vector<int> times(16);
  constexpr int kTrials = 6000;
  for (std::uint64_t seed = 0; seed < kTrials; ++seed) {
    const Csr csr = uniform_graph(2, 2, seed);
    unsigned set = 0;
    for (std::uint32_t v = 0; v < 2; ++v) {
      for (const std::uint32_t column : csr.neighbours(v)) set |= 1U << (2 * v + column);
    }
    ++times[set];
  }
  double chi_square = 0;
  for (unsigned set = 0; set < 16; ++set) {
    if (std::popcount(set) != 2) {
      EXPECT_EQ(times[set], 0);
      continue;
    }
    chi_square += std::pow(times[set] - kTrials / 6.0, 2) / (kTrials / 6.0);
  }
  EXPECT_LT(chi_square, 20.5);  // 5 degrees of freedom: exceeded once in a thousand generators
}

TEST(UniformGraph, DegreesArePoisson) {
  const std::uint32_t n = 1 << 14;
  const Csr csr = uniform_graph(n, 8 * n, 5);
  expect_well_formed(csr);
  double variance = 0;
  std::vector<std::uint32_t> in_degree(n);
  for (const std::uint32_t column : csr.col) ++in_degree[column];
  double in_variance = 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    variance += std::pow(csr.degree(v) - 8.0, 2) / n;
    in_variance += std::pow(in_degree[v] - 8.0, 2) / n;
  }
  EXPECT_NEAR(variance, 8, 0.4);
  EXPECT_NEAR(in_variance, 8, 0.4);
}

TEST(UniformGraph, IsTheSeeds) {
  EXPECT_EQ(uniform_graph(100, 900, 1).col, uniform_graph(100, 900, 1).col);
  EXPECT_NE(uniform_graph(100, 900, 1).col, uniform_graph(100, 900, 2).col);
}

TEST(RmatGraph, IsAPowerLaw) {
  const std::uint64_t draws = 16 << 16;
  const Csr csr = rmat_graph({.scale = 16, .draws = draws}, 1);
  expect_well_formed(csr);
  EXPECT_EQ(csr.vertices(), 1U << 16);
  const double kept = static_cast<double>(csr.edges()) / static_cast<double>(draws);
  EXPECT_NEAR(kept, 0.91, 0.01);
  std::uint32_t largest = 0;
  for (std::uint32_t v = 0; v < csr.vertices(); ++v) largest = std::max(largest, csr.degree(v));
  const double mean = static_cast<double>(csr.edges()) / csr.vertices();
  EXPECT_NEAR(largest / mean, 400, 100);
  EXPECT_EQ(csr.degree(0), largest) << "in natural order the first vertex is the most popular";
}

TEST(RmatGraph, PermutingRenumbersAndKeepsTheDegrees) {
  const auto degrees = [](const Csr& csr) {
    std::vector<std::uint32_t> all;
    for (std::uint32_t v = 0; v < csr.vertices(); ++v) all.push_back(csr.degree(v));
    std::ranges::sort(all);
    return all;
  };
  const Csr natural = rmat_graph({.scale = 10, .draws = 8 << 10}, 3);
  const Csr permuted = rmat_graph({.scale = 10, .draws = 8 << 10, .permute = true}, 3);
  expect_well_formed(permuted);
  EXPECT_NE(natural.row, permuted.row);
  EXPECT_EQ(degrees(natural), degrees(permuted));
}

TEST(RmatGraph, IsTheSeeds) {
  const RmatSpec spec{.scale = 8, .draws = 1000};
  EXPECT_EQ(rmat_graph(spec, 1).col, rmat_graph(spec, 1).col);
  EXPECT_NE(rmat_graph(spec, 1).col, rmat_graph(spec, 2).col);
}

TEST(RmatGraph, QuadrantsHaveTheirShares) {
  const Csr csr = rmat_graph({.scale = 13, .draws = 20'000}, 9);  // sparse enough for few repeats
  double quadrants[2][2] = {};
  for (std::uint32_t v = 0; v < csr.vertices(); ++v) {
    for (const std::uint32_t column : csr.neighbours(v)) quadrants[v / 4096][column / 4096] += 1;
  }
  const auto edges = static_cast<double>(csr.edges());
  EXPECT_NEAR(quadrants[0][0] / edges, 0.57, 0.03);
  EXPECT_NEAR(quadrants[0][1] / edges, 0.19, 0.02);
  EXPECT_NEAR(quadrants[1][0] / edges, 0.19, 0.02);
  EXPECT_NEAR(quadrants[1][1] / edges, 0.05, 0.01);
}

bool is_symmetric(const Csr& csr) {
  for (std::uint32_t v = 0; v < csr.vertices(); ++v) {
    for (const std::uint32_t u : csr.neighbours(v)) {
      if (!std::ranges::binary_search(csr.neighbours(u), v)) return false;
    }
  }
  return true;
}

bool has_self_loops(const Csr& csr) {
  for (std::uint32_t v = 0; v < csr.vertices(); ++v) {
    if (std::ranges::binary_search(csr.neighbours(v), v)) return true;
  }
  return false;
}

double mean_degree(const Csr& csr) { return static_cast<double>(csr.edges()) / csr.vertices(); }

std::uint32_t largest_degree(const Csr& csr) {
  std::uint32_t largest = 0;
  for (std::uint32_t v = 0; v < csr.vertices(); ++v) largest = std::max(largest, csr.degree(v));
  return largest;
}

std::uint32_t reachable(const Csr& csr) {
  std::vector<std::uint32_t> queue{0};
  std::vector<bool> seen(csr.vertices());
  seen[0] = true;
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const std::uint32_t u : csr.neighbours(queue[i])) {
      if (!seen[u]) queue.push_back(u);
      seen[u] = true;
    }
  }
  return static_cast<std::uint32_t>(queue.size());
}

TEST(MeshGraph, LinksTheFourNeighbours) {
  const Csr mesh = mesh_graph(5, 3);
  expect_well_formed(mesh);
  EXPECT_EQ(mesh.edges(), 4U * 15 - 2 * (5 + 3));
  EXPECT_EQ(std::vector<std::uint32_t>(mesh.neighbours(7).begin(), mesh.neighbours(7).end()),
            (std::vector<std::uint32_t>{2, 6, 8, 12}));
  EXPECT_EQ(mesh.degree(0), 2U);
  EXPECT_TRUE(is_symmetric(mesh));
  EXPECT_EQ(mesh_graph(1000, 1000).edges(), 3'996'000U) << "as ecology1 has";
}

TEST(BandedGraph, StaysInItsBand) {
  const Csr csr = banded_graph(5000, 5000 * 4 - 3, 20, 1);
  expect_well_formed(csr);
  EXPECT_EQ(csr.edges(), 5000U * 4 - 3);
  EXPECT_FALSE(has_self_loops(csr));
  double spread = 0;
  for (std::uint32_t v = 0; v < csr.vertices(); ++v) {
    for (const std::uint32_t u : csr.neighbours(v)) {
      ASSERT_LE(u > v ? u - v : v - u, 20U);
      spread += u > v ? u - v : v - u;
    }
  }
  EXPECT_NEAR(spread / static_cast<double>(csr.edges()), 10.5, 0.2) << "uniform over the band";
  EXPECT_EQ(banded_graph(5, 100, 2, 1).edges(), 2U + 3 + 4 + 3 + 2) << "as many as there are";
}

TEST(RoadGraph, KeepsAShareAndStaysConnected) {
  const Csr road = road_graph(200, 150, 0.6, 1);
  expect_well_formed(road);
  EXPECT_TRUE(is_symmetric(road));
  EXPECT_NEAR(mean_degree(road), 2.4, 0.03);
  EXPECT_EQ(reachable(road), road.vertices());
  EXPECT_NE(road.col, road_graph(200, 150, 0.6, 2).col);
}

TEST(GeometricGraph, HasTheDegreesOfItsRadius) {
  const std::uint32_t n = 1 << 15;
  const Csr csr = geometric_graph(n, 1);
  expect_well_formed(csr);
  EXPECT_TRUE(is_symmetric(csr));
  EXPECT_FALSE(has_self_loops(csr));
  const double expected = 3.14159265 * 0.55 * 0.55 * std::log(n);  // points in a disc, less at the border
  EXPECT_NEAR(mean_degree(csr), expected, 0.03 * expected);
  // Cell by cell: most links lead to vertices nearby or one row of cells away.
  std::uint64_t near = 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    for (const std::uint32_t u : csr.neighbours(v)) near += (u > v ? u - v : v - u) < n / 50;
  }
  EXPECT_EQ(near, csr.edges());
  EXPECT_EQ(geometric_graph(1, 1).edges(), 0U);
}

TEST(WebGraph, HasTheDegreesAndTheLocalityOfACrawl) {
  const std::uint32_t n = 1 << 17;
  const Csr csr = web_graph(n, 1);
  expect_well_formed(csr);
  EXPECT_EQ(csr.vertices(), n);
  EXPECT_FALSE(has_self_loops(csr));
  EXPECT_NEAR(mean_degree(csr), 26.2, 1);
  EXPECT_GT(largest_degree(csr), 500U);
  std::vector<std::uint32_t> in(n);
  std::uint64_t leaves = 0;
  for (std::uint32_t v = 0; v < n; ++v) {
    for (const std::uint32_t u : csr.neighbours(v)) {
      ++in[u];
      leaves += u / (n / 4) != v / (n / 4);
    }
  }
  EXPECT_GT(*std::ranges::max_element(in), 1500U);
  EXPECT_NEAR(static_cast<double>(leaves) / static_cast<double>(csr.edges()), 0.17, 0.05);
  EXPECT_EQ(web_graph(5, 1).vertices(), 5U);
}

TEST(CageGraph, HasTheDegreesOfTheCageMatrices) {
  for (const auto& [n, degree] : {std::pair{131'072U, 15.54}, {16'384U, 13.5}}) {
    const Csr csr = cage_graph(n, 1);
    expect_well_formed(csr);
    EXPECT_TRUE(is_symmetric(csr));
    EXPECT_NEAR(mean_degree(csr), degree, 0.02 * degree);
    EXPECT_GE(largest_degree(csr), 22U);
    EXPECT_LE(largest_degree(csr), 35U);
    for (std::uint32_t v = 0; v < n; ++v) {
      const auto columns = csr.neighbours(v);
      ASSERT_TRUE(std::ranges::binary_search(columns, v)) << "no diagonal";
      ASSERT_LE(columns.back() - columns.front(), n / 2);
      for (const std::uint32_t u : columns) ASSERT_LE(u > v ? u - v : v - u, n / 4) << "beyond the next partition";
    }
  }
  EXPECT_EQ(cage_graph(3, 1).edges(), 3U) << "the diagonal only";
}

TEST(Weights, AreUniform) {
  Csr csr = uniform_graph(1000, 50'000, 1);
  draw_weights(csr, 100, 1);
  ASSERT_EQ(csr.weight.size(), csr.edges());
  EXPECT_EQ(*std::ranges::min_element(csr.weight), 1U);
  EXPECT_EQ(*std::ranges::max_element(csr.weight), 100U);
  EXPECT_NEAR(std::accumulate(csr.weight.begin(), csr.weight.end(), 0.0) / 50'000, 50.5, 0.5);
}

RC_GTEST_PROP(Csr, SymmetrizingAddsTheReverseOfEveryEdge, ()) {
  const std::uint32_t n = *rc::gen::inRange(1U, 30U);
  const Csr csr = uniform_graph(n, *rc::gen::inRange<std::uint64_t>(0, std::uint64_t{n} * n + 1), 1);
  const Csr both = symmetrize(csr);
  expect_well_formed(both);
  for (std::uint32_t v = 0; v < n; ++v) {
    for (std::uint32_t u = 0; u < n; ++u) {
      const bool either =
          std::ranges::binary_search(csr.neighbours(v), u) || std::ranges::binary_search(csr.neighbours(u), v);
      RC_ASSERT(std::ranges::binary_search(both.neighbours(v), u) == either);
    }
  }
  const Csr without = without_self_loops(both);
  expect_well_formed(without);
  RC_ASSERT(!has_self_loops(without));
}

TEST(Csr, AppendsPairsToTheEndsOfTheirRows) {
  Csr csr{.row = {0, 1, 1, 3}, .col = {5, 7, 9}};
  const std::vector<std::pair<std::uint32_t, std::uint32_t>> pairs{{0, 4}, {1, 1}, {1, 2}, {2, 7}};
  append_to_rows(csr, pairs);
  EXPECT_EQ(csr.row, (std::vector<std::uint32_t>{0, 2, 4, 7}));
  EXPECT_EQ(csr.col, (std::vector<std::uint32_t>{5, 4, 1, 2, 7, 9, 7}));
  sort_and_deduplicate(csr);
  EXPECT_EQ(csr.row, (std::vector<std::uint32_t>{0, 2, 4, 6}));
  EXPECT_EQ(csr.col, (std::vector<std::uint32_t>{4, 5, 1, 2, 7, 9}));
}

}  // namespace
}  // namespace nearfar::graph_test
