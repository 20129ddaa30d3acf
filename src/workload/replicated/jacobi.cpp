// Jacobi on replicated data: the vector of unknowns. A rank has a slice of the rows; its neighbours read that slice
// within half the band from their borders, in whole lines.
#include "workload/replicated/forms.h"
#include "workload/replicated/program.h"

namespace nearfar::replicated {
namespace {

constexpr std::uint32_t kGroup = 256;
constexpr std::uint64_t kStep = 32;  // offsets of diagonals are multiples of it

class Jacobi final : public Program {
 public:
  explicit Jacobi(const Parameters& parameters)
      : Program(parameters),
        rows_{parameters["n"], ranks()},
        pairs_(parameters["pairs"]),
        half_band_(rows_.total / parameters["band"]),
        a_(replicate("A", 4 * rows_.length() * (2 * pairs_ + 1))),
        b_(replicate("b", 4 * rows_.length())),
        x_(replicate("x", 4 * rows_.total)),
        next_x_(replicate("next_x", 4 * rows_.total)) {
    for (std::uint64_t i = 0; i < parameters["iterations"]; ++i) {
      add_on_each(linear_launch("jacobi", rows_.length(), kGroup, Split::Offset));
      publish(i % 2 == 0 ? next_x_ : x_, [&](std::uint64_t from, std::uint64_t to) {
        const Interval rows = published(from, to);
        return Interval{4 * rows.begin, 4 * rows.end};
      });
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const Interval own = rows_.of(wave.group_z);
    const std::uint64_t first = own.begin + wave.item(0);
    const At at{.rank = wave.group_z, .first = first, .end = std::min(own.end, first + wave.lanes)};
    return launch % 2 == 0 ? relax(x_, next_x_, at) : relax(next_x_, x_, at);
  }

 private:
  struct At {
    std::uint64_t rank, first, end;  ///< rows of the wavefront
    std::uint64_t diagonal = 0;
    std::int64_t away = 0;
    Interval read{};  ///< rows that a peer reads
    std::uint64_t to = 0;

    std::uint32_t lanes() const { return static_cast<std::uint32_t>(end - first); }
  };

  /// The band reaches so far beyond a rank's own rows.
  Interval reads(std::uint64_t rank) const {
    const Interval own = rows_.of(rank);
    const std::uint64_t reach = kStep * (half_band_ / kStep);
    return {own.begin - std::min(own.begin, reach), std::min(own.end + reach, rows_.total)};
  }
  Interval published(std::uint64_t from, std::uint64_t to) const { return overlap(rows_.of(from), reads(to)); }

  /// 0, then one above and one below the diagonal in turn, farther and farther out.
  std::int64_t offset(std::uint64_t diagonal) const {
    const std::uint64_t k = (diagonal + 1) / 2;
    const auto away = static_cast<std::int64_t>(kStep * (k * half_band_ / (kStep * pairs_)));
    return diagonal % 2 == 0 ? -away : away;
  }

  /// The unknown that a lane's entry is multiplied with; beyond the last one where there is none.
  std::uint64_t unknown(const At& at, unsigned lane) const {
    return at.first + lane < at.end ? at.first + lane + static_cast<std::uint64_t>(at.away) : rows_.total;
  }

  Stream relax(Replicas x, Replicas next_x, At at) const {
    const auto entry = load(4, [&](unsigned lane) {
      const std::uint64_t row = at.first - rows_.of(at.rank).begin + lane;
      return unknown(at, lane) < rows_.total ? a_.on(at.rank) + 4 * (at.diagonal * rows_.length() + row) : kIdle;
    });
    const auto factor = load(4, [&](unsigned lane) {
      const std::uint64_t i = unknown(at, lane);
      return i < rows_.total ? x.on(at.rank) + 4 * i : kIdle;
    });
    const auto right_side = load(4, [&] {
      return Row{b_.on(at.rank) + 4 * (at.first - rows_.of(at.rank).begin), at.lanes()};
    });
    const auto result = store(4, [&] { return Row{next_x.on(at.rank) + 4 * at.first, at.lanes()}; });
    const auto to_peer = store(4, [&](unsigned lane) {
      const std::uint64_t row = at.first + lane;
      return row < at.end && at.read.has(row) ? next_x.on(at.to) + 4 * row : kIdle;
    });

    co_yield salu(12);
    if (at.first >= at.end) co_return;
    for (; at.diagonal < 2 * pairs_ + 1; ++at.diagonal) {
      at.away = offset(at.diagonal);
      if (!anybody(entry, at.lanes())) continue;
      co_yield entry;
      co_yield factor;
    }
    co_yield right_side;
    co_yield wait(0);
    co_yield valu(static_cast<unsigned>(2 * (2 * pairs_ + 1) + 12));
    co_yield result;
    for (std::uint64_t k = 1; k <= stored_peers(); ++k) {
      at.to = peer(at.rank, k);
      at.read = published(at.rank, at.to);
      if (anybody(to_peer, at.lanes())) co_yield to_peer;
    }
    co_yield salu(1);
  }

  Parts rows_;
  std::uint64_t pairs_, half_band_;
  Replicas a_, b_, x_, next_x_;
};

}  // namespace

std::shared_ptr<const Workload> make_jacobi(const Parameters& parameters, std::uint64_t) {
  return std::make_shared<Jacobi>(parameters);
}

}  // namespace nearfar::replicated
