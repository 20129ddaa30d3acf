// Conv2d: the forward pass of a convolution layer (DNNMark's as in MGPUSim; in the studies of Trans-FW and IDYLL).
// The images are unrolled into a matrix (Im2col), which is multiplied with the filters in tiles of 16×16. GPUs have
// bands of filters: everybody reads the whole unrolled matrix.
#include "workload/catalog/im2col.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kTile = 16;

class Conv2d final : public Workload {
 public:
  explicit Conv2d(const Parameters& parameters)
      : shape_(parameters),
        m_(parameters["filters"]),
        n_(shape_.columns),
        k_(shape_.rows),
        input_(allocate("input", 4 * shape_.input_floats(), Placement::Interleave)),
        columns_(allocate("col", 4 * k_ * n_, Placement::Interleave)),
        weights_(allocate("weights", 4 * m_ * k_, Placement::Interleave)),
        bias_(allocate("bias", 4 * m_ * n_, Placement::Interleave)),
        output_(allocate("output", 4 * m_ * n_, Placement::Interleave)) {
    add_launch(shape_.launch());
    add_launch({.kernel = "gemm",
                .groups_x = static_cast<std::uint32_t>((n_ + kTile - 1) / kTile),
                .groups_y = static_cast<std::uint32_t>((m_ + kTile - 1) / kTile),
                .size_x = kTile,
                .size_y = kTile,
                .local_bytes = 2 * sizeof(float) * kTile * kTile,
                .split = Split::Blocks});
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    return launch == 0 ? unroll(shape_, input_, columns_, wave) : multiply(wave);
  }

 private:
  /// output = weights·col + bias for the wavefront's rows of one tile.
  Stream multiply(Wave wave) const {
    struct {
      std::uint64_t row, column, tile;  // of lane 0; first column of weights and row of col in the tile
      std::uint32_t first;
      std::uint32_t lanes;
    } at{std::uint64_t{kTile} * wave.group_y, std::uint64_t{kTile} * wave.group_x, 0, wave.local(0), wave.lanes};
    const auto weight = load(4, [&](unsigned lane) {
      const std::uint64_t row = at.row + (at.first + lane) / kTile, i = at.tile + (at.first + lane) % kTile;
      return row < m_ && i < k_ ? weights_ + 4 * (row * k_ + i) : kIdle;
    });
    const auto column = load(4, [&](unsigned lane) {
      const std::uint64_t i = at.tile + (at.first + lane) / kTile, x = at.column + (at.first + lane) % kTile;
      return i < k_ && x < n_ ? columns_ + 4 * (i * n_ + x) : kIdle;
    });
    const auto own = [&](VirtAddr matrix, unsigned lane) {
      const std::uint64_t row = at.row + (at.first + lane) / kTile, x = at.column + (at.first + lane) % kTile;
      return row < m_ && x < n_ ? matrix + 4 * (row * n_ + x) : kIdle;
    };
    const auto bias = load(4, [&](unsigned lane) { return own(bias_, lane); });
    const auto result = store(4, [&](unsigned lane) { return own(output_, lane); });

    const bool inside = anybody(result, at.lanes);
    co_yield salu(40);
    co_yield valu(60);
    if (inside) co_yield result;
    for (; at.tile < k_; at.tile += kTile) {
      co_yield valu(20);
      if (anybody(weight, at.lanes)) co_yield weight;
      if (anybody(column, at.lanes)) co_yield column;
      co_yield wait(0);
      co_yield local(2);
      co_yield barrier();
      co_yield local(2 * kTile);
      co_yield valu(kTile + 30);
      co_yield salu(3 * kTile + 16);
      co_yield barrier();
    }
    if (inside) {
      co_yield valu(12);
      co_yield bias;
      co_yield wait(0);
      co_yield valu(4);
      co_yield result;
    }
    co_yield salu(1);
  }

  Unrolling shape_;
  std::uint64_t m_, n_, k_;
  VirtAddr input_, columns_, weights_, bias_, output_;
};

WorkloadInfo info() {
  auto parameters = unrolling_parameters({1, 4, 2}, {128, 256, 256});
  parameters.push_back(constant("filters", "filters, channels of the result", 64, 1, 4096));
  return {.name = "Conv2d",
          .title = "convolution layer",
          .suite = "DNNMark",
          .sentence = "Unrolls images and multiplies them with filters in tiles; everybody reads the unrolled matrix.",
          .parameters = std::move(parameters)};
}

}  // namespace

constinit const CatalogEntry kConv2d{info, construct<Conv2d>};

}  // namespace nearfar
