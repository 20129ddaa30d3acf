// Conv2d: the forward pass of a convolution layer (DNNMark's as in MGPUSim; in the studies of Trans-FW and IDYLL).
// The images are unrolled into a matrix (Im2col), which is multiplied with the filters in tiles of 16×16. GPUs have
// bands of filters: everybody reads the whole unrolled matrix. The full layer also copies the images, spreads the bias
// over a matrix and turns that and the result around, an element an item with its multi-index in global memory: more
// traffic than the convolution itself.
#include "workload/catalog/im2col.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kTile = 16;
constexpr std::uint32_t kGroup = 64;

constexpr std::uint64_t kMostDimensions = 4;  // of what is turned around

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
        product_(allocate("product", 4 * m_ * n_, Placement::Interleave)) {
    const bool full = parameters["full"] == 1;
    if (full) allocate_layer();
    if (full) add_elements(Kernel::Copy, "copy", shape_.input_floats());
    add_launch(shape_.launch());
    kernels_.push_back(Kernel::Unroll);
    if (full) {
      add_elements(Kernel::Repeat, "repeat", m_ * n_);
      add_elements(Kernel::TransposeBias, "transpose", m_ * n_);
    }
    add_gemm();
    if (full) add_elements(Kernel::TransposeResult, "transpose", m_ * n_);
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    switch (kernels_[launch]) {
      case Kernel::Unroll: return unroll(shape_, input_, columns_, wave);
      case Kernel::Multiply: return multiply(wave);
      case Kernel::Copy:
        return move(given_, input_, ~std::uint64_t{0}, wave.item(0), live_lanes(wave, shape_.input_floats()));
      case Kernel::Repeat: return move(filter_bias_, repeated_, m_, wave.item(0), live_lanes(wave, m_ * n_));
      default: return transpose(kernels_[launch] == Kernel::TransposeResult, wave.item(0), live_lanes(wave, m_ * n_));
    }
  }

 private:
  enum class Kernel : std::uint8_t { Copy, Unroll, Repeat, TransposeBias, Multiply, TransposeResult };

  void allocate_layer() {
    given_ = allocate("given", 4 * shape_.input_floats(), Placement::Interleave);
    filter_bias_ = allocate("filter_bias", 4 * m_, Placement::Interleave);
    repeated_ = allocate("repeated_bias", 4 * m_ * n_, Placement::Interleave);
    output_ = allocate("output", 4 * m_ * n_, Placement::Interleave);
    index_in_ = allocate("index_in", 4 * kMostDimensions * m_ * n_, Placement::Interleave);
    index_out_ = allocate("index_out", 4 * kMostDimensions * m_ * n_, Placement::Interleave);
  }

  void add_elements(Kernel kernel, const char* name, std::uint64_t elements) {
    add_launch(linear_launch(name, elements, kGroup, Split::Blocks));
    kernels_.push_back(kernel);
  }

  void add_gemm() {
    kernels_.push_back(Kernel::Multiply);
    add_launch({.kernel = "gemm",
                .groups_x = static_cast<std::uint32_t>((n_ + kTile - 1) / kTile),
                .groups_y = static_cast<std::uint32_t>((m_ + kTile - 1) / kTile),
                .size_x = kTile,
                .size_y = kTile,
                .local_bytes = 2 * sizeof(float) * kTile * kTile,
                .split = Split::Blocks});
  }

  /// Element i from element i mod `period`.
  static Stream move(VirtAddr from, VirtAddr to, std::uint64_t period, std::uint64_t first, std::uint32_t lanes) {
    const auto source =
        load(4, [&](unsigned lane) { return lane < lanes ? from + 4 * ((first + lane) % period) : kIdle; });
    const auto result = store(4, [&] { return Row{to + 4 * first, lanes}; });
    co_yield salu(8);
    if (lanes == 0) co_return;
    co_yield valu(8);
    co_yield source;
    co_yield wait(0);
    co_yield result;
  }

  /// Where an element comes from. The bias is turned from a row for each place to a row for each filter, the result
  /// from (filter, image, place) to (image, filter, place).
  std::uint64_t source_of(bool result, std::uint64_t element) const {
    if (!result) return element % n_ * m_ + element / n_;
    const std::uint64_t area = shape_.result_side * shape_.result_side, plane = element / area;
    return (plane % m_ * shape_.batch + plane / m_) * area + element % area;
  }

  Stream transpose(bool result, std::uint64_t first, std::uint32_t lanes) const {
    struct {
      VirtAddr index;
      std::uint64_t dimensions, d;
    } at{index_out_, result ? kMostDimensions : 2, 0};
    const auto part = [&](unsigned lane) {
      return lane < lanes ? at.index + 4 * ((first + lane) * at.dimensions + at.d) : kIdle;
    };
    const auto keep = store(4, part);
    const auto recall = load(4, part);
    const auto from = load(4, [&](unsigned lane) {
      return lane < lanes ? (result ? product_ : repeated_) + 4 * source_of(result, first + lane) : kIdle;
    });
    const auto to = store(4, [&] { return Row{(result ? output_ : bias_) + 4 * first, lanes}; });

    co_yield salu(12);
    if (lanes == 0) co_return;
    for (; at.d < at.dimensions; ++at.d) {
      co_yield valu(36);
      co_yield keep;
    }
    at.index = index_in_;
    for (at.d = 0; at.d < at.dimensions; ++at.d) co_yield keep;
    for (at.d = 0; at.d < at.dimensions; ++at.d) {
      co_yield recall;
      co_yield wait(0);
      co_yield valu(4);
    }
    co_yield from;
    co_yield wait(0);
    co_yield to;
  }

  /// product = weights·col + bias for the wavefront's rows of one tile.
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
    const auto result = store(4, [&](unsigned lane) { return own(product_, lane); });

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
  VirtAddr input_, columns_, weights_, bias_, product_;
  VirtAddr given_, filter_bias_, repeated_, output_, index_in_, index_out_;  // of the full layer
  std::vector<Kernel> kernels_;                                              // by launch
};

WorkloadInfo info() {
  auto parameters = unrolling_parameters({1, 4, 2}, {128, 256, 256});
  parameters.push_back(constant("filters", "filters, channels of the result", 64, 1, 4096));
  parameters.push_back(constant("full", "1 for the whole layer: copies and transpositions too", 0, 0, 1));
  return {.name = "Conv2d",
          .title = "convolution layer",
          .suite = "DNNMark",
          .sentence = "Unrolls images and multiplies them with filters in tiles; everybody reads the unrolled matrix.",
          .parameters = std::move(parameters)};
}

}  // namespace

constinit const CatalogEntry kConv2d{info, construct<Conv2d>};

}  // namespace nearfar
