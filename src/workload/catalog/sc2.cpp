// SC2: convolution of an image with a large mask, clipped at the borders (AMD APP SDK 2's SimpleConvolution; in the
// studies of UMH).
// Adjacent: an item goes through the pixels under the mask column by column, where SC's goes row by row over a padded
// image. Every GPU reads every row of the image.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 256;

class ClippedConvolution final : public Workload {
 public:
  explicit ClippedConvolution(const Parameters& parameters)
      : width_(parameters["width"]),
        height_(parameters["height"]),
        half_((parameters["mask"] - 1) / 2),
        mask_(parameters["mask"]),
        image_(allocate("image", 4 * width_ * height_, Placement::Interleave, kOnlyRead)),
        output_(allocate("output", 4 * width_ * height_, Placement::Interleave, kOverwritten)),
        mask_values_(allocate("mask", 4 * mask_ * mask_, Placement::Interleave, kOnlyRead)) {
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    add_launch(linear_launch("convolution", width_ * height_, kGroup, Split::RoundRobin));
    if (host) add_host_read(output_);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    const std::uint64_t first = wave.item(0);
    if (first >= width_ * height_) return idle();
    return convolve({.x = first % width_, .y = first / width_, .lanes = wave.lanes});
  }

 private:
  struct At {
    std::uint64_t x, y;  ///< of lane 0; a row of the image is a whole number of wavefronts
    std::uint32_t lanes;
    std::uint64_t column = 0, row = 0;  ///< how many an item has behind it, and the row of the image it is at
  };

  static Stream idle() { co_yield salu(12); }

  Stream convolve(At at) const {
    const auto pixel = load(4, [&](unsigned lane) {
      const std::uint64_t x = at.x + lane;
      const std::uint64_t i = x - std::min(x, half_) + at.column;
      return i <= std::min(x + half_, width_ - 1) ? image_ + 4 * (at.row * width_ + i) : kIdle;
    });
    const auto result = store(4, [&] { return Row{output_ + 4 * (at.y * width_ + at.x)}; });

    co_yield salu(12);
    co_yield valu(20);
    for (; anybody(pixel, at.lanes); ++at.column) {
      for (at.row = at.y - std::min(at.y, half_); at.row <= std::min(at.y + half_, height_ - 1); ++at.row) {
        co_yield pixel;
        co_yield scalar_load(4, mask_values_ + 4 * ((at.row + half_ - at.y) * mask_ + at.column));
        co_yield wait(0);
        co_yield valu(8);
      }
      co_yield salu(4);
    }
    co_yield result;
    co_yield salu(1);
  }

  std::uint64_t width_, height_, half_, mask_;
  VirtAddr image_, output_, mask_values_;
};

WorkloadInfo info() {
  return {.name = "SC2",
          .title = "simple convolution, clipped at the borders",
          .suite = "AMD APP SDK",
          .sentence = "Adjacent: a large window slides over an image whose rows all GPUs read.",
          .parameters = {sized("width", "pixels in a row of the image", {128, 768, 512}, 64, 1 << 14, 64),
                         sized("height", "rows of the image", {128, 768, 512}, 1, 1 << 14),
                         constant("mask", "pixels on a side of the mask", 16, 1, 64), host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kSc2{info, construct<ClippedConvolution>};

}  // namespace nearfar
