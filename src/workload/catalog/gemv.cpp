// GEMV: A += u1·v1ᵀ + u2·v2ᵀ; x += β·Aᵀ·y + z; w += α·A·x (PolyBench's gemver; in the studies of REC).
// A is written in row bands, read in column bands and read in row bands again: most of its pages are shared by two
// GPUs, one of which writes.
#include "workload/catalog/polybench.h"

namespace nearfar {
namespace {

using namespace polybench;

class Gemver final : public Workload {
 public:
  explicit Gemver(const Parameters& parameters)
      : n_(parameters["n"]),
        a_(allocate("A", 4 * n_ * n_, Placement::Interleave)),
        u1_(allocate("u1", 4 * n_, Placement::Interleave)),
        v1_(allocate("v1", 4 * n_, Placement::Interleave)),
        u2_(allocate("u2", 4 * n_, Placement::Interleave)),
        v2_(allocate("v2", 4 * n_, Placement::Interleave)),
        x_(allocate("x", 4 * n_, Placement::Interleave)),
        y_(allocate("y", 4 * n_, Placement::Interleave)),
        z_(allocate("z", 4 * n_, Placement::Interleave)),
        w_(allocate("w", 4 * n_, Placement::Interleave)) {
    add_launch(matrix_launch("gemver_1", n_, n_));
    add_launch(vector_launch("gemver_2", n_));
    add_launch(vector_launch("gemver_3", n_));
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    switch (launch) {
      case 0: return update(Patch(wave, {.right = n_, .bottom = n_}));
      case 1:
        return column_walk({.matrix = a_, .pitch = n_, .vector = y_, .steps = n_, .sum = x_, .items = n_, .addend = z_},
                           wave);
      default: return row_walk({.matrix = a_, .pitch = n_, .vector = x_, .steps = n_, .sum = w_, .items = n_}, wave);
    }
  }

 private:
  Stream update(Patch patch) const {
    VirtAddr vector = u1_;
    const auto by_row = load(4, [&] { return patch.lanes_at(vector, 4, 0); });
    const auto by_column = load(4, [&] { return patch.lanes_at(vector, 0, 4); });
    const auto element = [&] { return patch.lanes_at(a_, 4 * n_, 4); };
    const auto before = load(4, element);
    const auto after = store(4, element);

    co_yield salu(14);
    co_yield valu(10);
    if (patch.empty()) co_return;
    co_yield before;
    co_yield valu(2);
    co_yield by_row;
    vector = v1_;
    co_yield valu(2);
    co_yield by_column;
    vector = u2_;
    co_yield valu(2);
    co_yield by_row;
    vector = v2_;
    co_yield valu(2);
    co_yield by_column;
    co_yield wait(2);
    co_yield valu(1);
    co_yield wait(0);
    co_yield valu(3);
    co_yield after;
    co_yield salu(1);
  }

  std::uint64_t n_;
  VirtAddr a_, u1_, v1_, u2_, v2_, x_, y_, z_, w_;
};

WorkloadInfo info() {
  return {.name = "GEMV",
          .title = "vector multiplication and matrix addition",
          .suite = "PolyBench",
          .sentence = "Updates a matrix in row bands, then walks down its columns and along its rows.",
          .parameters = {sized("n", "floats on a side of A", {768, 2048, 8192}, 1, 1 << 16)}};
}

}  // namespace

constinit const CatalogEntry kGemv{info, construct<Gemver>};

}  // namespace nearfar
