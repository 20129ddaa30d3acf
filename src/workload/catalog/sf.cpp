// SF: Sobel filter (AMD APP SDK; in the studies of UMH).
// Adjacent: nine neighbours of every pixel, 4 bytes each. The same image is filtered again and again.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kGroup = 256;

class Sobel final : public Workload {
 public:
  explicit Sobel(const Parameters& parameters)
      : width_(parameters["width"]),
        height_(parameters["height"]),
        image_(allocate("image", 4 * width_ * height_, Placement::Interleave, kOnlyRead)),
        output_(allocate("output", 4 * width_ * height_, Placement::Interleave, {.reads = false})) {
    const bool host = parameters["host"] != 0;
    if (host) add_host_preparation();
    for (std::uint64_t i = 0; i < parameters["iterations"]; ++i) {
      add_launch({.kernel = "sobel",
                  .groups_x = static_cast<std::uint32_t>(width_ / kGroup),
                  .groups_y = static_cast<std::uint32_t>(height_),
                  .size_x = kGroup,
                  .split = Split::RoundRobin});
    }
    if (host) add_host_read(output_);
  }

  Stream wavefront(std::size_t, const Wave& wave) const override { return filter(wave.global_x(0), wave.group_y); }

 private:
  Stream filter(std::uint64_t first, std::uint64_t y) const {
    std::uint64_t i = 0, j = 0;                // column and row among the neighbours
    const auto inside = [&](VirtAddr pixel) {  // not the pixels at the rim; `pixel` is of column 0
      const std::uint32_t left = first == 0 ? 1 : 0;
      const std::uint64_t right = std::min<std::uint64_t>(first + kMaxLanes, width_ - 1);
      return Row{pixel + 4 * (first + left), static_cast<std::uint32_t>(right - first) - left, left};
    };
    const auto neighbour = load(4, [&] { return inside(image_ + 4 * ((y + j - 1) * width_ + i - 1)); });
    const auto result = store(4, [&] { return inside(output_ + 4 * y * width_); });

    co_yield salu(12);
    if (y == 0 || y + 1 == height_) co_return;
    for (; j < 3; ++j) {
      for (i = 0; i < 3; ++i) co_yield neighbour;
    }
    co_yield wait(0);
    co_yield valu(160);
    co_yield result;
    co_yield salu(1);
  }

  std::uint64_t width_, height_;
  VirtAddr image_, output_;
};

WorkloadInfo info() {
  return {.name = "SF",
          .title = "Sobel filter",
          .suite = "AMD APP SDK",
          .sentence = "Adjacent: nine neighbours a pixel; column strips of the image belong to the GPUs in turn.",
          .parameters = {sized("width", "pixels in a row", {512, 4096, 1024}, kGroup, 1 << 15, kGroup),
                         sized("height", "rows of the image", {384, 3072, 768}, 3, 1 << 15),
                         sized("iterations", "times the image is filtered", {2, 1, 2}, 1, 1000), host_parameter()}};
}

}  // namespace

constinit const CatalogEntry kSf{info, construct<Sobel>};

}  // namespace nearfar
