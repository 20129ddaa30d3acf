// MVT: x1 += A·y1 and x2 += Aᵀ·y2 (PolyBench; in the studies of Neighborhood, with doubles).
// As ATAX: along rows, then down columns.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class Mvt final : public Workload {
 public:
  explicit Mvt(const Parameters& parameters)
      : n_(parameters["n"]),
        bytes_(static_cast<std::uint8_t>(parameters["bytes"])),
        a_(allocate("A", bytes_ * n_ * n_, Placement::Interleave)),
        x1_(allocate("x1", bytes_ * n_, Placement::Interleave)),
        x2_(allocate("x2", bytes_ * n_, Placement::Interleave)),
        y1_(allocate("y1", bytes_ * n_, Placement::Interleave)),
        y2_(allocate("y2", bytes_ * n_, Placement::Interleave)) {
    add_launch(vector_launch("mvt_1", n_, parameters.u32("wg")));
    add_launch(vector_launch("mvt_2", n_, parameters.u32("wg")));
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    Walk walk{.matrix = a_, .pitch = n_, .steps = n_, .items = n_, .bytes = bytes_};
    if (launch == 0) {
      walk.vector = y1_, walk.sum = x1_;
      return row_walk(walk, wave);
    }
    walk.vector = y2_, walk.sum = x2_;
    return column_walk(walk, wave);
  }

 private:
  std::uint64_t n_;
  std::uint8_t bytes_;
  VirtAddr a_, x1_, x2_, y1_, y2_;
};

WorkloadInfo info() {
  return {
      .name = "MVT",
      .title = "matrix-vector product and its transpose",
      .suite = "PolyBench",
      .sentence = "Walks along rows, 64 pages a load, then down columns; two GPUs read most pages of the matrix.",
      .parameters = {sized("n", "elements on a side of A", {768, 2048, 4096}, 1, 1 << 16),
                     sized("bytes", "bytes of an element: 4 float, 8 double", {4, 4, 8}, 4, 8, 4), group_parameter()}};
}

}  // namespace

constinit const CatalogEntry kMvt{info, construct<Mvt>};

}  // namespace nearfar
