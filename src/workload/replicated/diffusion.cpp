// Diffusion on replicated borders: a rank has a slab of the cube, and of each neighbour's Laplacian the three nearest
// planes, with which it updates its own copy of these planes. The planes that neighbours read are computed first.
#include "workload/replicated/forms.h"
#include "workload/replicated/program.h"

namespace nearfar::replicated {
namespace {

constexpr std::uint64_t kGhosts = 3;  // planes below and above, and cells at the rim of a plane that stay as they are
constexpr std::uint32_t kTileX = 64, kTileY = 4, kBlock = 8, kCopyGroup = 256;
constexpr std::uint64_t kWalk = 16;

std::uint32_t up(std::uint64_t value, std::uint64_t unit) {
  return static_cast<std::uint32_t>((value + unit - 1) / unit);
}

class Diffusion final : public Program {
 public:
  explicit Diffusion(const Parameters& parameters)
      : Program(parameters),
        n_(parameters["n"]),
        pitch_((8 * n_ + 511) / 512 * 64),
        planes_(n_ / ranks()),
        substeps_(parameters["substeps"]) {
    if (planes_ < kGhosts) parameters.refuse("ranks", "each must have three planes", std::bit_floor(n_ / kGhosts));
    plan_walks();
    u_ = replicate("u", 8 * elements());
    old_ = replicate("uo", 8 * elements());
    laplacian_ = replicate("Lu", 8 * elements());
    for (std::uint64_t step = 0; step < parameters["steps"]; ++step) add_step();
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const std::size_t kernel = launch % (1 + 2 * substeps_);
    if (kernel == 0) return copy(wave.group_z, wave.item(0), live_lanes(wave, elements()));
    if (kernel % 2 == 0) return runge_kutta(kernel > 2, wave);
    const auto walks = static_cast<std::uint32_t>(walks_.size());
    const Interval& planes = walks_[wave.group_z % walks];
    return walk({.rank = wave.group_z / walks,
                 .x = std::uint64_t{kTileX} * wave.group_x + wave.local_x(0),
                 .y = std::uint64_t{kTileY} * wave.group_y + wave.local_y(0),
                 .z = planes.begin,
                 .end = planes.end,
                 .lanes = wave.lanes});
  }

 private:
  /// Whole slab with the neighbours' planes, in doubles.
  std::uint64_t elements() const { return pitch_ * n_ * (planes_ + 2 * kGhosts); }
  std::uint64_t cell(std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    return 8 * (((z + kGhosts) * n_ + y) * pitch_ + x);
  }
  bool inside(std::uint64_t at) const { return at >= kGhosts && at < n_ - kGhosts; }

  /// The planes that one item goes through: those at the borders, then the others.
  void plan_walks() {
    const std::uint64_t border = std::min(kGhosts, planes_ / 2);
    walks_ = {{0, border}, {planes_ - border, planes_}};
    for (std::uint64_t z = border; z < planes_ - border; z += kWalk) {
      walks_.push_back({z, std::min(z + kWalk, planes_ - border)});
    }
  }

  /// How many planes farther down (modulo 2^64) a plane of `from` lies in the slab of `to`, its neighbour.
  std::uint64_t shift(std::uint64_t from, std::uint64_t to) const { return to > from ? planes_ : 0 - planes_; }
  /// The planes of a rank that another one reads.
  Interval published(std::uint64_t from, std::uint64_t to) const {
    if (to == from + 1) return {planes_ - kGhosts, planes_};
    if (to + 1 == from) return {0, kGhosts};
    return {};
  }

  void add_step() {
    add_on_each(linear_launch("copy", elements(), kCopyGroup, Split::Offset));
    for (std::uint64_t substep = 0; substep < substeps_; ++substep) {
      add_on_each({.kernel = "laplacian",
                   .groups_x = up(n_, kTileX),
                   .groups_y = up(n_, kTileY),
                   .groups_z = static_cast<std::uint32_t>(walks_.size()),
                   .size_x = kTileX,
                   .size_y = kTileY});
      for_each_pair([&](std::uint64_t from, std::uint64_t to) {
        const Interval planes = published(from, to);
        if (planes.length() == 0) return;
        bring({.from = laplacian_.on(from) + cell(0, 0, planes.begin),
               .to = laplacian_.on(to) + cell(0, 0, planes.begin - shift(from, to)),
               .bytes = 8 * n_,
               .rows = kGhosts * n_,
               .pitch = 8 * pitch_});
      });
      add_on_each({.kernel = "runge_kutta",
                   .groups_x = up(n_, kBlock),
                   .groups_y = up(n_, kBlock),
                   .groups_z = up(planes_ + 2 * kGhosts, kBlock),
                   .size_x = kBlock,
                   .size_y = kBlock * kBlock});  // rows of a plane, plane after plane
    }
  }

  Stream copy(std::uint64_t rank, std::uint64_t first, std::uint32_t lanes) const {
    const auto from = load(8, [&] { return Row{u_.on(rank) + 8 * first, lanes}; });
    const auto to = store(8, [&] { return Row{old_.on(rank) + 8 * first, lanes}; });
    co_yield salu(8);
    if (lanes == 0) co_return;
    co_yield from;
    co_yield wait(0);
    co_yield to;
  }

  struct At {
    std::uint64_t rank, x, y, z, end;  ///< of lane 0; the plane behind the last of the walk
    std::uint32_t lanes;
    std::int32_t dx = 0, dy = 0, dz = 0;  ///< to the neighbour
    std::uint32_t to = 0;                 ///< whose copy is stored to
  };

  /// The cell of a lane, or its neighbour, in the slab of `at.to`.
  VirtAddr place(const Replicas& grid, const At& at, unsigned lane) const {
    if (!inside(at.x + lane) || !inside(at.y)) return kIdle;
    const auto moved = [](std::uint64_t from, std::int32_t by) {
      return from + static_cast<std::uint64_t>(std::int64_t{by});
    };
    const std::uint64_t z = moved(at.z, at.dz) - (at.to == at.rank ? 0 : shift(at.rank, at.to));
    return grid.on(at.to) + cell(moved(at.x, at.dx) + lane, moved(at.y, at.dy), z);
  }

  Stream walk(At at) const {
    const auto neighbour = load(8, [&](unsigned lane) { return place(u_, at, lane); });
    const auto result = store(8, [&](unsigned lane) { return place(laplacian_, at, lane); });

    co_yield salu(16);
    at.to = static_cast<std::uint32_t>(at.rank);
    if (at.z == at.end || !anybody(neighbour, at.lanes)) co_return;
    for (at.dz = -2; at.dz < 2; ++at.dz) co_yield neighbour;  // the column around the first plane
    for (; at.z < at.end; ++at.z) {
      at.dz = 2;
      co_yield neighbour;
      at.dz = 0;
      for (const int away : {-2, -1, 1, 2}) {
        at.dx = away;
        co_yield neighbour;
        at.dx = 0;
        at.dy = away;
        co_yield neighbour;
        at.dy = 0;
      }
      co_yield wait(0);
      co_yield valu(26);
      co_yield result;
      for (std::uint64_t k = 1; k <= stored_peers(); ++k) {
        at.to = static_cast<std::uint32_t>(peer(at.rank, k));
        if (published(at.rank, at.to).has(at.z)) co_yield result;
      }
      at.to = static_cast<std::uint32_t>(at.rank);
      co_yield salu(4);
    }
  }

  /// Whether a plane, counted from the lowest that a rank has of its neighbour's, is one of the cube's.
  bool exists(std::uint64_t rank, std::uint64_t plane) const {
    const std::uint64_t z = rank * planes_ + plane;
    return plane < planes_ + 2 * kGhosts && z >= kGhosts && z < n_ + kGhosts;
  }

  /// The first substep has no need of the old values.
  Stream runge_kutta(bool needs_old, Wave wave) const {
    const std::uint32_t blocks = up(planes_ + 2 * kGhosts, kBlock);
    Replicas grid = u_;
    const auto place = [&](unsigned lane) {
      const std::uint64_t rank = wave.group_z / blocks;
      const std::uint32_t local = wave.local(lane);
      const std::uint64_t plane = std::uint64_t{kBlock} * (wave.group_z % blocks) + local / kBlock / kBlock;
      if (!exists(rank, plane)) return kIdle;
      return grid.on(rank) + cell(std::uint64_t{kBlock} * wave.group_x + local % kBlock,
                                  std::uint64_t{kBlock} * wave.group_y + local / kBlock % kBlock, plane - kGhosts);
    };
    const auto from = load(8, place);
    const auto to = store(8, place);
    co_yield salu(14);
    if (!anybody(from, wave.lanes)) co_return;
    co_yield from;
    if (needs_old) {
      grid = old_;
      co_yield from;
    }
    grid = laplacian_;
    co_yield from;
    co_yield wait(0);
    co_yield valu(8);
    grid = u_;
    co_yield to;
    co_yield salu(1);
  }

  std::uint64_t n_, pitch_, planes_, substeps_;  // cells on a side; doubles in a row; planes of a rank
  std::vector<Interval> walks_;
  Replicas u_, old_, laplacian_;
};

}  // namespace

std::shared_ptr<const Workload> make_diffusion(const Parameters& parameters, std::uint64_t) {
  return std::make_shared<Diffusion>(parameters);
}

}  // namespace nearfar::replicated
