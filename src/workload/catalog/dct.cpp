// DCT: discrete cosine transform of 8×8 blocks (AMD APP SDK; in the studies of UMH).
// A workgroup transforms one block with a small matrix that always hits. Two blocks share each line of the image.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kSide = 8;  // of a block and its workgroup

class Dct final : public Workload {
 public:
  explicit Dct(const Parameters& parameters)
      : width_(parameters["width"]),
        third_sdk_(parameters["sdk"] == 3),
        input_(allocate("input", 4 * width_ * width_, Placement::Interleave, kOnlyRead)),
        output_(allocate("output", 4 * width_ * width_, Placement::Interleave, kOverwritten)),
        matrix_(allocate("dct8x8", 4 * kSide * kSide, Placement::Interleave, kOnlyRead)),
        transposed_(third_sdk_ ? allocate("dct8x8_transposed", 4 * kSide * kSide, Placement::Interleave, kOnlyRead)
                               : matrix_) {
    const auto blocks = static_cast<std::uint32_t>(width_ / kSide);
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    add_launch({.kernel = "dct",
                .groups_x = blocks,
                .groups_y = blocks,
                .size_x = kSide,
                .size_y = kSide,
                .local_bytes = sizeof(float) * kSide * kSide,
                .split = Split::RoundRobin});
    if (host) add_host_read(output_);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return transform({.x = std::uint64_t{kSide} * wave.group_x,
                      .y = std::uint64_t{kSide} * wave.group_y,
                      .j = wave.local(0) / kSide});
  }

 private:
  struct Block {
    std::uint64_t x, y;
    std::uint64_t j;  ///< row of lane 0
    std::uint32_t k = 0;
  };

  VirtAddr pixel(VirtAddr image, std::uint64_t x, std::uint64_t y) const { return image + 4 * (y * width_ + x); }

  Stream transform(Block at) const {
    // Element k of a row: of each lane's column of the block, or of each lane's row.
    const auto by_column = [&](VirtAddr row) { return rows_of(kSide, row, 0, 4); };
    const auto by_row = [&](VirtAddr row) { return rows_of(kSide, row + 4 * at.j, 4, 0); };
    const auto left = load(4, [&] {
      return third_sdk_ ? rows_of(kSide, transposed_ + 4 * (kSide * at.j + at.k), 4 * kSide, 0)
                        : by_column(matrix_ + std::uint64_t{4} * kSide * at.k);
    });
    const auto from = load(4, [&] {
      const VirtAddr row = pixel(input_, at.x, at.y + at.k);
      return third_sdk_ ? by_column(row) : by_row(row);
    });
    const auto right = load(4, [&] {
      const VirtAddr row = matrix_ + std::uint64_t{4} * kSide * at.k;
      return third_sdk_ ? by_column(row) : by_row(row);
    });
    const auto to = store(4, [&] { return rows_of(kSide, pixel(output_, at.x, at.y + at.j), 4 * width_, 4); });

    co_yield salu(14);
    for (; at.k < kSide; ++at.k) {
      co_yield left;
      co_yield from;
      co_yield wait(0);
      co_yield valu(8);
    }
    co_yield local(1);
    co_yield barrier();
    for (at.k = 0; at.k < kSide; ++at.k) {
      co_yield local(1);
      co_yield right;
      co_yield wait(0);
      co_yield valu(8);
    }
    co_yield valu(3);
    co_yield to;
    co_yield salu(1);
  }

  std::uint64_t width_;
  bool third_sdk_;
  VirtAddr input_, output_, matrix_, transposed_;
};

WorkloadInfo info() {
  return {.name = "DCT",
          .title = "discrete cosine transform",
          .suite = "AMD APP SDK",
          .sentence = "Blocks of 8×8: neighbouring workgroups, which are on different GPUs, share every line.",
          .parameters = {sized("width", "pixels on a side of the image", {512, 4096, 1024}, kSide, 1 << 15, kSide),
                         constant("sdk", "version of the SDK: 2 or 3", 2, 2, 3), host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kDct{info, construct<Dct>};

}  // namespace nearfar
