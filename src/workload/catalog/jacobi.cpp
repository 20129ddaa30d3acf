// Jacobi: iterative solution of a banded system in diagonal format (in the studies of FinePack).
// Coalesced: every diagonal of the matrix and the vector at that diagonal's offset, side by side. GPUs have slices of
// rows and read their neighbours' slices within half the band.
#include "workload/catalog/entries.h"
#include "workload/replicated/forms.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 256;
constexpr std::uint64_t kStep = 32;  // offsets of diagonals are multiples of it

class Jacobi final : public Workload {
 public:
  explicit Jacobi(const Parameters& parameters)
      : n_(parameters["n"]),
        pairs_(parameters["pairs"]),
        half_band_(n_ / parameters["band"]),
        a_(allocate("A", 4 * n_ * (2 * pairs_ + 1), Placement::Distribute)),
        b_(allocate("b", 4 * n_, Placement::Distribute)),
        x_(allocate("x", 4 * n_, Placement::Distribute)),
        next_x_(allocate("next_x", 4 * n_, Placement::Distribute)) {
    for (std::uint64_t i = 0; i < parameters["iterations"]; ++i) {
      add_launch(linear_launch("jacobi", n_, kGroup, Split::Offset));
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    return launch % 2 == 0 ? relax(x_, next_x_, wave.item(0), wave.lanes)
                           : relax(next_x_, x_, wave.item(0), wave.lanes);
  }

 private:
  /// 0, then one above and one below the diagonal in turn, farther and farther out.
  std::int64_t offset(std::uint64_t diagonal) const {
    const std::uint64_t k = (diagonal + 1) / 2;
    const auto away = static_cast<std::int64_t>(kStep * (k * half_band_ / (kStep * pairs_)));
    return diagonal % 2 == 0 ? -away : away;
  }

  Stream relax(VirtAddr x, VirtAddr next_x, std::uint64_t first, std::uint32_t lanes) const {
    std::uint64_t d = 0;
    std::int64_t away = 0;
    const auto inside = [&](unsigned lane) { return first + lane + static_cast<std::uint64_t>(away) < n_; };
    const auto entry = load(4, [&](unsigned lane) { return inside(lane) ? a_ + 4 * (d * n_ + first + lane) : kIdle; });
    const auto factor = load(4, [&](unsigned lane) {
      return inside(lane) ? x + 4 * (first + lane + static_cast<std::uint64_t>(away)) : kIdle;
    });
    const auto right_side = load(4, [&] { return Row{b_ + 4 * first}; });
    const auto result = store(4, [&] { return Row{next_x + 4 * first}; });

    co_yield salu(12);
    for (; d < 2 * pairs_ + 1; ++d) {
      away = offset(d);
      if (!anybody(entry, lanes)) continue;
      co_yield entry;
      co_yield factor;
    }
    co_yield right_side;
    co_yield wait(0);
    co_yield valu(static_cast<unsigned>(2 * (2 * pairs_ + 1) + 12));
    co_yield result;
    co_yield salu(1);
  }

  std::uint64_t n_, pairs_, half_band_;
  VirtAddr a_, b_, x_, next_x_;
};

WorkloadInfo info() {
  return {
      .name = "Jacobi",
      .title = "Jacobi iteration over a banded matrix",
      .suite = "FinePack",
      .sentence = "Coalesced: diagonals of a matrix and slices of a vector; GPUs share the vector near their borders.",
      .parameters =
          replicated::with_form({sized("n", "unknowns", {1 << 16, 1 << 20, 1 << 22}, 4096, 1 << 26, kGroup),
                                 constant("pairs", "diagonals on each side of the main one", 5, 1, 64),
                                 constant("band", "half the band is this part of the unknowns", 16, 2, 64),
                                 sized("iterations", "iterations; the published size has 100", {10, 10, 8}, 1, 1000)})};
}

}  // namespace

constinit const CatalogEntry kJacobi{info, replicated::construct_form<Jacobi, replicated::make_jacobi>};

}  // namespace nearfar
