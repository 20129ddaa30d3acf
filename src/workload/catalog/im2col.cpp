// Im2col: unrolling of images into a matrix (DNNMark's layer as in MGPUSim; in the studies of Trans-FW and IDYLL).
// Scatter-gather: a wavefront gathers eight positions of the kernel at eight places of an image and stores eight short
// rows far apart. GPUs have bands of positions, so that two of them read each page of the images.
#include "workload/catalog/im2col.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kSide = 8;  // of a workgroup

}  // namespace

Unrolling::Unrolling(const Parameters& parameters)
    : batch(parameters.u32("batch")),
      channels(parameters.u32("channels")),
      side(parameters.u32("side")),
      kernel(parameters.u32("kernel")),
      pad(parameters.u32("pad")),
      stride(parameters.u32("stride")) {
  if (side + 2 * pad < kernel) parameters.refuse("kernel", "must fit into the padded image", side + 2 * pad);
  result_side = (side + 2 * pad - kernel) / stride + 1;
  rows = std::uint64_t{channels} * kernel * kernel;
  columns = batch * result_side * result_side;
}

Unrolling::Unrolling(const Sizes& sizes)
    : batch(static_cast<std::uint32_t>(sizes.batch)),
      channels(static_cast<std::uint32_t>(sizes.channels)),
      side(static_cast<std::uint32_t>(sizes.side)),
      kernel(static_cast<std::uint32_t>(sizes.kernel)),
      pad(static_cast<std::uint32_t>(sizes.pad)),
      stride(static_cast<std::uint32_t>(sizes.stride)),
      dilation(static_cast<std::uint32_t>(sizes.dilation)),
      result_side(sizes.result_side),
      rows(sizes.channels * sizes.kernel * sizes.kernel),
      columns(sizes.batch * sizes.result_side * sizes.result_side) {}

Launch Unrolling::launch() const {
  return {.kernel = "im2col",
          .groups_x = static_cast<std::uint32_t>((columns + kSide - 1) / kSide),
          .groups_y = static_cast<std::uint32_t>((rows + kSide - 1) / kSide),
          .size_x = kSide,
          .size_y = kSide,
          .split = Split::Blocks};
}

namespace {

/// An index taken apart into a place of a rectangle and which rectangle it is of; the next costs no division.
struct Cursor {
  std::uint64_t width, height;
  std::uint64_t x, y, rectangle;

  Cursor(std::uint64_t index, std::uint64_t w, std::uint64_t h)
      : width(w), height(h), x(index % w), y(index / w % h), rectangle(index / w / h) {}

  void advance() {
    if (++x < width) return;
    x = 0;
    if (++y < height) return;
    y = 0;
    ++rectangle;
  }
};

/// A wavefront's columns and rows, taken apart once for each of them, not for each item.
struct Block {
  struct Place {
    std::uint32_t image;  ///< its first float
    std::int16_t x, y;    ///< upper left corner of the kernel
  };
  struct Position {
    std::uint32_t channel;  ///< its first float
    std::int16_t x, y;      ///< in the kernel
  };

  std::uint64_t column, row;  ///< of lane 0
  std::uint32_t lanes;
  std::array<Place, kSide> places;
  std::array<Position, kSide> positions;

  Block(const Unrolling& shape, const Wave& wave)
      : column(std::uint64_t{kSide} * wave.group_x),
        row(std::uint64_t{kSide} * wave.group_y + wave.local(0) / kSide),
        lanes(wave.lanes) {
    const std::uint64_t plane = std::uint64_t{shape.side} * shape.side;
    const auto corner = [&](std::uint64_t place) {
      return static_cast<std::int16_t>(static_cast<std::int64_t>(place * shape.stride) - shape.pad);
    };
    Cursor place(column, shape.result_side, shape.result_side), position(row, shape.kernel, shape.kernel);
    for (std::uint32_t i = 0; i < kSide; ++i, place.advance(), position.advance()) {
      places[i] = {static_cast<std::uint32_t>(place.rectangle * shape.channels * plane), corner(place.x),
                   corner(place.y)};
      positions[i] = {static_cast<std::uint32_t>(position.rectangle * plane),
                      static_cast<std::int16_t>(position.x * shape.dilation),
                      static_cast<std::int16_t>(position.y * shape.dilation)};
    }
  }
};

Stream unroll_block(const Unrolling& shape, VirtAddr input, VirtAddr output, Block at) {
  const auto pixel = load(4, [&](unsigned lane) {
    const Block::Place& place = at.places[lane % kSide];
    const Block::Position& position = at.positions[lane / kSide];
    const auto x = static_cast<std::uint32_t>(place.x + position.x);
    const auto y = static_cast<std::uint32_t>(place.y + position.y);
    if (x >= shape.side || y >= shape.side) return kIdle;  // beyond the image, also on the left and above
    if (at.column + lane % kSide >= shape.columns || at.row + lane / kSide >= shape.rows) return kIdle;
    return input + 4 * (std::uint64_t{place.image} + position.channel + y * shape.side + x);
  });
  const auto result = store(4, [&](unsigned lane) {
    const std::uint64_t column = at.column + lane % kSide, row = at.row + lane / kSide;
    return column < shape.columns && row < shape.rows ? output + 4 * (row * shape.columns + column) : kIdle;
  });

  co_yield salu(28);
  co_yield valu(71);
  if (at.row >= shape.rows) co_return;
  co_yield valu(93);
  co_yield salu(3);
  co_yield valu(8);
  if (anybody(pixel, at.lanes)) co_yield pixel;
  co_yield valu(2);
  co_yield wait(0);
  co_yield valu(6);
  co_yield result;
  co_yield salu(1);
}

}  // namespace

Stream unroll(const Unrolling& shape, VirtAddr input, VirtAddr output, const Wave& wave) {
  return unroll_block(shape, input, output, Block(shape, wave));
}

std::vector<WorkloadParameter> unrolling_parameters(const std::array<std::uint64_t, 3>& batch,
                                                    const std::array<std::uint64_t, 3>& side) {
  return {sized("batch", "images", batch, 1, 1024),
          constant("channels", "channels of an image", 3, 1, 1024),
          sized("side", "pixels on a side of an image", side, 8, 4096),
          constant("kernel", "pixels on a side of the kernel", 3, 1, 64),
          constant("pad", "pixels of padding around an image", 1, 0, 64),
          constant("stride", "pixels from one place of the kernel to the next", 1, 1, 64)};
}

namespace {

class Im2col final : public Workload {
 public:
  explicit Im2col(const Parameters& parameters)
      : shape_(parameters),
        input_(allocate("input", 4 * shape_.input_floats(), Placement::Interleave)),
        output_(allocate("output", 4 * shape_.rows * shape_.columns, Placement::Interleave)) {
    add_launch(shape_.launch());
  }

  Stream wavefront(std::size_t, const Wave& wave) const override { return unroll(shape_, input_, output_, wave); }

 private:
  Unrolling shape_;
  VirtAddr input_, output_;
};

WorkloadInfo info() {
  return {
      .name = "Im2col",
      .title = "unrolling of images for a convolution",
      .suite = "DNNMark",
      .sentence = "Scatter-gather: patches of images become columns of a matrix; two GPUs read each page of images.",
      .parameters = unrolling_parameters({4, 16, 8}, {128, 256, 256})};
}

}  // namespace

constinit const CatalogEntry kIm2col{info, construct<Im2col>};

}  // namespace nearfar
