// Axes of a plot.
#include "plot/frame.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace nearfar::plot {
namespace {

constexpr double kSlant = 35;  // degrees
constexpr double kGap = 5;     // between labels

double widest(const std::vector<std::string>& labels) {
  double most = 0;
  for (const std::string& label : labels) most = std::max(most, text_width(label, Frame::kFontSize));
  return most;
}

bool fit(const std::vector<std::string>& labels, double width) {
  return widest(labels) + kGap <= width / static_cast<double>(std::max<std::size_t>(labels.size(), 1));
}

}  // namespace

void Frame::draw_scale(const std::string& suffix, double reference) {
  for (const double tick : scale_.ticks()) {
    svg_.line(area_.left, y(tick), area_.right(), y(tick), "grid");
    svg_.text(area_.left - 7, y(tick) + 4, Anchor::End, tick_text(tick, scale_.step) + suffix, "pale", kFontSize);
  }
  if (reference >= scale_.low && reference <= scale_.high) {
    svg_.line(area_.left, y(reference), area_.right(), y(reference), "axis");
  }
}

void Frame::draw_categories(const std::vector<std::string>& labels, Crowding crowding) {
  const double room = pitch(labels.size());
  const bool many_partitions = !fit(labels, area_.width);
  const auto every = many_partitions && crowding == Crowding::Thin
                         ? static_cast<std::size_t>(std::ceil((widest(labels) + kGap) / room))
                         : std::size_t{1};
  for (std::size_t i = 0; i < labels.size(); i += every) {
    const double at = x(i, labels.size());
    if (many_partitions && crowding == Crowding::Slant) {
      svg_.turned_text(at + 4, area_.bottom() + 14, Anchor::End, labels[i], "ink", kFontSize, -kSlant);
    } else {
      svg_.text(at, area_.bottom() + 17, Anchor::Middle, labels[i], "ink", kFontSize);
    }
  }
}

void Frame::bar(double left, double width, double from, double to, const std::string& style, const std::string& title) {
  const double top = y(std::max(from, to)), bottom = y(std::min(from, to));
  svg_.rect(left, top, width, std::max(bottom - top, 0.7), style, title);
}

double Frame::category_height(const std::vector<std::string>& labels, double width) {
  if (fit(labels, width)) return 20;
  return 16 + widest(labels) * std::sin(kSlant * std::numbers::pi / 180);
}

}  // namespace nearfar::plot
