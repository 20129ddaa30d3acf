// PR: PageRank as a sparse matrix-vector product y = M·x, repeated (Hetero-Mark).
// Random: one wavefront a row gathers x wherever the row's columns point. x is read by everybody, y written in bands;
// the next iteration swaps them, so every page of both is written by one GPU and read by all.
#include <utility>

#include "workload/catalog/entries.h"
#include "workload/graph/algorithms.h"
#include "workload/graph_input.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 64;

class PageRank final : public Workload {
 public:
  PageRank(Csr matrix, std::uint64_t iterations)
      : matrix_(std::move(matrix)),
        row_offset_(allocate("rowOffset", 4 * matrix_.row.size(), Placement::Interleave)),
        col_(allocate("col", std::max<std::uint64_t>(4 * matrix_.edges(), 4), Placement::Interleave)),
        val_(allocate("val", std::max<std::uint64_t>(4 * matrix_.edges(), 4), Placement::Interleave)),
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
      co_yield gather;
      co_yield val;
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

constexpr double kDamping = 0.85;
constexpr std::uint64_t kMostRounds = 1000;

WorkloadInfo info() {
  auto parameters = graph_parameters(GraphKind::Uniform, {1 << 14, 1 << 18, 1 << 20}, {1 << 17, 1 << 21, 31'981'568});
  parameters.push_back(sized("iterations",
                             "products computed, one after the other; 0 goes on until the ranks have converged",
                             {4, 4, 1}, 0, kMostRounds));
  return {.name = "PR",
          .title = "PageRank",
          .suite = "Hetero-Mark",
          .sentence = "Random: gathers all over a vector that all GPUs read and that is rewritten in bands.",
          .parameters = std::move(parameters),
          .takes_graph = true};
}

std::shared_ptr<const Workload> make(const Parameters& parameters, std::uint64_t seed) {
  Csr matrix = make_graph(parameters, seed);
  std::uint64_t iterations = parameters["iterations"];
  if (iterations == 0) iterations = rank_rounds(matrix, kDamping, kMostRounds).rounds;
  return std::make_shared<PageRank>(std::move(matrix), iterations);
}

}  // namespace

constinit const CatalogEntry kPr{info, make};

}  // namespace nearfar
