// MM2: D = (α·A·B)·C + β·D, two products in a row (PolyBench's 2mm; in the studies of REC).
// As GEMM, twice: everybody reads B and C. The GPU that made a band of tmp is the one that needs it.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class TwoProducts final : public Workload {
 public:
  explicit TwoProducts(const Parameters& parameters)
      : n_(parameters["n"]),
        strips_(n_, parameters["strips"]),
        tmp_(allocate("tmp", 4 * n_ * n_, Placement::Interleave)),
        a_(allocate("A", 4 * n_ * n_, Placement::Interleave)),
        b_(allocate("B", 4 * n_ * n_, Placement::Interleave)),
        c_(allocate("C", 4 * n_ * n_, Placement::Interleave)),
        d_(allocate("D", 4 * n_ * n_, Placement::Interleave)) {
    add_launch(strips_.launch("mm2_1", n_));
    add_launch(strips_.launch("mm2_2", n_));
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const Patch patch(strips_.place(wave), {.right = n_, .bottom = n_});
    if (launch == 0) {
      return product({.a = a_, .b = b_, .c = tmp_, .columns = n_, .inner = n_, .start = Start::Zero}, patch);
    }
    return product({.a = tmp_, .b = c_, .c = d_, .columns = n_, .inner = n_}, patch);
  }

 private:
  std::uint64_t n_;
  Strips strips_;
  VirtAddr tmp_, a_, b_, c_, d_;
};

WorkloadInfo info() {
  return {.name = "MM2",
          .title = "two matrix multiplications",
          .suite = "PolyBench",
          .sentence = "Two products without tiles; everybody reads B and C, the rest is in row bands.",
          .parameters = {sized("n", "floats on a side of the matrices", {128, 320, 2560}, 1, 1 << 15),
                         Strips::parameter(4)}};
}

}  // namespace

constinit const CatalogEntry kMm2{info, construct<TwoProducts>};

}  // namespace nearfar
