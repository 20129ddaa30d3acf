// ATAX: y = Aᵀ·(A·x) (PolyBench; in the studies of Neighborhood and REC).
// The first kernel has an item for every row of A and goes along it: 64 lines and up to 64 pages a load. The second
// has an item for every column. Row bands against column bands: three quarters of A's pages are read by two GPUs.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class Atax final : public Workload {
 public:
  explicit Atax(const Parameters& parameters)
      : nx_(parameters["nx"]),
        ny_(parameters["ny"]),
        a_(allocate("A", 4 * nx_ * ny_, Placement::Interleave)),
        x_(allocate("x", 4 * ny_, Placement::Interleave)),
        y_(allocate("y", 4 * ny_, Placement::Interleave)),
        tmp_(allocate("tmp", 4 * nx_, Placement::Interleave)) {
    for (std::uint64_t i = 0; i < parameters["repeats"]; ++i) {
      add_launch(vector_launch("atax_1", nx_, parameters.u32("wg")));
      add_launch(vector_launch("atax_2", ny_, parameters.u32("wg")));
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    if (launch % 2 == 0) {
      return row_walk({.matrix = a_, .pitch = ny_, .vector = x_, .steps = ny_, .sum = tmp_, .items = nx_}, wave);
    }
    return column_walk({.matrix = a_, .pitch = ny_, .vector = tmp_, .steps = nx_, .sum = y_, .items = ny_}, wave);
  }

 private:
  std::uint64_t nx_, ny_;
  VirtAddr a_, x_, y_, tmp_;
};

WorkloadInfo info() {
  return {.name = "ATAX",
          .title = "matrix transpose times matrix times vector",
          .suite = "PolyBench",
          .sentence = "Walks along rows, 64 pages a load, then down columns; two GPUs read most pages of the matrix.",
          .parameters = {
              sized("nx", "rows of A", {768, 2048, 4096}, 1, 1 << 16),
              sized("ny", "columns of A (8192 in the study of REC)", {768, 2048, 4096}, 1, 1 << 16),
              constant("repeats", "times the whole program runs on the same data, one after the other", 1, 1, 1000),
              group_parameter()}};
}

}  // namespace

constinit const CatalogEntry kAtax{info, construct<Atax>};

}  // namespace nearfar
