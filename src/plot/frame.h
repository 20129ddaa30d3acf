// The area of one plot: a scale up its left side, places for categories along its bottom.
#pragma once

#include <string>
#include <vector>

#include "plot/scale.h"
#include "plot/svg.h"

namespace nearfar::plot {

struct Area {
  double left = 0, top = 0, width = 0, height = 0;

  double right() const { return left + width; }
  double bottom() const { return top + height; }
};

/// What is done about labels that are wider than their places: left out in between, or written slanting.
enum class Crowding { Thin, Slant };

class Frame {
 public:
  static constexpr double kFontSize = 12;

  Frame(Svg& svg, Area area, Scale scale) : svg_(svg), area_(area), scale_(scale) {}

  const Area& area() const { return area_; }
  const Scale& scale() const { return scale_; }
  double y(double value) const { return area_.bottom() - area_.height * scale_.share(value); }
  /// The middle of the place of category `i` of `count`.
  double x(std::size_t i, std::size_t count) const {
    return area_.left + pitch(count) * (static_cast<double>(i) + 0.5);
  }
  double pitch(std::size_t count) const { return area_.width / static_cast<double>(count); }

  /// Grid lines and their numbers, each with `suffix`; and an axis at `reference`, where that is in sight.
  void draw_scale(const std::string& suffix, double reference);
  void draw_categories(const std::vector<std::string>& labels, Crowding crowding);
  /// A bar between two values, at least a hair high.
  void bar(double left, double width, double from, double to, const std::string& style, const std::string& title = "");

  /// How much room under the area slanting labels take; 20 where they fit as they are.
  static double category_height(const std::vector<std::string>& labels, double width);

 private:
  Svg& svg_;
  Area area_;
  Scale scale_;
};

}  // namespace nearfar::plot
