// ALS on replicated factors. A rank has a slice of the rows of each side; a lane gathers the factors of its row's
// neighbours, solves for its own, and stores these to everybody: every rank's copy is whole after each half iteration.
#include "workload/graph_input.h"
#include "workload/replicated/forms.h"
#include "workload/replicated/graph_part.h"
#include "workload/replicated/program.h"

namespace nearfar::replicated {
namespace {

constexpr std::uint32_t kGroup = 128;
constexpr std::uint32_t kVector = 4;               // floats that a load or store of Cholesky's has
constexpr std::uint32_t kMostArithmetic = 50'000;  // instructions of one operation

class AlternatingLeastSquares final : public Program {
 public:
  AlternatingLeastSquares(const Parameters& parameters, std::uint64_t seed)
      : Program(parameters),
        ratings_(make_graph(parameters, seed, {.symmetric = true})),
        rows_{ratings_.vertices(), ranks()},
        factors_(parameters.u32("factors")),
        sweeps_(parameters["solver"] == 0 ? parameters.u32("sweeps") : 0) {
    for (unsigned side = 0; side < 2; ++side) {
      const char* names[2][4] = {{"row", "row_col", "row_val", "x"}, {"column", "column_row", "column_val", "theta"}};
      const std::uint64_t entries = 4 * most_entries(ratings_, rows_);
      sides_[side] = {.stored = {replicate(names[side][0], 8 * (rows_.length() + 1)),
                                 replicate(names[side][1], entries), replicate(names[side][2], entries)},
                      .factors = replicate(names[side][3], std::uint64_t{4} * factors_ * rows_.total)};
    }
    for (std::uint64_t half = 0; half < parameters["halves"]; ++half) {
      add_on_each(linear_launch(half % 2 == 0 ? "update_x" : "update_theta", rows_.length(), kGroup, Split::Offset));
      publish(sides_[half % 2].factors, [&](std::uint64_t from, std::uint64_t) {
        const Interval own = rows_.of(from);
        return Interval{4 * factors_ * own.begin, 4 * factors_ * own.end};
      });
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const Interval own = rows_.of(wave.group_z);
    const std::uint64_t first = own.begin + wave.item(0);
    return update({.own = &sides_[launch % 2],
                   .others = &sides_[1 - launch % 2].factors,
                   .rank = wave.group_z,
                   .first = static_cast<std::uint32_t>(first),
                   .lanes = first < own.end
                                ? static_cast<std::uint32_t>(std::min<std::uint64_t>(wave.lanes, own.end - first))
                                : 0});
  }

 private:
  /// The ratings by row or by column (they are symmetric), and the factors found from them.
  struct Side {
    RowArrays stored;
    Replicas factors;
  };

  struct At {
    const Side* own;
    const Replicas* others;  ///< the factors of the other side
    std::uint32_t rank, first, lanes, step = 0;
    std::uint32_t part =
        0;  ///< vector of a neighbour's factors, or which of the own factors; 1 for a row's end, and for values
    std::uint32_t to = 0;  ///< whose copy is stored to
  };

  bool rating_of(const At& at, unsigned lane, std::uint64_t& rating) const {
    if (lane >= at.lanes) return false;
    rating = std::uint64_t{ratings_.row[at.first + lane]} + at.step;
    return rating < ratings_.row[at.first + lane + 1];
  }

  VirtAddr in_array(const At& at, unsigned lane, const Replicas& array) const {
    std::uint64_t rating = 0;
    return rating_of(at, lane, rating) ? array.on(at.rank) + 4 * own_entry(ratings_, rows_, at.rank, rating) : kIdle;
  }

  VirtAddr own_factor(const At& at, unsigned lane, const Replicas& factors, std::uint32_t factor) const {
    if (lane >= at.lanes) return kIdle;
    return factors.on(at.to) + 4 * ((std::uint64_t{at.first} + lane) * factors_ + factor);
  }

  Stream update(At at) const {
    const auto bounds = load(8, [&](unsigned lane) {
      const std::uint64_t row = std::uint64_t{at.first} + lane - rows_.of(at.rank).begin;
      return lane < at.lanes ? at.own->stored.row.on(at.rank) + 8 * (row + at.part) : kIdle;
    });
    const auto of_rating = load(
        4, [&](unsigned lane) { return in_array(at, lane, at.part == 0 ? at.own->stored.col : at.own->stored.val); });
    const auto gather = load(4 * kVector, [&](unsigned lane) {
      std::uint64_t rating = 0;
      if (!rating_of(at, lane, rating)) return kIdle;
      return at.others->on(at.rank) +
             4 * (std::uint64_t{ratings_.col[rating]} * factors_ + kVector * std::uint64_t{at.part});
    });
    const auto one = store(4, [&](unsigned lane) { return own_factor(at, lane, at.own->factors, at.part); });
    const auto vector =
        store(4 * kVector, [&](unsigned lane) { return own_factor(at, lane, at.own->factors, kVector * at.part); });

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
      for (at.part = 0; at.part < factors_ / kVector; ++at.part) co_yield gather;
      co_yield wait(0);
      co_yield valu(factors_ * (factors_ + 1) / 2 + factors_);  // half of the Gram matrix, and the right-hand side
    }
    for (std::uint32_t sweep = 0; sweep < sweeps_; ++sweep) {
      for (at.part = 0; at.part < factors_; ++at.part) {
        co_yield valu(22);
        for (std::uint64_t k = 0; k <= stored_peers(); ++k) {
          at.to = static_cast<std::uint32_t>(peer(at.rank, k));
          co_yield one;
        }
      }
    }
    if (sweeps_ == 0) {
      for (std::uint32_t left = factors_ * factors_ * factors_ / 3; left != 0;) {  // Cholesky
        const std::uint32_t now = std::min(left, kMostArithmetic);
        left -= now;
        co_yield valu(now);
      }
      for (at.part = 0; at.part < factors_ / kVector; ++at.part) {
        for (std::uint64_t k = 0; k <= stored_peers(); ++k) {
          at.to = static_cast<std::uint32_t>(peer(at.rank, k));
          co_yield vector;
        }
      }
    }
    co_yield salu(1);
  }

  Csr ratings_;
  Parts rows_;
  std::uint32_t factors_, sweeps_;  // no sweeps: Cholesky
  Side sides_[2];
};

}  // namespace

std::shared_ptr<const Workload> make_als(const Parameters& parameters, std::uint64_t seed) {
  return std::make_shared<AlternatingLeastSquares>(parameters, seed);
}

}  // namespace nearfar::replicated
