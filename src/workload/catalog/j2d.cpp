// J2D: five-point Jacobi iteration in two dimensions (PolyBench; in the studies of REC).
// Each step makes B from A's neighbours and copies it back. Row bands: GPUs share the rows at their borders.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class Jacobi2D final : public Workload {
 public:
  explicit Jacobi2D(const Parameters& parameters)
      : n_(parameters["n"]),
        a_(allocate("A", 4 * n_ * n_, Placement::Interleave)),
        b_(allocate("B", 4 * n_ * n_, Placement::Interleave)) {
    for (std::uint64_t step = 0; step < parameters["steps"]; ++step) {
      add_launch(matrix_launch("jacobi_1", n_, n_));
      add_launch(matrix_launch("jacobi_2", n_, n_));
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const Patch patch(wave, {.left = 1, .top = 1, .right = n_ - 1, .bottom = n_ - 1});
    return launch % 2 == 0 ? relax(patch) : copy(patch);
  }

 private:
  Stream relax(Patch patch) const {
    std::int64_t away = 0;  // from the centre to the neighbour, in elements
    const auto neighbour =
        load(4, [&] { return patch.lanes_at(a_ + static_cast<std::uint64_t>(4 * away), 4 * n_, 4); });
    const auto result = store(4, [&] { return patch.lanes_at(b_, 4 * n_, 4); });

    co_yield salu(14);
    co_yield valu(28);
    if (patch.empty()) co_return;
    co_yield neighbour;
    away = -1;
    co_yield neighbour;
    away = 1;
    co_yield neighbour;
    away = static_cast<std::int64_t>(n_);
    co_yield neighbour;
    away = -away;
    co_yield neighbour;
    for (unsigned outstanding = 4; outstanding-- > 0;) {
      co_yield wait(outstanding);
      co_yield valu(2);
    }
    co_yield valu(8);
    co_yield result;
    co_yield salu(1);
  }

  Stream copy(Patch patch) const {
    const auto from = load(4, [&] { return patch.lanes_at(b_, 4 * n_, 4); });
    const auto to = store(4, [&] { return patch.lanes_at(a_, 4 * n_, 4); });

    co_yield salu(12);
    co_yield valu(18);
    if (patch.empty()) co_return;
    co_yield from;
    co_yield wait(0);
    co_yield to;
    co_yield salu(1);
  }

  std::uint64_t n_;
  VirtAddr a_, b_;
};

WorkloadInfo info() {
  return {.name = "J2D",
          .title = "Jacobi iteration in two dimensions",
          .suite = "PolyBench",
          .sentence = "Adjacent: five-point neighbours in row bands; GPUs share the rows at their borders.",
          .parameters = {sized("n", "floats on a side of the grid", {512, 1024, 4096}, 3, 1 << 16),
                         sized("steps", "time steps; the published runs have 20", {5, 20, 2}, 1, 1000)}};
}

}  // namespace

constinit const CatalogEntry kJ2d{info, construct<Jacobi2D>};

}  // namespace nearfar
