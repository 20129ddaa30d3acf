// C2D: 3×3 convolution of a matrix (PolyBench's 2DCONV; in the studies of REC).
// Adjacent: the three neighbours of a row come in one 12-byte load. Row bands: GPUs share the rows at their borders.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class Convolution2D final : public Workload {
 public:
  explicit Convolution2D(const Parameters& parameters)
      : n_(parameters["n"]),
        a_(allocate("A", 4 * n_ * n_, Placement::Interleave)),
        b_(allocate("B", 4 * n_ * n_, Placement::Interleave)) {
    add_launch(matrix_launch("convolution", n_, n_));
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return convolve(Patch(wave, {.left = 1, .top = 1, .right = n_ - 1, .bottom = n_ - 1}));
  }

 private:
  Stream convolve(Patch patch) const {
    std::uint64_t down = 0;  // rows below the upper neighbours
    const auto three = load(12, [&] { return patch.lanes_at(a_ + 4 * (down * n_ - n_ - 1), 4 * n_, 4); });
    const auto result = store(4, [&] { return patch.lanes_at(b_, 4 * n_, 4); });

    co_yield salu(16);
    co_yield valu(16);
    if (patch.empty()) co_return;
    co_yield three;
    down = 1;
    co_yield three;
    co_yield valu(5);
    down = 2;
    co_yield three;
    co_yield valu(5);
    co_yield wait(2);
    co_yield valu(3);
    co_yield wait(1);
    co_yield valu(4);
    co_yield wait(0);
    co_yield valu(3);
    co_yield result;
    co_yield salu(1);
  }

  std::uint64_t n_;
  VirtAddr a_, b_;
};

WorkloadInfo info() {
  return {.name = "C2D",
          .title = "3×3 convolution",
          .suite = "PolyBench",
          .sentence = "Adjacent: nine-point neighbours in row bands; GPUs share the rows at their borders.",
          .parameters = {sized("n", "floats on a side of the matrix", {1024, 4096, 8192}, 3, 1 << 16)}};
}

}  // namespace

constinit const CatalogEntry kC2d{info, construct<Convolution2D>};

}  // namespace nearfar
