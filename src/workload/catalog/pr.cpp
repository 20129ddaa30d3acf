// PR: PageRank as a sparse matrix-vector product y = M·x, repeated (Hetero-Mark).
// Random: one wavefront a row gathers x wherever the row's columns point. x is read by everybody, y written in bands;
// the next iteration swaps them, so every page of both is written by one GPU and read by all.
#include <bit>
#include <utility>

#include "workload/catalog/entries.h"
#include "workload/graph/generators.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 64;

class PageRank final : public Workload {
 public:
  PageRank(Csr matrix, std::uint64_t iterations)
      : matrix_(std::move(matrix)),
        row_offset_(allocate("rowOffset", 4 * matrix_.row.size(), Placement::Interleave)),
        col_(allocate("col", 4 * matrix_.edges(), Placement::Interleave)),
        val_(allocate("val", 4 * matrix_.edges(), Placement::Interleave)),
        x_(allocate("x", std::uint64_t{4} * matrix_.vertices(), Placement::Interleave)),
        y_(allocate("y", std::uint64_t{4} * matrix_.vertices(), Placement::Interleave)) {
    for (std::uint64_t i = 0; i < iterations; ++i) {
      add_launch({.kernel = "pagerank",
                  .groups_x = matrix_.vertices(),
                  .size_x = kGroup,
                  .local_bytes = sizeof(float) * kGroup,
                  .split = Split::Blocks});
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const Row row{.number = wave.group_x,
                  .edge = matrix_.row[wave.group_x] + wave.local(0),
                  .end = matrix_.row[wave.group_x + 1],
                  .first = wave.local(0)};
    const bool alone = wave.lanes >= kGroup;
    return launch % 2 == 0 ? multiply(x_, y_, row, alone) : multiply(y_, x_, row, alone);
  }

 private:
  /// Where a wavefront stands in its row. One record, because every operation of the kernel refers to it.
  struct Row {
    std::uint32_t number;
    std::uint32_t edge, end;         ///< lane l multiplies edge + l, if that is still in the row
    std::uint32_t first;             ///< local id of lane 0
    std::uint32_t writers = kGroup;  ///< local ids that write the row's result
  };

  Stream multiply(VirtAddr x, VirtAddr y, Row at, bool alone) const {
    const auto offsets = load(8, [&](unsigned) { return row_offset_ + 4 * std::uint64_t{at.number}; });
    const auto col = load(4, [&](unsigned lane) {
      const std::uint64_t j = at.edge + lane;
      return j < at.end ? col_ + 4 * j : kIdle;
    });
    const auto val = load(4, [&](unsigned lane) {
      const std::uint64_t j = at.edge + lane;
      return j < at.end ? val_ + 4 * j : kIdle;
    });
    const auto gather = load(4, [&](unsigned lane) {
      const std::uint64_t j = at.edge + lane;
      return j < at.end ? x + 4 * std::uint64_t{matrix_.col[j]} : kIdle;
    });
    const auto result = store(
        4, [&](unsigned lane) { return at.first + lane < at.writers ? y + 4 * std::uint64_t{at.number} : kIdle; });

    co_yield salu(16);
    co_yield valu(12);
    co_yield result;
    co_yield valu(8);
    co_yield offsets;
    co_yield wait(0);
    co_yield valu(6);
    co_yield local(1);
    co_yield salu(2);
    for (; at.edge < at.end; at.edge += kGroup) {
      co_yield col;
      co_yield valu(6);
      co_yield wait(0);
      co_yield valu(3);
      co_yield val;
      co_yield gather;
      co_yield valu(2);
      co_yield wait(0);
      co_yield valu(1);
      co_yield salu(3);
    }
    for (std::uint32_t half = kGroup / 2; half > 0; half /= 2) {
      if (!alone) co_yield barrier();
      co_yield local(1);
      co_yield valu(6);
      co_yield wait(0);
      co_yield local(1);
      co_yield salu(3);
    }
    at.writers = 1;
    co_yield valu(2);
    if (at.first == 0) co_yield result;
    co_yield salu(2);
  }

  Csr matrix_;
  VirtAddr row_offset_, col_, val_, x_, y_;
};

WorkloadInfo info() {
  return {.name = "PR",
          .title = "PageRank",
          .suite = "Hetero-Mark",
          .sentence = "Random: gathers all over a vector that all GPUs read and that is rewritten in bands.",
          .parameters = {{.name = "n",
                          .sentence = "vertices",
                          .small = 1 << 14,
                          .medium = 1 << 18,
                          .paper = 1 << 20,
                          .minimum = 1,
                          .maximum = 1 << 28},
                         {.name = "m",
                          .sentence = "edges; of an R-MAT graph, edges drawn before repeated ones are removed",
                          .small = 1 << 17,
                          .medium = 1 << 21,
                          .paper = 31'981'568,
                          .minimum = 1,
                          .maximum = 1 << 30},
                         {.name = "iterations",
                          .sentence = "products computed, one after the other",
                          .small = 4,
                          .medium = 4,
                          .paper = 1,
                          .minimum = 1,
                          .maximum = 1000},
                         {.name = "graph",
                          .sentence = "the matrix: 0 uniform, 1 R-MAT (power law; n a power of two)",
                          .minimum = 0,
                          .maximum = 1},
                         {.name = "permute",
                          .sentence = "1 numbers the vertices of an R-MAT graph at random",
                          .minimum = 0,
                          .maximum = 1}}};
}

Csr make_matrix(const Parameters& parameters, std::uint64_t seed) {
  const std::uint64_t n = parameters["n"];
  const std::uint64_t m = parameters["m"];
  if (parameters["graph"] == 0) {
    if (m > n * n) parameters.refuse("m", "a matrix with n² entries cannot have more", n * n);
    return uniform_graph(static_cast<std::uint32_t>(n), m, seed);
  }
  if (!std::has_single_bit(n)) {
    const std::uint64_t above = std::bit_ceil(n), below = above / 2;
    parameters.refuse("n", "must be a power of two when graph is 1 (R-MAT)", above - n <= n - below ? above : below);
  }
  return rmat_graph(
      {.scale = static_cast<unsigned>(std::countr_zero(n)), .draws = m, .permute = parameters["permute"] == 1}, seed);
}

std::shared_ptr<const Workload> make(const Parameters& parameters, std::uint64_t seed) {
  return std::make_shared<PageRank>(make_matrix(parameters, seed), parameters["iterations"]);
}

}  // namespace

constinit const CatalogEntry kPr{info, make};

}  // namespace nearfar
