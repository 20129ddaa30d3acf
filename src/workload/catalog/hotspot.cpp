// Hotspot: heat flow in a chip, a five-point stencil (Rodinia; in the studies of Neighborhood).
// A workgroup loads a tile of 16×16 with its border, takes `height` time steps in local memory and stores what is
// still right in the middle. GPUs share the rows at their borders.
#include "workload/catalog/entries.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kTile = 16;

class Hotspot final : public Workload {
 public:
  explicit Hotspot(const Parameters& parameters)
      : n_(parameters["n"]),
        height_(parameters.u32("height")),
        power_(allocate("power", 4 * n_ * n_, Placement::Interleave)),
        source_(allocate("temp_src", 4 * n_ * n_, Placement::Interleave)),
        destination_(allocate("temp_dst", 4 * n_ * n_, Placement::Interleave)) {
    const std::uint32_t inner = kTile - 2 * height_;
    const auto tiles = static_cast<std::uint32_t>((n_ + inner - 1) / inner);
    for (std::uint64_t i = 0; i < parameters["launches"]; ++i) {
      add_launch({.kernel = "hotspot",
                  .groups_x = tiles,
                  .groups_y = tiles,
                  .size_x = kTile,
                  .size_y = kTile,
                  .local_bytes = 3 * sizeof(float) * kTile * kTile,
                  .split = Split::Blocks});
    }
  }

  Stream wavefront(std::size_t launch, const Wave& wave) const override {
    const std::uint64_t inner = kTile - 2 * height_;
    const At at{.x = inner * wave.group_x - height_,
                .y = inner * wave.group_y - height_,
                .first = wave.local(0),
                .lanes = wave.lanes};
    return launch % 2 == 0 ? flow(source_, destination_, at) : flow(destination_, source_, at);
  }

 private:
  /// The tile's upper left corner, which may lie above or left of the chip: numbers below zero wrap around and are so
  /// beyond its end too.
  struct At {
    std::uint64_t x, y;
    std::uint32_t first;  ///< local id of lane 0
    std::uint32_t lanes;
  };

  VirtAddr cell(VirtAddr grid, const At& at, unsigned lane) const {
    const std::uint64_t x = at.x + (at.first + lane) % kTile, y = at.y + (at.first + lane) / kTile;
    return x < n_ && y < n_ ? grid + 4 * (y * n_ + x) : kIdle;
  }

  Stream flow(VirtAddr from, VirtAddr to, At at) const {
    const auto temperature = load(4, [&](unsigned lane) { return cell(from, at, lane); });
    const auto power = load(4, [&](unsigned lane) { return cell(power_, at, lane); });
    const auto result = store(4, [&](unsigned lane) {
      const std::uint32_t tx = (at.first + lane) % kTile, ty = (at.first + lane) / kTile;
      const bool right = tx >= height_ && tx < kTile - height_ && ty >= height_ && ty < kTile - height_;
      return right ? cell(to, at, lane) : kIdle;
    });

    co_yield salu(14);
    co_yield valu(60);
    if (anybody(power, at.lanes)) {
      co_yield temperature;
      co_yield power;
      co_yield wait(0);
      co_yield local(2);
    }
    co_yield barrier();
    for (std::uint32_t step = 0; step < height_; ++step) {
      co_yield valu(13);
      co_yield local(6);
      co_yield salu(13);
      co_yield barrier();
      co_yield local(1);
      co_yield salu(2);
      co_yield barrier();
    }
    co_yield valu(4);
    if (anybody(result, at.lanes)) co_yield result;
    co_yield salu(30);
  }

  std::uint64_t n_;
  std::uint32_t height_;
  VirtAddr power_, source_, destination_;
};

WorkloadInfo info() {
  return {.name = "Hotspot",
          .title = "heat flow in a chip",
          .suite = "Rodinia",
          .sentence = "Adjacent: tiles with borders, two grids in turn; GPUs share the rows at their borders.",
          .parameters = {constant("n", "cells on a side of the chip", 1024, 16, 1 << 15),
                         constant("height", "time steps of a launch", 1, 1, 7),
                         sized("launches", "launches, one after the other", {2, 20, 60}, 1, 10000)}};
}

}  // namespace

constinit const CatalogEntry kHotspot{info, construct<Hotspot>};

}  // namespace nearfar
