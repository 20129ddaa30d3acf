// ALS: alternating least squares over a random geometric graph (in the studies of FinePack).
// A lane a row: it gathers the factors of every neighbour, a row of floats each, and stores its own at a stride, vector
// by vector or one by one. The two sets of factors take turns.
#include "workload/catalog/entries.h"
#include "workload/graph_input.h"
#include "workload/replicated/forms.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 128;
constexpr std::uint64_t kVector = 16;
constexpr std::uint32_t kMostArithmetic = 50'000;  // instructions of one operation

class AlternatingLeastSquares final : public Workload {
 public:
  AlternatingLeastSquares(const Parameters& parameters, std::uint64_t seed)
      : ratings_(make_graph(parameters, seed, {.symmetric = true})),
        factors_(parameters.u32("factors")),
        sweeps_(parameters["solver"] == 0 ? parameters.u32("sweeps") : 0) {
    for (unsigned side = 0; side < 2; ++side) {
      const char* names[2][4] = {{"row", "row_col", "row_val", "x"}, {"column", "column_row", "column_val", "theta"}};
      const std::uint64_t edges = std::max<std::uint64_t>(4 * ratings_.edges(), 4);
      sides_[side] = {.row = allocate(names[side][0], 8 * ratings_.row.size(), Placement::Distribute),
                      .col = allocate(names[side][1], edges, Placement::Distribute),
                      .val = allocate(names[side][2], edges, Placement::Distribute),
                      .factors = allocate(names[side][3], std::uint64_t{4} * factors_ * ratings_.vertices(),
                                          Placement::Distribute)};
    }
    for (std::uint64_t half = 0; half < parameters["halves"]; ++half) {
      add_launch(
          linear_launch(half % 2 == 0 ? "update_x" : "update_theta", ratings_.vertices(), kGroup, Split::Offset));
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    return update(sides_[launch % 2], sides_[1 - launch % 2].factors,
                  {.first = static_cast<std::uint32_t>(wave.item(0)), .lanes = live_lanes(wave, ratings_.vertices())});
  }

 private:
  /// The ratings by row or by column (they are symmetric), and the factors found from them.
  struct Side {
    VirtAddr row{}, col{}, val{}, factors{};
  };

  struct At {
    std::uint32_t first, lanes, step = 0;
    std::uint32_t part =
        0;  ///< vector of a neighbour's factors, or which of the own factors; 1 for a row's end, and for values
  };

  bool rating_of(const At& at, unsigned lane, std::uint64_t& rating) const {
    if (lane >= at.lanes) return false;
    rating = std::uint64_t{ratings_.row[at.first + lane]} + at.step;
    return rating < ratings_.row[at.first + lane + 1];
  }

  Stream update(const Side& own, VirtAddr others, At at) const {
    const auto bounds = load(8, [&](unsigned lane) {
      return lane < at.lanes ? own.row + 8 * (std::uint64_t{at.first} + lane + at.part) : kIdle;
    });
    const auto of_rating = load(4, [&](unsigned lane) {
      std::uint64_t rating = 0;
      return rating_of(at, lane, rating) ? (at.part == 0 ? own.col : own.val) + 4 * rating : kIdle;
    });
    const auto gather = load(kVector, [&](unsigned lane) {
      std::uint64_t rating = 0;
      return rating_of(at, lane, rating)
                 ? others + 4 * (std::uint64_t{ratings_.col[rating]} * factors_ + 4 * std::uint64_t{at.part})
                 : kIdle;
    });
    const auto one = store(4, [&](unsigned lane) {
      return lane < at.lanes ? own.factors + 4 * ((std::uint64_t{at.first} + lane) * factors_ + at.part) : kIdle;
    });
    const auto vector = store(kVector, [&](unsigned lane) {
      const std::uint64_t factor = (std::uint64_t{at.first} + lane) * factors_ + 4 * std::uint64_t{at.part};
      return lane < at.lanes ? own.factors + 4 * factor : kIdle;
    });

    co_yield salu(10);
    if (at.lanes == 0) co_return;
    co_yield bounds;
    at.part = 1;
    co_yield bounds;
    co_yield wait(0);
    std::uint32_t most = 0;
    for (std::uint32_t lane = 0; lane < at.lanes; ++lane) most = std::max(most, ratings_.degree(at.first + lane));
    for (; at.step < most; ++at.step) {
      for (at.part = 0; at.part < 2; ++at.part) co_yield of_rating;
      co_yield wait(1);
      for (at.part = 0; at.part < factors_ / 4; ++at.part) co_yield gather;
      co_yield wait(0);
      co_yield valu(factors_ * (factors_ + 1) / 2 + factors_);  // half of the Gram matrix, and the right-hand side
    }
    for (std::uint32_t sweep = 0; sweep < sweeps_; ++sweep) {
      for (at.part = 0; at.part < factors_; ++at.part) {
        co_yield valu(22);
        co_yield one;
      }
    }
    if (sweeps_ == 0) {
      for (std::uint32_t left = factors_ * factors_ * factors_ / 3; left != 0;) {  // Cholesky
        const std::uint32_t now = std::min(left, kMostArithmetic);
        left -= now;
        co_yield valu(now);
      }
      for (at.part = 0; at.part < factors_ / 4; ++at.part) co_yield vector;
    }
    co_yield salu(1);
  }

  Csr ratings_;
  std::uint32_t factors_, sweeps_;  // no sweeps: Cholesky
  Side sides_[2];
};

WorkloadInfo info() {
  auto parameters = graph_parameters(GraphKind::Geometric, {4096, 32768, 1 << 20}, {8 * 4096, 10 * 32768, 13 << 20});
  parameters.push_back(constant("factors", "factors of a row", 64, 4, 128, 4));
  parameters.push_back(
      constant("solver",
               "how a row's factors are found: 0 by Gauss-Seidel sweeps, which store them one by one, 1 "
               "by Cholesky's decomposition, after which they are stored once, in vectors",
               1, 0, 1));
  parameters.push_back(constant("sweeps", "Gauss-Seidel sweeps, each of which stores all factors", 2, 1, 16));
  parameters.push_back(
      sized("halves", "half iterations, one set of factors in each; the published size has 10", {2, 4, 1}, 1, 1000));
  return {.name = "ALS",
          .title = "alternating least squares",
          .suite = "FinePack",
          .sentence = "Gathers rows of factors along the edges of a graph and stores its own at the stride of a row.",
          .parameters = replicated::with_form(std::move(parameters)),
          .takes_graph = true};
}

}  // namespace

constinit const CatalogEntry kAls{info, replicated::construct_form<AlternatingLeastSquares, replicated::make_als>};

}  // namespace nearfar
