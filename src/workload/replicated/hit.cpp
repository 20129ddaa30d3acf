// HIT on several GPUs: a rank has planes of x before an exchange and planes of y after it. Every exchange is
// all-to-all: the transposition before it stores each row of z into the block of the rank that has the row afterwards,
// which begins anywhere in a line, since rows have an odd number of elements.
#include <bit>

#include "workload/replicated/forms.h"
#include "workload/replicated/program.h"

namespace nearfar::replicated {
namespace {

constexpr std::uint32_t kTile = 16, kGroup = 64;
constexpr std::uint64_t kComplex = 8;
constexpr unsigned kFields = 6;

class Turbulence final : public Program {
 public:
  explicit Turbulence(const Parameters& parameters)
      : Program(parameters), n_(parameters["n"]), nz_(n_ / 2 + 1), planes_(n_ / ranks()) {
    const std::uint64_t bytes = kComplex * planes_ * n_ * nz_;
    for (unsigned i = 0; i < kFields; ++i) field_[i] = replicate("field" + std::to_string(i), bytes);
    work_ = replicate("work", bytes);
    blocks_ = mailbox("receive", kComplex * planes_ * planes_ * nz_);
    for (std::uint64_t side = 0; side < parameters["right_sides"]; ++side) {
      pointwise(2 * kFields);  // vorticity and phase shift
      for (const Replicas& field : field_) backward(field);
      pointwise(kFields);  // the product of velocity and vorticity
      for (unsigned i = 0; i < kFields / 2; ++i) forward(field_[i]);
      pointwise(kFields);  // dealiasing and the Runge-Kutta step
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const Kernel& kernel = kernels_[launch];
    const std::uint64_t elements = planes_ * n_ * nz_;
    switch (kernel.kind) {
      case Kind::Transpose: return turn_tile(kernel, tile_of(wave));
      case Kind::Swap: return swap(kernel, tile_of(wave));
      case Kind::Rows: return fft_rows(kernel, wave);
      case Kind::Columns: return fft_columns(kernel, wave.group_z, wave.item(0), live_lanes(wave, planes_ * nz_));
      case Kind::Pointwise: break;
    }
    return touch(kernel, wave.group_z, wave.item(0), live_lanes(wave, elements));
  }

 private:
  enum class Kind : std::uint8_t { Transpose, Swap, Rows, Columns, Pointwise };
  enum class Blocks : std::uint8_t { None, From, To };  ///< which side of a kernel is the blocks of an exchange

  struct Kernel {
    Kind kind;
    Replicas from, to;
    std::uint64_t rows = 0, length = 0;  ///< of each plane; Rows: how many a rank has, and how long they are
    Blocks blocks = Blocks::None;
  };

  void add(const char* name, const Kernel& kernel, std::uint64_t items) {
    const std::uint64_t local = kernel.kind == Kind::Rows ? kComplex * kernel.length : 0;
    add_on_each(linear_launch(name, items, kGroup, Split::Offset, local));
    kernels_.push_back(kernel);
  }

  /// Tiles of all planes of a rank.
  void add_tiles(const char* name, const Kernel& kernel, std::uint64_t local_bytes) {
    add_on_each({.kernel = name,
                 .groups_x = static_cast<std::uint32_t>((kernel.length + kTile - 1) / kTile),
                 .groups_y = static_cast<std::uint32_t>((kernel.rows + kTile - 1) / kTile),
                 .groups_z = static_cast<std::uint32_t>(planes_),
                 .size_x = kTile,
                 .size_y = kTile,
                 .local_bytes = local_bytes});
    kernels_.push_back(kernel);
    if (kernel.blocks != Blocks::To) return;
    deliver(blocks_, [&](std::uint64_t, std::uint64_t) { return kComplex * planes_ * planes_ * nz_; });
  }
  void add_transpose(const Kernel& kernel) { add_tiles("transpose", kernel, kComplex * kTile * (kTile + 1)); }
  void add_rows(const Replicas& array, std::uint64_t rows, std::uint64_t length) {
    add("fft_rows", {Kind::Rows, array, array, rows, length}, rows * kGroup);
  }
  void add_x_and_z(const Replicas& field) {
    add("fft_columns", {Kind::Columns, field, field}, planes_ * nz_);
    add_rows(field, planes_ * n_, nz_);
  }

  /// Along y, exchanged so that planes of y come together, along x and along z.
  void backward(const Replicas& field) {
    add_transpose({Kind::Transpose, field, work_, n_, nz_});
    add_rows(work_, planes_ * nz_, n_);
    add_transpose({Kind::Transpose, work_, {}, nz_, n_, Blocks::To});
    add_tiles("swap", {Kind::Swap, {}, field, n_, nz_, Blocks::From}, 0);
    add_x_and_z(field);
  }

  /// All of it the other way.
  void forward(const Replicas& field) {
    add_x_and_z(field);
    add_tiles("swap", {Kind::Swap, field, {}, n_, nz_, Blocks::To}, 0);
    add_transpose({Kind::Transpose, {}, work_, n_, nz_, Blocks::From});
    add_rows(work_, planes_ * nz_, n_);
    add_transpose({Kind::Transpose, work_, field, nz_, n_});
  }

  void pointwise(unsigned passes) {
    for (unsigned i = 0; i < passes; ++i) {
      add("pointwise", {Kind::Pointwise, field_[i % kFields], field_[(i + 1) % kFields]}, planes_ * n_ * nz_);
    }
  }

  struct Tile {
    std::uint64_t rank, plane, row, column;  ///< the plane among the rank's own
    std::uint32_t first, lanes;
  };

  Tile tile_of(const Wave& wave) const {
    return {.rank = wave.group_z / planes_,
            .plane = wave.group_z % planes_,
            .row = std::uint64_t{kTile} * wave.group_y,
            .column = std::uint64_t{kTile} * wave.group_x,
            .first = wave.local(0),
            .lanes = wave.lanes};
  }

  /// Element (plane, y, z) of an x plane in the blocks that go to the ranks by y (`stores`), or came from them.
  VirtAddr in_block(const Tile& tile, std::uint64_t y, std::uint64_t z, bool stores) const {
    const std::uint64_t other = y / planes_;
    const VirtAddr block = stores ? blocks_.slot(tile.rank, other) : blocks_.received(tile.rank, other);
    return block + kComplex * ((tile.plane * planes_ + y % planes_) * nz_ + z);
  }
  /// Element (x, plane, z) of a y plane, likewise by x.
  VirtAddr in_swapped_block(const Tile& tile, std::uint64_t x, std::uint64_t z, bool stores) const {
    const std::uint64_t other = x / planes_;
    const VirtAddr block = stores ? blocks_.slot(tile.rank, other) : blocks_.received(tile.rank, other);
    return block + kComplex * ((x % planes_ * planes_ + tile.plane) * nz_ + z);
  }
  VirtAddr in_plane(const Replicas& array, const Tile& tile, std::uint64_t place) const {
    return array.on(tile.rank) + kComplex * (tile.plane * n_ * nz_ + place);
  }

  /// Through local memory, so that both sides are touched in the order of their addresses.
  Stream turn_tile(const Kernel& kernel, Tile tile) const {
    const auto from = load(kComplex, [&](unsigned lane) {
      const std::uint64_t row = tile.row + (tile.first + lane) / kTile,
                          column = tile.column + (tile.first + lane) % kTile;
      if (row >= kernel.rows || column >= kernel.length) return kIdle;
      return kernel.blocks == Blocks::From ? in_block(tile, row, column, false)
                                           : in_plane(kernel.from, tile, row * kernel.length + column);
    });
    const auto to = store(kComplex, [&](unsigned lane) {
      const std::uint64_t row = tile.row + (tile.first + lane) % kTile,
                          column = tile.column + (tile.first + lane) / kTile;
      if (row >= kernel.rows || column >= kernel.length) return kIdle;
      return kernel.blocks == Blocks::To ? in_block(tile, column, row, true)
                                         : in_plane(kernel.to, tile, column * kernel.rows + row);
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

  /// Rows of z change their place: from blocks of x planes to y planes, or back.
  Stream swap(const Kernel& kernel, Tile tile) const {
    const auto place = [&](bool stores, unsigned lane) {
      const std::uint64_t x = tile.row + (tile.first + lane) / kTile, z = tile.column + (tile.first + lane) % kTile;
      if (x >= n_ || z >= nz_) return kIdle;
      const bool block = stores == (kernel.blocks == Blocks::To);
      return block ? in_swapped_block(tile, x, z, stores)
                   : in_plane(stores ? kernel.to : kernel.from, tile, x * nz_ + z);
    };
    const auto from = load(kComplex, [&](unsigned lane) { return place(false, lane); });
    const auto to = store(kComplex, [&](unsigned lane) { return place(true, lane); });
    co_yield salu(12);
    if (!anybody(from, tile.lanes)) co_return;
    co_yield from;
    co_yield wait(0);
    co_yield valu(6);
    co_yield to;
  }

  /// A workgroup has one row.
  static Stream fft_rows(const Kernel& kernel, Wave wave) {
    std::uint64_t first = wave.local(0);
    const auto part = [&] {
      const auto left = static_cast<std::uint32_t>(std::min<std::uint64_t>(kernel.length - first, live_lanes(wave)));
      return Row{kernel.from.on(wave.group_z) + kComplex * (wave.group_x * kernel.length + first), left};
    };
    const auto from = load(kComplex, part);
    const auto to = store(kComplex, part);
    const auto levels = static_cast<unsigned>(std::bit_width(kernel.length - 1));
    co_yield salu(8);
    for (; first < kernel.length; first += kGroup) co_yield from;
    co_yield wait(0);
    for (unsigned level = 0; level < levels; ++level) {
      co_yield local(2);
      co_yield valu(5);
      co_yield barrier();
    }
    for (first = wave.local(0); first < kernel.length; first += kGroup) co_yield to;
  }

  /// An item has one column of x in a plane of y; items stand along z, plane after plane.
  Stream fft_columns(const Kernel& kernel, std::uint64_t rank, std::uint64_t first, std::uint32_t lanes) const {
    std::uint64_t x = 0;
    const auto part = [&](unsigned lane) {
      const std::uint64_t item = first + lane;
      if (lane >= lanes) return kIdle;
      return kernel.from.on(rank) + kComplex * ((item / nz_ * n_ + x) * nz_ + item % nz_);
    };
    const auto from = load(kComplex, part);
    const auto to = store(kComplex, part);
    co_yield salu(8);
    if (lanes == 0) co_return;
    for (; x < n_; ++x) co_yield from;
    co_yield wait(0);
    co_yield valu(static_cast<unsigned>(n_ * static_cast<std::uint64_t>(std::bit_width(n_ - 1)) * 5 / 2));
    for (x = 0; x < n_; ++x) co_yield to;
  }

  static Stream touch(const Kernel& kernel, std::uint64_t rank, std::uint64_t first, std::uint32_t lanes) {
    Replicas array = kernel.from;
    const auto part = [&] { return Row{array.on(rank) + kComplex * first, lanes}; };
    const auto from = load(kComplex, part);
    const auto to = store(kComplex, part);
    co_yield salu(8);
    if (lanes == 0) co_return;
    co_yield from;
    array = kernel.to;
    co_yield from;
    co_yield wait(0);
    co_yield valu(24);
    co_yield to;
  }

  std::uint64_t n_, nz_, planes_;  // points on a side; elements of a row; planes of a rank
  Replicas field_[kFields], work_;
  Mailbox blocks_;
  std::vector<Kernel> kernels_;  // by launch
};

}  // namespace

std::shared_ptr<const Workload> make_hit(const Parameters& parameters, std::uint64_t) {
  return std::make_shared<Turbulence>(parameters);
}

}  // namespace nearfar::replicated
