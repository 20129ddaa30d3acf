// PR against its formula and the measured ratios of lines to edges.
#include <gtest/gtest.h>

#include "workload/census.h"
#include "workload/graph/generators.h"

namespace nearfar::pr_test {
namespace {

using namespace nearfar::testing;

/// Σ_rows 3 + (row offsets straddle a line) + for every 64 edges (lines of col and of val + distinct lines of x, whose
/// elements are in order).
std::uint64_t expected_lines(const Csr& matrix) {
  std::uint64_t lines = 0;
  for (std::uint32_t r = 0; r < matrix.vertices(); ++r) {
    lines += 3 + (r % 16 == 15);
    for (std::uint32_t e = matrix.row[r]; e < matrix.row[r + 1]; e += 64) {
      const std::uint32_t end = std::min(e + 64, matrix.row[r + 1]);
      lines += 2 * ((end - 1) / 16 - e / 16 + 1) + 1;
      for (std::uint32_t j = e + 1; j < end; ++j) lines += matrix.col[j] / 16 != matrix.col[j - 1] / 16;
    }
  }
  return lines;
}

TEST(PageRank, TouchesTheLinesOfTheFormula) {
  EXPECT_EQ(take_census(*make("PR", {{"iterations", 1}}, 7)).lines.total,
            expected_lines(uniform_graph(1 << 14, 1 << 17, 7)));
  EXPECT_EQ(take_census(*make("PR", {{"n", 77}, {"m", 3000}, {"iterations", 3}}, 7)).lines.total,
            3 * expected_lines(uniform_graph(77, 3000, 7)));
  EXPECT_EQ(take_census(*make("PR", {{"n", 256}, {"m", 9000}, {"graph", 1}, {"iterations", 1}}, 7)).lines.total,
            expected_lines(rmat_graph({.scale = 8, .draws = 9000}, 7)));
}

TEST(PageRank, LinesPerEdgeAreAsMeasured) {
  const auto ratio = [](const Csr& matrix) {
    return static_cast<double>(expected_lines(matrix)) / static_cast<double>(matrix.edges());
  };
  EXPECT_NEAR(ratio(uniform_graph(1 << 14, 8 << 14, 1)), 1.74, 0.05 * 1.74);
  EXPECT_NEAR(ratio(uniform_graph(1 << 14, 16 << 14, 1)), 1.43, 0.05 * 1.43);
  EXPECT_NEAR(ratio(uniform_graph(1 << 14, 30 << 14, 1)), 1.29, 0.05 * 1.29);
  EXPECT_NEAR(ratio(rmat_graph({.scale = 16, .draws = 16 << 16, .permute = true}, 1)), 1.39, 0.05 * 1.39);
  EXPECT_NEAR(ratio(rmat_graph({.scale = 16, .draws = 16 << 16}, 1)), 1.25, 0.05 * 1.25);
}

TEST(PageRank, AWavefrontIsTheSequenceOfTheMachineCode) {
  const Csr matrix = uniform_graph(1 << 10, 1 << 13, 3);
  const auto pr = make("PR", {{"n", 1 << 10}, {"m", 1 << 13}}, 3);
  for (std::uint32_t row = 0; row < matrix.vertices(); ++row) {
    const std::uint64_t chunks = (matrix.degree(row) + 63) / 64;
    const Census wave = take_wave(*pr, 0, row);
    ASSERT_EQ(wave.instructions, 125 + 20 * chunks) << "row " << row;
    ASSERT_EQ(wave.loads, 1 + 3 * chunks);
    ASSERT_EQ(wave.stores, 2U);
    ASSERT_EQ(wave.scalar_loads + wave.barriers, 0U);
  }
}

TEST(PageRank, GathersAreAsDivergentAsTheirRow) {
  const auto pr = make("PR");
  const Buffer& x = buffer(*pr, "x");
  LaneAddresses lanes;
  Coalescer coalescer(64);
  Spread pages, lines;
  for (std::uint64_t row = 0; row < 4096; ++row) {
    Stream stream = pr->wavefront(0, pr->launches()[0].wave(row, 0, 64));
    for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
      if (op.kind != OpKind::Load) continue;
      op.lanes(op.operation, 64, lanes);
      const auto groups = coalescer.loads(lanes, op.bytes);
      if (groups[0].page < page_of(x.base) || groups[0].page > page_of(x.base + (x.bytes - 1))) continue;
      std::uint64_t touched = 0;
      for (const PageGroup& each : groups) touched += static_cast<std::uint64_t>(std::popcount(each.lines));
      lines.add(touched);
      pages.add(groups.size());
    }
  }
  EXPECT_NEAR(lines.mean(), 8, 0.16);
  EXPECT_NEAR(pages.mean(), 6.3, 0.13);
}

TEST(PageRank, VectorsAreSharedByAllAndTheMatrixByNobody) {
  const auto pr = make("PR");
  const Census census = take_census(*pr, 4);
  EXPECT_EQ(pages_touched(census), pages_of(*pr));
  for (const char* vector : {"x", "y"}) EXPECT_EQ(pages_by(census, buffer(*pr, vector), 4), 16U);
  for (const char* part : {"rowOffset", "col", "val"}) {
    EXPECT_GE(pages_by(census, buffer(*pr, part), 1), pages_of(buffer(*pr, part)) - 3) << part;
    EXPECT_EQ(pages_by(census, buffer(*pr, part), 3) + pages_by(census, buffer(*pr, part), 4), 0U) << part;
  }
}

TEST(PageRank, TwoHalfWavefrontsShareARowAndMeetInTheReduction) {
  const auto pr = make("PR", {{"n", 64}, {"m", 64 * 50}});
  const Census left = take_wave(*pr, 0, 9, 0, 32), right = take_wave(*pr, 0, 9, 1, 32);
  EXPECT_EQ(left.barriers, 6U);
  EXPECT_EQ(right.barriers, 6U);
  EXPECT_EQ(left.stores, 2U);
  EXPECT_EQ(right.stores, 1U);
  EXPECT_EQ(left.loads + right.loads, 2U + 3 * 2);
}

TEST(PageRank, TheSeedMakesTheMatrix) {
  const auto lines = [](std::uint64_t seed) {
    return take_census(*make("PR", {{"n", 512}, {"m", 4096}}, seed)).lines.total;
  };
  EXPECT_EQ(lines(1), lines(1));
  EXPECT_NE(lines(1), lines(2));
}

TEST(PageRank, ItemsMultiplyEvery64thEdge) {
  const Csr matrix = uniform_graph(150, 150 * 100, 1);
  const auto pr = make("PR", {{"n", 150}, {"m", 150 * 100}, {"iterations", 2}});
  const VirtAddr offsets = buffer(*pr, "rowOffset").base, col = buffer(*pr, "col").base, val = buffer(*pr, "val").base;
  const VirtAddr vectors[] = {buffer(*pr, "x").base, buffer(*pr, "y").base};
  const std::uint32_t row = 77;
  for (std::size_t launch = 0; launch < 2; ++launch) {
    const VirtAddr x = vectors[launch], y = vectors[1 - launch];
    Items expected;
    for (std::uint32_t k = 0; k < 64; ++k) {
      auto& item = expected.emplace_back();
      item.push_back({'-', y + 4 * row});
      item.push_back({'+', offsets + 4 * row});
      for (std::uint64_t j = matrix.row[row] + k; j < matrix.row[row + 1]; j += 64) {
        item.push_back({'+', col + 4 * j});
        item.push_back({'+', x + std::uint64_t{4} * matrix.col[j]});
        item.push_back({'+', val + 4 * j});
      }
      if (k == 0) item.push_back({'-', y + 4 * row});
    }
    EXPECT_EQ(touches(*pr, launch, row), expected) << "launch " << launch;
  }
}

}  // namespace
}  // namespace nearfar::pr_test
