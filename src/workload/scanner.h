// The geometry of a tomograph with parallel beams: slices of square images, views over half a turn, and channels side
// by side; and the random order in which a reconstruction goes through the voxels.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <pcg_random.hpp>
#include <utility>
#include <vector>

#include "workload/portable_math.h"

namespace nearfar {

struct Scanner {
  std::uint64_t side, slices, views, channels;
  std::vector<double> cosine, sine;  ///< by view

  Scanner(std::uint64_t pixels, std::uint64_t images, std::uint64_t angles)
      : side(pixels),
        slices(images),
        views(angles),
        channels((static_cast<std::uint64_t>(std::sqrt(2.0) * static_cast<double>(side)) + 3 + 31) / 32 * 32) {
    for (std::uint64_t view = 0; view < views; ++view) {
      const double turn = static_cast<double>(view) / static_cast<double>(2 * views);
      cosine.push_back(portable::cosine_of_turn(turn));
      sine.push_back(portable::sine_of_turn(turn));
    }
  }

  std::uint64_t area() const { return side * side; }
  std::uint64_t voxels() const { return slices * area(); }

  /// Rays side by side where they cross a row of pixels, or a column: whichever they cross more steeply.
  struct Crossing {
    double first = 0;  ///< pixel that the first ray comes to; may be beyond the image, as the others' may
    double apart = 0;  ///< pixels from a ray to the next
    bool by_rows = true;

    std::int32_t pixel(unsigned ray) const { return static_cast<std::int32_t>(std::floor(first + ray * apart)); }
  };
  Crossing cross(std::uint64_t view, std::uint64_t channel, std::uint64_t step) const {
    const bool by_rows = std::abs(cosine[view]) >= std::abs(sine[view]);
    const double steep = by_rows ? cosine[view] : sine[view], lean = by_rows ? sine[view] : cosine[view];
    const double middle = static_cast<double>(side) / 2;
    const double away = static_cast<double>(channel) - static_cast<double>(channels) / 2;
    const double along = static_cast<double>(step) - middle;
    return {(away - along * lean) / steep + middle, 1 / steep, by_rows};
  }

  /// The channel in which a view sees a pixel, given from the middle of its slice.
  std::uint32_t channel_of(double right, double down, std::uint64_t view) const {
    const double channel = right * cosine[view] + down * sine[view] + static_cast<double>(channels) / 2;
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(channel));
  }

  std::vector<std::uint32_t> draw_order(std::uint64_t seed) const {
    pcg32 random(seed, 14);
    std::vector<std::uint32_t> order(voxels());
    std::iota(order.begin(), order.end(), 0U);
    for (auto i = static_cast<std::uint32_t>(voxels()); i > 1; --i) std::swap(order[i - 1], order[random(i)]);
    return order;
  }
};

}  // namespace nearfar
