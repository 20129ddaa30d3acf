// MM3: G = (A·B)·(C·D), three products (PolyBench's 3mm; in the studies of REC).
// As GEMM, three times. F = C·D is made in row bands and then read by everybody.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class ThreeProducts final : public Workload {
 public:
  explicit ThreeProducts(const Parameters& parameters)
      : n_(parameters["n"]),
        strips_(n_, parameters["strips"]),
        a_(allocate("A", 4 * n_ * n_, Placement::Interleave)),
        b_(allocate("B", 4 * n_ * n_, Placement::Interleave)),
        c_(allocate("C", 4 * n_ * n_, Placement::Interleave)),
        d_(allocate("D", 4 * n_ * n_, Placement::Interleave)),
        e_(allocate("E", 4 * n_ * n_, Placement::Interleave)),
        f_(allocate("F", 4 * n_ * n_, Placement::Interleave)),
        g_(allocate("G", 4 * n_ * n_, Placement::Interleave)) {
    for (const char* kernel : {"mm3_1", "mm3_2", "mm3_3"}) add_launch(strips_.launch(kernel, n_));
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const VirtAddr operands[3][3] = {{a_, b_, e_}, {c_, d_, f_}, {e_, f_, g_}};
    const auto& [left, right, result] = operands[launch];
    return product({.a = left, .b = right, .c = result, .columns = n_, .inner = n_, .start = Start::Zero},
                   Patch(strips_.place(wave), {.right = n_, .bottom = n_}));
  }

 private:
  std::uint64_t n_;
  Strips strips_;
  VirtAddr a_, b_, c_, d_, e_, f_, g_;
};

WorkloadInfo info() {
  return {.name = "MM3",
          .title = "three matrix multiplications",
          .suite = "PolyBench",
          .sentence = "Three products without tiles; everybody reads B, D and F, and F is made in row bands.",
          .parameters = {sized("n", "floats on a side of the matrices", {128, 256, 1536}, 1, 1 << 15),
                         Strips::parameter(4)}};
}

}  // namespace

constinit const CatalogEntry kMm3{info, construct<ThreeProducts>};

}  // namespace nearfar
