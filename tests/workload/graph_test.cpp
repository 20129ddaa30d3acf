// Generated graphs: as many edges as asked for, in order, each once, and distributed as their kind says.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "workload/graph/generators.h"

namespace nearfar {
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
}  // namespace nearfar
