// LU: LU decomposition in place (PolyBench; in the studies of REC).
// Every step scales the rest of a row and updates the square below it. The square shrinks, so the GPUs' bands move:
// nearly every page is read and written by all of them, and each pivot row goes to everybody.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class Lu final : public Workload {
 public:
  explicit Lu(const Parameters& parameters)
      : n_(parameters["n"]), a_(allocate("A", 4 * n_ * n_, Placement::Interleave)) {
    const std::uint64_t all = n_ - 1, places = std::min(parameters["places"], all);
    const std::uint64_t steps = parameters["steps"] == 0 ? all : parameters["steps"];
    for (std::uint64_t place = 0; place < places; ++place) {
      const std::uint64_t first = place * all / places, end = (place + 1) * all / places;
      for (std::uint64_t k = first; k < std::min(first + steps, end); ++k) add_step(k);
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const std::uint64_t k = pivots_[launch / 2];
    const std::uint64_t rest = n_ - k - 1;
    return launch % 2 == 0 ? scale(k, wave.item(0), live_lanes(wave, rest))
                           : update(k, Patch(wave, {.right = rest, .bottom = rest}));
  }

 private:
  void add_step(std::uint64_t k) {
    pivots_.push_back(k);
    add_launch(linear_launch("lu_1", n_ - k - 1, kGroup, Split::Blocks));
    add_launch(matrix_launch("lu_2", n_ - k - 1, n_ - k - 1));
  }

  VirtAddr element(std::uint64_t row, std::uint64_t column) const { return a_ + 4 * (row * n_ + column); }

  /// A[k][j] /= A[k][k] for the columns right of the pivot.
  Stream scale(std::uint64_t k, std::uint64_t first, std::uint32_t lanes) const {
    const auto rest = [&] { return Row{element(k, k + 1 + first), lanes}; };
    const auto before = load(4, rest);
    const auto after = store(4, rest);

    co_yield salu(10);
    co_yield valu(10);
    if (lanes == 0) co_return;
    co_yield before;
    co_yield scalar_load(4, element(k, k));
    co_yield wait(0);
    co_yield valu(10);
    co_yield after;
    co_yield salu(1);
  }

  /// A[i][j] -= A[i][k]·A[k][j] for the square below and right of the pivot.
  Stream update(std::uint64_t k, Patch patch) const {
    const auto own = [&] { return patch.lanes_at(element(k + 1, k + 1), 4 * n_, 4); };
    const auto before = load(4, own);
    const auto after = store(4, own);
    const auto left = load(4, [&] { return patch.lanes_at(element(k + 1, k), 4 * n_, 0); });
    const auto above = load(4, [&] { return patch.lanes_at(element(k, k + 1), 0, 4); });

    co_yield salu(12);
    co_yield valu(13);
    if (patch.empty()) co_return;
    co_yield valu(6);
    co_yield left;
    co_yield above;
    co_yield before;
    co_yield wait(0);
    co_yield valu(1);
    co_yield after;
    co_yield salu(1);
  }

  std::uint64_t n_;
  VirtAddr a_;
  std::vector<std::uint64_t> pivots_;  // of the steps that run
};

WorkloadInfo info() {
  return {.name = "LU",
          .title = "LU decomposition",
          .suite = "PolyBench",
          .sentence = "A square that shrinks from step to step: all GPUs read and write nearly all pages.",
          .parameters = {sized("n", "floats on a side of the matrix", {192, 512, 5792}, 2, 1 << 15),
                         sized("steps", "steps of the elimination that run; 0 runs them all", {0, 0, 2}, 0, 1 << 15),
                         constant("places",
                                  "places, spread evenly over the elimination, where so many steps run one after the "
                                  "other; 1 runs the first ones",
                                  1, 1, 1 << 15)}};
}

}  // namespace

constinit const CatalogEntry kLu{info, construct<Lu>};

}  // namespace nearfar
