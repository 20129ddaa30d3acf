// GEMM: C = α·A·B + β·C without tiles (PolyBench; in the studies of REC).
// An item makes one element of C and stores it in every step. Each GPU has a band of rows of A and C; everybody reads
// all of B.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class Gemm final : public Workload {
 public:
  explicit Gemm(const Parameters& parameters)
      : ni_(parameters["ni"]),
        nj_(parameters["nj"]),
        nk_(parameters["nk"]),
        strips_(ni_, parameters["strips"]),
        a_(allocate("A", 4 * ni_ * nk_, Placement::Interleave)),
        b_(allocate("B", 4 * nk_ * nj_, Placement::Interleave)),
        c_(allocate("C", 4 * ni_ * nj_, Placement::Interleave)) {
    add_launch(strips_.launch("gemm", nj_));
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return product({.a = a_, .b = b_, .c = c_, .columns = nj_, .inner = nk_},
                   Patch(strips_.place(wave), {.right = nj_, .bottom = ni_}));
  }

 private:
  std::uint64_t ni_, nj_, nk_;
  Strips strips_;
  VirtAddr a_, b_, c_;
};

WorkloadInfo info() {
  return {.name = "GEMM",
          .title = "matrix multiplication without tiles",
          .suite = "PolyBench",
          .sentence = "Row bands of A and C, all of B for everybody; every step stores the element of C.",
          .parameters = {sized("ni", "rows of A and C", {192, 512, 4096}, 1, 1 << 15),
                         sized("nj", "columns of B and C", {192, 512, 4096}, 1, 1 << 15),
                         sized("nk", "columns of A, rows of B", {192, 512, 2048}, 1, 1 << 15), Strips::parameter(4)}};
}

}  // namespace

constinit const CatalogEntry kGemm{info, construct<Gemm>};

}  // namespace nearfar
