// BICG: q = A·p and s = Aᵀ·r, the kernels of the BiCGStab solver (PolyBench; in the studies of Neighborhood).
// As ATAX, but the kernels are independent of each other and A is only read.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class Bicg final : public Workload {
 public:
  explicit Bicg(const Parameters& parameters)
      : nx_(parameters["nx"]),
        ny_(parameters["ny"]),
        a_(allocate("A", 4 * nx_ * ny_, Placement::Interleave)),
        r_(allocate("r", 4 * nx_, Placement::Interleave)),
        s_(allocate("s", 4 * ny_, Placement::Interleave)),
        p_(allocate("p", 4 * ny_, Placement::Interleave)),
        q_(allocate("q", 4 * nx_, Placement::Interleave)) {
    add_launch(vector_launch("bicg_q", nx_, parameters.u32("wg")));
    add_launch(vector_launch("bicg_s", ny_, parameters.u32("wg")));
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    Walk walk{.matrix = a_, .pitch = ny_, .start = Start::Zero};
    if (launch == 0) {
      walk.vector = p_, walk.steps = ny_, walk.sum = q_, walk.items = nx_;
      return row_walk(walk, wave);
    }
    walk.vector = r_, walk.steps = nx_, walk.sum = s_, walk.items = ny_;
    return column_walk(walk, wave);
  }

 private:
  std::uint64_t nx_, ny_;
  VirtAddr a_, r_, s_, p_, q_;
};

WorkloadInfo info() {
  return {.name = "BICG",
          .title = "kernels of the BiCGStab solver",
          .suite = "PolyBench",
          .sentence = "Walks along rows, 64 pages a load, then down columns of a matrix that nobody writes.",
          .parameters = {sized("nx", "rows of A", {768, 2048, 8192}, 1, 1 << 16),
                         sized("ny", "columns of A", {768, 2048, 4096}, 1, 1 << 16), group_parameter()}};
}

}  // namespace

constinit const CatalogEntry kBicg{info, construct<Bicg>};

}  // namespace nearfar
