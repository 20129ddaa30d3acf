// MT: matrix transpose (AMD APP SDK).
// Scatter-gather: a workgroup turns a block of 64×64 floats in local memory, each item 4×4 of them as 16-byte vectors.
// A GPU reads a band of rows, which is its own, and writes a band of columns, which crosses everybody's pages.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kSide = 16;          // items on a side of a workgroup
constexpr std::uint32_t kBlock = 4 * kSide;  // floats on a side of its block

class Transpose final : public Workload {
 public:
  explicit Transpose(const Parameters& parameters)
      : width_(parameters["width"]),
        input_(allocate("input", 4 * width_ * width_, Placement::Distribute, kOnlyRead)),
        output_(allocate("output", 4 * width_ * width_, Placement::Distribute, kOverwritten)) {
    const auto blocks = static_cast<std::uint32_t>(width_ / kBlock);
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    add_launch({.kernel = "transpose",
                .groups_x = blocks,
                .groups_y = blocks,
                .size_x = kSide,
                .size_y = kSide,
                .local_bytes = sizeof(float) * kBlock * kBlock,
                .split = Split::Offset,
                .split_dim = Dim::X});
    if (host) add_host_read(output_);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    const std::uint64_t blocks = width_ / kBlock;
    return transpose(wave.group_x, (wave.group_x + wave.group_y) % blocks, wave.local(0));
  }

 private:
  /// Where the items' k-th vectors are in a matrix, for the block in this row and column of blocks.
  Rows vectors(VirtAddr matrix, std::uint64_t block_row, std::uint64_t block_column, std::uint64_t first,
               std::uint32_t k) const {
    const std::uint64_t row = block_row * kBlock + 4 * (first / kSide) + k;
    return rows_of(kSide, matrix + 4 * (row * width_ + block_column * kBlock), 4 * 4 * width_, 16);
  }

  Stream transpose(std::uint64_t giy, std::uint64_t gix, std::uint32_t first) const {
    std::uint32_t k = 0;
    const auto from = load(16, [&] { return vectors(input_, giy, gix, first, k); });
    const auto to = store(16, [&] { return vectors(output_, gix, giy, first, k); });

    co_yield salu(18);
    co_yield valu(48);
    for (; k < 4; ++k) {
      co_yield from;
      if (k == 0) co_yield valu(22);
      if (k == 3) co_yield valu(2);
      co_yield wait(0);
      co_yield local(1);
    }
    co_yield barrier();
    co_yield valu(4);
    co_yield local(4);
    co_yield wait(0);
    for (k = 0; k < 4; ++k) {
      constexpr unsigned kIndexing[] = {4, 12, 6, 7};
      co_yield valu(kIndexing[k]);
      co_yield to;
    }
    co_yield salu(1);
  }

  std::uint64_t width_;
  VirtAddr input_, output_;
};

WorkloadInfo info() {
  return {.name = "MT",
          .title = "matrix transpose",
          .suite = "AMD APP SDK",
          .sentence =
              "Scatter-gather: reads bands of rows and writes bands of columns; at width 2048 half of the pages "
              "are shared by two of four GPUs.",
          .parameters = {{.name = "width",
                          .sentence = "floats on a side of the matrix",
                          .small = 2048,
                          .medium = 8192,
                          .paper = 2048,
                          .minimum = kBlock,
                          .maximum = 1 << 17,
                          .step = kBlock},
                         host_parameter()}};
}

std::shared_ptr<const Workload> make(const Parameters& parameters, std::uint64_t) {
  return std::make_shared<Transpose>(parameters);
}

}  // namespace

constinit const CatalogEntry kMt{info, make};

}  // namespace nearfar
