// HIT: homogeneous isotropic turbulence by Fourier transforms (Tartan; in the studies of FinePack).
// Fields of complex numbers, N × N × (N/2+1), are transformed back and forth along all three axes, with transpositions
// in between; GPUs have planes along x before the exchange and along y after it, so everybody needs everybody's.
#include <bit>

#include "workload/catalog/entries.h"
#include "workload/replicated/forms.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kTile = 16, kGroup = 64;
constexpr std::uint64_t kComplex = 8;
constexpr unsigned kFields = 6;

class Turbulence final : public Workload {
 public:
  explicit Turbulence(const Parameters& parameters) : n_(parameters["n"]), nz_(n_ / 2 + 1) {
    const std::uint64_t bytes = kComplex * n_ * n_ * nz_;
    for (unsigned i = 0; i < kFields; ++i)
      field_[i] = allocate("field" + std::to_string(i), bytes, Placement::Distribute);
    work_ = allocate("work", bytes, Placement::Distribute);
    receive_ = allocate("receive", bytes, Placement::Distribute);
    for (std::uint64_t side = 0; side < parameters["right_sides"]; ++side) {
      pointwise(2 * kFields);  // vorticity and phase shift
      for (const VirtAddr field : field_) transform(field, true);
      pointwise(kFields);  // the product of velocity and vorticity
      for (unsigned i = 0; i < kFields / 2; ++i) transform(field_[i], false);
      pointwise(kFields);  // dealiasing and the Runge-Kutta step
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const Step& step = steps_[launch];
    switch (step.kernel) {
      case Kernel::Transpose: return transpose(step, wave);
      case Kernel::Swap: return swap(step, wave.item(0), live_lanes(wave, n_ * n_ * nz_));
      case Kernel::Rows: return fft_rows(step, wave.group_x, wave.local(0), live_lanes(wave));
      case Kernel::Columns: return fft_columns(step, wave.item(0), live_lanes(wave, n_ * nz_));
      case Kernel::Pointwise: break;
    }
    return touch(step, wave.item(0), live_lanes(wave, n_ * n_ * nz_));
  }

 private:
  enum class Kernel : std::uint8_t { Transpose, Swap, Rows, Columns, Pointwise };

  struct Step {
    Kernel kernel;
    VirtAddr from, to;
    std::uint64_t rows = 0, length = 0;  ///< of each plane; Rows: how many, and how long they are
  };

  void add(const char* name, const Step& step, std::uint64_t items, std::uint32_t group) {
    add_launch(
        linear_launch(name, items, group, Split::Offset, step.kernel == Kernel::Rows ? kComplex * step.length : 0));
    steps_.push_back(step);
  }

  /// Planes of rows × length are turned, one plane after the other.
  void add_transpose(VirtAddr from, VirtAddr to, std::uint64_t rows, std::uint64_t length) {
    add_launch({.kernel = "transpose",
                .groups_x = static_cast<std::uint32_t>((length + kTile - 1) / kTile),
                .groups_y = static_cast<std::uint32_t>((rows + kTile - 1) / kTile),
                .groups_z = static_cast<std::uint32_t>(n_),
                .size_x = kTile,
                .size_y = kTile,
                .local_bytes = kComplex * kTile * (kTile + 1),
                .split = Split::Offset,
                .split_dim = Dim::Z});
    steps_.push_back({Kernel::Transpose, from, to, rows, length});
  }

  void add_rows(VirtAddr array, std::uint64_t rows, std::uint64_t length) {
    add("fft_rows", {Kernel::Rows, array, array, rows, length}, rows * kGroup, kGroup);
  }

  /// Along y, exchanged so that planes of y come together, along x and along z; or all of it the other way.
  void transform(VirtAddr field, bool backward) {
    const auto along_y = [&](VirtAddr from, VirtAddr to) {
      add_transpose(from, work_, n_, nz_);
      add_rows(work_, n_ * nz_, n_);
      add_transpose(work_, to, nz_, n_);
    };
    const auto exchange = [&](VirtAddr from, VirtAddr to) {
      add("swap", {Kernel::Swap, from, to}, n_ * n_ * nz_, kGroup);
    };
    const auto along_x_and_z = [&] {
      add("fft_columns", {Kernel::Columns, field, field}, n_ * nz_, kGroup);
      add_rows(field, n_ * n_, nz_);
    };
    if (backward) {
      along_y(field, receive_);
      exchange(receive_, field);
      along_x_and_z();
    } else {
      along_x_and_z();
      exchange(field, receive_);
      along_y(receive_, field);
    }
  }

  void pointwise(unsigned passes) {
    for (unsigned i = 0; i < passes; ++i) {
      add("pointwise", {Kernel::Pointwise, field_[i % kFields], field_[(i + 1) % kFields]}, n_ * n_ * nz_, kGroup);
    }
  }

  Stream transpose(const Step& step, const Wave& wave) const {
    return turn_tile(step, {.plane = n_ * nz_ * wave.group_z,
                            .row = std::uint64_t{kTile} * wave.group_y,
                            .column = std::uint64_t{kTile} * wave.group_x,
                            .first = wave.local(0),
                            .lanes = wave.lanes});
  }

  struct Tile {
    std::uint64_t plane, row, column;
    std::uint32_t first, lanes;
  };

  static Stream turn_tile(const Step& step, Tile tile) {
    const auto from = load(kComplex, [&](unsigned lane) {
      const std::uint64_t row = tile.row + (tile.first + lane) / kTile,
                          column = tile.column + (tile.first + lane) % kTile;
      return row < step.rows && column < step.length ? step.from + kComplex * (tile.plane + row * step.length + column)
                                                     : kIdle;
    });
    const auto to = store(kComplex, [&](unsigned lane) {
      const std::uint64_t row = tile.row + (tile.first + lane) % kTile,
                          column = tile.column + (tile.first + lane) / kTile;
      return row < step.rows && column < step.length ? step.to + kComplex * (tile.plane + column * step.rows + row)
                                                     : kIdle;
    });
    co_yield salu(12);
    if (anybody(from, tile.lanes)) {
      co_yield from;
      co_yield wait(0);
    }
    co_yield local(1);
    co_yield barrier();
    co_yield local(1);
    co_yield valu(6);
    if (anybody(to, tile.lanes)) co_yield to;
  }

  /// (x, y, z) goes to (y, x, z).
  Stream swap(const Step& step, std::uint64_t first, std::uint32_t lanes) const {
    const auto from = load(kComplex, [&] { return Row{step.from + kComplex * first, lanes}; });
    const auto to = store(kComplex, [&](unsigned lane) {
      if (lane >= lanes) return kIdle;
      const std::uint64_t i = first + lane, row = i / nz_;
      return step.to + kComplex * ((row % n_ * n_ + row / n_) * nz_ + i % nz_);
    });
    co_yield salu(8);
    if (lanes == 0) co_return;
    co_yield from;
    co_yield wait(0);
    co_yield valu(40);
    co_yield to;
  }

  /// A workgroup has one row.
  static Stream fft_rows(const Step& step, std::uint64_t row, std::uint32_t local_id, std::uint32_t group_lanes) {
    std::uint64_t first = local_id;
    const auto part = [&] {
      const auto left = static_cast<std::uint32_t>(std::min<std::uint64_t>(step.length - first, group_lanes));
      return Row{step.from + kComplex * (row * step.length + first), left};
    };
    const auto from = load(kComplex, part);
    const auto to = store(kComplex, part);
    const auto levels = static_cast<unsigned>(std::bit_width(step.length - 1));
    co_yield salu(8);
    for (; first < step.length; first += kGroup) co_yield from;
    co_yield wait(0);
    for (unsigned level = 0; level < levels; ++level) {
      co_yield local(2);
      co_yield valu(5);
      co_yield barrier();
    }
    for (first = local_id; first < step.length; first += kGroup) co_yield to;
  }

  /// An item has one column through all planes.
  Stream fft_columns(const Step& step, std::uint64_t first, std::uint32_t lanes) const {
    std::uint64_t plane = 0;
    const auto part = [&] { return Row{step.from + kComplex * (plane * n_ * nz_ + first), lanes}; };
    const auto from = load(kComplex, part);
    const auto to = store(kComplex, part);
    co_yield salu(8);
    if (lanes == 0) co_return;
    for (; plane < n_; ++plane) co_yield from;
    co_yield wait(0);
    co_yield valu(static_cast<unsigned>(n_ * static_cast<std::uint64_t>(std::bit_width(n_ - 1)) * 5 / 2));
    for (plane = 0; plane < n_; ++plane) co_yield to;
  }

  static Stream touch(const Step& step, std::uint64_t first, std::uint32_t lanes) {
    VirtAddr array = step.from;
    const auto from = load(kComplex, [&] { return Row{array + kComplex * first, lanes}; });
    const auto to = store(kComplex, [&] { return Row{array + kComplex * first, lanes}; });
    co_yield salu(8);
    if (lanes == 0) co_return;
    co_yield from;
    array = step.to;
    co_yield from;
    co_yield wait(0);
    co_yield valu(24);
    co_yield to;
  }

  std::uint64_t n_, nz_;
  VirtAddr field_[kFields], work_, receive_;
  std::vector<Step> steps_;  // by launch
};

WorkloadInfo info() {
  return {.name = "HIT",
          .title = "turbulence by Fourier transforms",
          .suite = "Tartan",
          .sentence = "Transpositions and Fourier transforms along three axes; every exchange is all-to-all.",
          .parameters = replicated::with_form(
              {sized("n", "points on a side of the cube", {32, 64, 128}, 16, 512, 16),
               sized("right_sides", "right-hand sides evaluated; a time step has two, the published size 256³",
                     {2, 4, 1}, 1, 1000)})};
}

}  // namespace

constinit const CatalogEntry kHit{info, replicated::construct_form<Turbulence, replicated::make_hit>};

}  // namespace nearfar
