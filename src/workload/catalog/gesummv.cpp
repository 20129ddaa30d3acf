// GESUMMV: y = α·A·x + β·B·x (PolyBench; in the studies of Neighborhood).
// An item goes along a row of two matrices at once: 128 pages a step. Both sums are read and stored in every step,
// because they might overlap.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class Gesummv final : public Workload {
 public:
  explicit Gesummv(const Parameters& parameters)
      : n_(parameters["n"]),
        a_(allocate("A", 4 * n_ * n_, Placement::Interleave)),
        b_(allocate("B", 4 * n_ * n_, Placement::Interleave)),
        x_(allocate("x", 4 * n_, Placement::Interleave)),
        y_(allocate("y", 4 * n_, Placement::Interleave)),
        tmp_(allocate("tmp", 4 * n_, Placement::Interleave)) {
    add_launch(vector_launch("gesummv", n_, parameters.u32("wg")));
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return sum_up({a_, tmp_, wave.item(0), 0, live_lanes(wave, n_)});
  }

 private:
  /// Where a wavefront stands: which of the two matrices, its sums, and the step.
  struct At {
    VirtAddr matrix, sum;
    std::uint64_t first, j;
    std::uint32_t lanes;
  };

  Stream sum_up(At at) const {
    const auto element = load(
        4, [&](unsigned lane) { return lane < at.lanes ? at.matrix + 4 * ((at.first + lane) * n_ + at.j) : kIdle; });
    const auto factor = load(4, [&](unsigned lane) { return lane < at.lanes ? x_ + 4 * at.j : kIdle; });
    const auto sums = [&] { return Row{at.sum + 4 * at.first, at.lanes}; };
    const auto before = load(4, sums);
    const auto result = store(4, sums);

    co_yield salu(14);
    co_yield valu(12);
    if (at.lanes == 0) co_return;
    for (; at.j < n_; ++at.j) {
      at.matrix = a_, at.sum = tmp_;
      co_yield wait(0);
      co_yield before;
      co_yield element;
      co_yield factor;
      co_yield valu(2);
      co_yield wait(0);
      co_yield valu(1);
      co_yield result;
      at.matrix = b_, at.sum = y_;
      co_yield before;
      co_yield factor;
      co_yield element;
      co_yield valu(4);
      co_yield wait(0);
      co_yield valu(1);
      co_yield result;
      co_yield salu(3);
    }
    co_yield before;
    co_yield wait(0);
    co_yield valu(2);
    co_yield result;
    co_yield salu(1);
  }

  std::uint64_t n_;
  VirtAddr a_, b_, x_, y_, tmp_;
};

WorkloadInfo info() {
  return {
      .name = "GESUMMV",
      .title = "sum of two matrix-vector products",
      .suite = "PolyBench",
      .sentence = "Walks along the rows of two matrices at once, 128 pages a step; GPUs share the vector only.",
      .parameters = {sized("n", "elements on a side of A and B", {512, 2048, 4096}, 1, 1 << 16), group_parameter()}};
}

}  // namespace

constinit const CatalogEntry kGesummv{info, construct<Gesummv>};

}  // namespace nearfar
