// EQWP: propagation of seismic waves, finite differences of fourth order (Tartan; in the studies of FinePack).
// Nine fields: six stresses from three velocities, then each velocity from three stresses. A workgroup has a tile of
// 16×16 and marches through a slab; GPUs have slabs and read two planes of their neighbours'.
#include "workload/catalog/entries.h"
#include "workload/replicated/forms.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kTile = 16;
constexpr std::uint64_t kGhosts = 2;  // cells around the block on every side

class WavePropagation final : public Workload {
 public:
  explicit WavePropagation(const Parameters& parameters)
      : nx_(parameters["nx"]), ny_(parameters["ny"]), nz_(parameters["nz"]), slabs_(parameters["slabs"]) {
    if (nz_ % slabs_ != 0)
      parameters.refuse("nz", "must be a multiple of slabs", std::max(nz_ / slabs_, std::uint64_t{1}) * slabs_);
    const std::uint64_t bytes = 4 * (nx_ + 2 * kGhosts) * (ny_ + 2 * kGhosts) * (nz_ + 2 * kGhosts);
    for (std::size_t i = 0; i < std::size(velocity_); ++i) {
      velocity_[i] = allocate(std::array{"vx", "vy", "vz"}[i], bytes, Placement::Distribute);
    }
    for (std::size_t i = 0; i < std::size(stress_); ++i) {
      stress_[i] = allocate(std::array{"sxx", "sxy", "sxz", "syy", "syz", "szz"}[i], bytes, Placement::Distribute);
    }
    displacement_ = allocate("displacement", bytes, Placement::Distribute);
    for (std::uint64_t step = 0; step < parameters["steps"]; ++step) {
      for (const char* kernel : {"stress", "velocity_x", "velocity_y", "velocity_z"}) {
        add_launch({.kernel = kernel,
                    .groups_x = static_cast<std::uint32_t>((nx_ + kTile - 1) / kTile),
                    .groups_y = static_cast<std::uint32_t>((ny_ + kTile - 1) / kTile),
                    .groups_z = static_cast<std::uint32_t>(slabs_),
                    .size_x = kTile,
                    .size_y = kTile,
                    .local_bytes = 3 * 5 * sizeof(float) * (kTile + 4) * (kTile + 4),
                    .split = Split::Offset,
                    .split_dim = Dim::Z});
      }
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const std::uint64_t planes = nz_ / slabs_;
    const At at{.x = std::uint64_t{kTile} * wave.group_x,
                .y = std::uint64_t{kTile} * wave.group_y,
                .z = planes * wave.group_z,
                .end = planes * (wave.group_z + 1),
                .first = wave.local(0),
                .lanes = wave.lanes};
    return launch % 4 == 0 ? stress(at) : velocity(static_cast<unsigned>(launch % 4 - 1), at);
  }

 private:
  /// Which lanes of the tile take part, and how far off their cell is: those at one side load the cell two farther out.
  struct Part {
    std::uint32_t left, top, right, bottom;
    std::int64_t dx, dy;
  };
  static constexpr std::uint32_t kSides = 4, kOwn = kSides;
  static constexpr Part kParts[kSides + 1] = {{0, 0, 2, kTile, -2, 0},
                                              {kTile - 2, 0, kTile, kTile, 2, 0},
                                              {0, 0, kTile, 2, 0, -2},
                                              {0, kTile - 2, kTile, kTile, 0, 2},
                                              {0, 0, kTile, kTile, 0, 0}};

  struct At {
    std::uint64_t x, y, z, end;  ///< the tile's corner, the plane, and the one behind the slab
    std::uint32_t first, lanes;
    VirtAddr field{};
    std::uint32_t part = kOwn;
    std::int64_t ahead = 0;  ///< planes from z
  };

  /// The cells of the wavefront's lanes: the rows of its part of the tile that are in the grid. None: no lanes.
  Rows cells(const At& at) const {
    const Part& part = kParts[at.part];
    const std::uint32_t first_row = at.first / kTile;
    const std::uint32_t top = std::max(part.top, first_row);
    const std::uint64_t right = std::min<std::uint64_t>(part.right, nx_ - at.x);
    const std::uint64_t bottom = std::min<std::uint64_t>({part.bottom, ny_ - at.y, first_row + at.lanes / kTile});
    if (part.left >= right || top >= bottom) return {};
    const std::uint64_t row = nx_ + 2 * kGhosts;
    const std::uint64_t x = at.x + part.left + kGhosts + static_cast<std::uint64_t>(part.dx);
    const std::uint64_t y = at.y + top + kGhosts + static_cast<std::uint64_t>(part.dy);
    const std::uint64_t z = at.z + kGhosts + static_cast<std::uint64_t>(at.ahead);
    return {.first = at.field + 4 * ((z * (ny_ + 2 * kGhosts) + y) * row + x),
            .lanes = static_cast<std::uint32_t>(right) - part.left,
            .rows = static_cast<std::uint32_t>(bottom) - top,
            .width = kTile,
            .step = 4,
            .pitch = 4 * row,
            .lane = (top - first_row) * kTile + part.left};
  }

  /// Which parts of the tile this wavefront has lanes in, as bits.
  std::uint32_t parts_of(At at) const {
    std::uint32_t parts = 0;
    for (at.part = 0; at.part <= kOwn; ++at.part) {
      if (cells(at).lanes != 0) parts |= 1U << at.part;
    }
    return parts;
  }

  Stream stress(At at) const {
    const auto from = load(4, [&] { return cells(at); });
    const auto to = store(4, [&] { return cells(at); });

    co_yield salu(20);
    const std::uint32_t parts = parts_of(at);
    const bool alive = (parts >> kOwn & 1) != 0;
    for (const VirtAddr field : velocity_) {  // fill the pipeline
      at.field = field;
      for (at.ahead = -2; at.ahead < 2; ++at.ahead) {
        if (alive) co_yield from;
      }
    }
    for (; at.z < at.end; ++at.z) {
      for (const VirtAddr field : velocity_) {
        at.field = field;
        at.part = kOwn;
        at.ahead = 2;
        if (alive) co_yield from;
        at.ahead = 0;
        for (at.part = 0; at.part < kSides; ++at.part) {
          if ((parts >> at.part & 1) != 0) co_yield from;
        }
      }
      co_yield wait(0);
      co_yield local(27);
      co_yield barrier();
      co_yield local(36);
      co_yield valu(130);
      at.part = kOwn;
      for (unsigned i = 0; alive && i < 6; ++i) {
        at.field = stress_[i];
        co_yield from;
        co_yield wait(0);
        co_yield to;
      }
      co_yield barrier();
    }
  }

  Stream velocity(unsigned component, At at) const {
    // Which stresses a component needs: its row of the symmetric tensor.
    constexpr unsigned kTensor[3][3] = {{0, 1, 2}, {1, 3, 4}, {2, 4, 5}};
    const auto from = load(4, [&] { return cells(at); });
    const auto to = store(4, [&] { return cells(at); });

    co_yield salu(20);
    const std::uint32_t parts = parts_of(at);
    const bool alive = (parts >> kOwn & 1) != 0;
    for (; at.z < at.end; ++at.z) {
      at.part = kOwn;
      for (unsigned i = 0; i < 3; ++i) {
        at.field = stress_[kTensor[component][i]];
        at.ahead = i == 2 ? 2 : 0;  // only the derivative along z needs other planes, which the pipeline holds
        if (alive) co_yield from;
      }
      at.ahead = 0;
      for (at.part = 0; at.part < kSides; ++at.part) {
        at.field = stress_[kTensor[component][at.part / 2]];
        if ((parts >> at.part & 1) != 0) co_yield from;
      }
      co_yield wait(0);
      co_yield local(4);
      co_yield barrier();
      co_yield local(8);
      co_yield valu(40);
      at.part = kOwn;
      for (unsigned i = 0; alive && i < (component == 1 ? 2 : 1); ++i) {  // along y the displacement too
        at.field = i == 0 ? velocity_[component] : displacement_;
        co_yield from;
        co_yield wait(0);
        co_yield to;
      }
      co_yield barrier();
    }
  }

  std::uint64_t nx_, ny_, nz_, slabs_;
  VirtAddr velocity_[3], stress_[6], displacement_;
};

WorkloadInfo info() {
  return {
      .name = "EQWP",
      .title = "propagation of seismic waves",
      .suite = "Tartan",
      .sentence = "A stencil over nine fields that marches through slabs; GPUs share two planes on each side.",
      .parameters = replicated::with_form(
          {sized("nx", "cells along x", {64, 128, 500}, 4, 2048), sized("ny", "cells along y", {32, 32, 40}, 4, 2048),
           sized("nz", "cells along z, a multiple of slabs", {64, 128, 500}, 4, 2048),
           constant("slabs", "pieces along z that are marched through on their own", 4, 1, 64),
           sized("steps", "time steps; the published size has 600", {1, 4, 1}, 1, 1000)})};
}

}  // namespace

constinit const CatalogEntry kEqwp{info, replicated::construct_form<WavePropagation, replicated::make_eqwp>};

}  // namespace nearfar
