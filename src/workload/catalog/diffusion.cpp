// Diffusion: the heat equation on a cube of doubles, in three Runge-Kutta substeps (Tartan; in the studies of
// FinePack). A stencil of fourth order: an item walks up through planes with the column in registers and loads the
// neighbours in its plane. GPUs have slabs and read three planes of their neighbours'.
#include "workload/catalog/entries.h"
#include "workload/replicated/forms.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kGhosts = 3;  // planes below and above, and cells at the rim of a plane that stay as they are
constexpr std::uint32_t kTileX = 64, kTileY = 4, kBlock = 8, kCopyGroup = 256;

class Diffusion final : public Workload {
 public:
  explicit Diffusion(const Parameters& parameters)
      : n_(parameters["n"]),
        pitch_((8 * n_ + 511) / 512 * 64),
        walk_(std::min<std::uint64_t>(n_ / 4, 16)),
        substeps_(parameters["substeps"]),
        u_(allocate("u", 8 * elements(), Placement::Distribute)),
        old_(allocate("uo", 8 * elements(), Placement::Distribute)),
        laplacian_(allocate("Lu", 8 * elements(), Placement::Distribute)) {
    const auto up = [](std::uint64_t value, std::uint64_t unit) {
      return static_cast<std::uint32_t>((value + unit - 1) / unit);
    };
    for (std::uint64_t step = 0; step < parameters["steps"]; ++step) {
      add_launch(linear_launch("copy", elements(), kCopyGroup, Split::Offset));
      for (std::uint64_t substep = 0; substep < substeps_; ++substep) {
        add_launch({.kernel = "laplacian",
                    .groups_x = up(n_, kTileX),
                    .groups_y = up(n_, kTileY),
                    .groups_z = up(n_, walk_),
                    .size_x = kTileX,
                    .size_y = kTileY,
                    .split = Split::Offset,
                    .split_dim = Dim::Z});
        add_launch({.kernel = "runge_kutta",
                    .groups_x = up(n_, kBlock),
                    .groups_y = up(n_, kBlock),
                    .groups_z = up(n_, kBlock),
                    .size_x = kBlock,
                    .size_y = kBlock * kBlock,  // rows of a plane, plane after plane
                    .split = Split::Offset,
                    .split_dim = Dim::Z});
      }
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const std::size_t kernel = launch % (1 + 2 * substeps_);
    if (kernel == 0) return copy(wave.item(0), live_lanes(wave, elements()));
    if (kernel % 2 == 0) return runge_kutta(kernel > 2, wave);
    return walk({.x = std::uint64_t{kTileX} * wave.group_x + wave.local_x(0),
                 .y = std::uint64_t{kTileY} * wave.group_y + wave.local_y(0),
                 .z = walk_ * wave.group_z,
                 .end = std::min(n_, walk_ * (wave.group_z + 1)),
                 .lanes = wave.lanes});
  }

 private:
  std::uint64_t elements() const { return pitch_ * n_ * (n_ + 2 * kGhosts); }
  VirtAddr cell(VirtAddr grid, std::uint64_t x, std::uint64_t y, std::uint64_t z) const {
    return grid + 8 * (((z + kGhosts) * n_ + y) * pitch_ + x);
  }
  bool inside(std::uint64_t at) const { return at >= kGhosts && at < n_ - kGhosts; }

  Stream copy(std::uint64_t first, std::uint32_t lanes) const {
    const auto from = load(8, [&] { return Row{u_ + 8 * first, lanes}; });
    const auto to = store(8, [&] { return Row{old_ + 8 * first, lanes}; });
    co_yield salu(8);
    if (lanes == 0) co_return;
    co_yield from;
    co_yield wait(0);
    co_yield to;
  }

  struct At {
    std::uint64_t x, y, z, end;  ///< of lane 0; the plane behind the last of the walk
    std::uint32_t lanes;
    std::int64_t dx = 0, dy = 0, dz = 0;  ///< to the neighbour
  };

  Stream walk(At at) const {
    const auto place = [&](VirtAddr grid, unsigned lane) {
      if (!inside(at.x + lane) || !inside(at.y)) return kIdle;
      return cell(grid, at.x + lane + static_cast<std::uint64_t>(at.dx), at.y + static_cast<std::uint64_t>(at.dy),
                  at.z + static_cast<std::uint64_t>(at.dz));
    };
    const auto neighbour = load(8, [&](unsigned lane) { return place(u_, lane); });
    const auto result = store(8, [&](unsigned lane) { return place(laplacian_, lane); });

    co_yield salu(16);
    if (!anybody(neighbour, at.lanes)) co_return;
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
      co_yield salu(4);
    }
  }

  /// The first substep has no need of the old values.
  Stream runge_kutta(bool needs_old, Wave wave) const {
    VirtAddr grid = u_;
    const auto place = [&](unsigned lane) {
      const std::uint32_t local = wave.local(lane);
      return cell(grid, std::uint64_t{kBlock} * wave.group_x + local % kBlock,
                  std::uint64_t{kBlock} * wave.group_y + local / kBlock % kBlock,
                  std::uint64_t{kBlock} * wave.group_z + local / kBlock / kBlock);
    };
    const auto from = load(8, place);
    const auto to = store(8, place);
    co_yield salu(14);
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

  std::uint64_t n_, pitch_, walk_, substeps_;  // cells on a side; doubles in a row; planes of an item
  VirtAddr u_, old_, laplacian_;
};

WorkloadInfo info() {
  return {.name = "Diffusion",
          .title = "heat equation in three dimensions",
          .suite = "Tartan",
          .sentence = "A wide stencil on a cube of doubles; neighbouring GPUs share three planes on each side.",
          .parameters =
              replicated::with_form({sized("n", "cells on a side of the cube", {48, 128, 400}, 16, 1024, 16),
                                     sized("steps", "time steps; the published size has 1000", {1, 1, 1}, 1, 1000),
                                     sized("substeps", "substeps that are run of a step's three", {3, 3, 1}, 1, 3)})};
}

}  // namespace

constinit const CatalogEntry kDiffusion{info, replicated::construct_form<Diffusion, replicated::make_diffusion>};

}  // namespace nearfar
