// SC: simple convolution of an image with a small mask (AMD APP SDK; in the studies of least-TLB, Trans-FW, IDYLL and
// REC).
// Adjacent: an item reads the pixels under the mask, one after the other. GPUs have bands of rows and share the few
// rows of the image at their borders.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 64;

class Convolution final : public Workload {
 public:
  explicit Convolution(const Parameters& parameters)
      : width_(parameters["width"]),
        pixels_(width_ * parameters["height"]),
        mask_(parameters.u32("mask")),
        input_(allocate("input", 4 * padded(parameters), Placement::Distribute)),
        output_(allocate("output", 4 * pixels_, Placement::Distribute)),
        mask_values_(allocate("mask", std::uint64_t{4} * mask_ * mask_, Placement::Private)) {
    // As many items as the padded image has pixels; those beyond the image do nothing.
    add_launch(linear_launch("convolution", padded(parameters), kGroup, Split::Offset));
  }

  Stream wavefront(std::size_t, const Wave& wave) const override {
    return convolve(wave.item(0), live_lanes(wave, pixels_));
  }

 private:
  static std::uint64_t padded(const Parameters& parameters) {
    const std::uint64_t border = parameters["mask"] - 1;
    return (parameters["width"] + border) * (parameters["height"] + border);
  }

  /// Where a wavefront stands: its pixels may run over the end of an image row into the next.
  struct At {
    std::uint64_t x, y;
    std::uint32_t lanes;
    std::uint64_t i = 0, j = 0;  ///< column and row of the mask
  };

  Stream convolve(std::uint64_t first, std::uint32_t lanes) const {
    At at{first % width_, first / width_, lanes};
    const auto pixel = [&] { return input_ + 4 * ((at.y + at.j) * (width_ + mask_ - 1) + at.x + at.i); };
    const auto in_row = load(4, [&] { return Row{pixel(), at.lanes}; });
    const auto over_end = load(4, [&](unsigned lane) {
      if (lane >= at.lanes) return kIdle;
      const std::uint64_t next_row = at.x + lane >= width_ ? mask_ - 1 : 0;
      return pixel() + 4 * (lane + next_row);
    });
    const auto result = store(4, [&] { return Row{output_ + 4 * (at.y * width_ + at.x), at.lanes}; });

    co_yield salu(16);
    co_yield valu(38);
    if (lanes == 0) co_return;
    for (; at.j < mask_; ++at.j) {
      for (at.i = 0; at.i < mask_; ++at.i) {
        co_yield valu(16);
        if (at.x + at.lanes <= width_) {
          co_yield in_row;
        } else {
          co_yield over_end;
        }
        co_yield scalar_load(4, mask_values_ + 4 * (at.j * mask_ + at.i));
        co_yield wait(0);
        co_yield valu(2);
        co_yield salu(2);
      }
      co_yield valu(4);
      co_yield salu(4);
    }
    co_yield valu(4);
    co_yield result;
    co_yield salu(1);
  }

  std::uint64_t width_, pixels_;
  std::uint32_t mask_;
  VirtAddr input_, output_, mask_values_;
};

WorkloadInfo info() {
  return {.name = "SC",
          .title = "simple convolution",
          .suite = "AMD APP SDK",
          .sentence = "Adjacent: a small window slides over an image; GPUs share the rows at their borders.",
          .parameters = {sized("width", "pixels in a row of the image", {1022, 4094, 8190}, 64, 1 << 16),
                         sized("height", "rows of the image", {1022, 4094, 8190}, 1, 1 << 16),
                         constant("mask", "pixels on a side of the mask", 3, 1, 64)}};
}

}  // namespace

constinit const CatalogEntry kSc{info, construct<Convolution>};

}  // namespace nearfar
