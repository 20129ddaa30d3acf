// Colours that stay apart for readers who see red and green alike, in a version for each background. No series is near
// the colour of what was published.
#include "plot/theme.h"

#include <fmt/format.h>

#include <array>

namespace nearfar::plot {
namespace {

struct Theme {
  const char* paper;
  const char* ink;
  const char* pale;
  const char* grid;
  const char* axis;
  const char* published;
  const char* less;  ///< heat maps: below the neutral value
  const char* more;
  std::array<const char*, kSeriesColours> series;
};

constexpr Theme kLight = {
    "#ffffff", "#1d2126", "#5b626b",
    "#e6e8eb", "#8d949c", "#c2185b",
    "#b5530b", "#2166ac", {"#3a6ea5", "#e08e2b", "#4c9a5a", "#9c9a2f", "#7a62a8", "#44a5b0", "#8a6f4d", "#7d848c"}};
constexpr Theme kDark = {
    "#15181c", "#e6e8eb", "#a2a9b2",
    "#2b3036", "#6d757e", "#ff6fa3",
    "#e08a45", "#5aa0dd", {"#6fa6dd", "#f0a850", "#74c284", "#d2cf62", "#ab95d8", "#6fcbd5", "#c3a47c", "#a9b0b8"}};

/// One rule a class, each under `root`.
std::string rules(const Theme& theme, const std::string& root) {
  std::string out;
  const auto rule = [&](const std::string& name, const char* property, const char* colour) {
    out += fmt::format("{}.{}{{{}:{}}}", root, name, property, colour);
  };
  rule("paper", "fill", theme.paper);
  rule("ink", "fill", theme.ink);
  rule("pale", "fill", theme.pale);
  rule("error", "stroke", theme.ink);
  // Numbers beside bars stand clear of the lines that they cross.
  out += fmt::format("{0}.value{{fill:{1};stroke:{2};stroke-width:3px;stroke-linejoin:round;paint-order:stroke}}", root,
                     theme.pale, theme.paper);
  rule("grid", "stroke", theme.grid);
  rule("axis", "stroke", theme.axis);
  out += fmt::format("{0}.published{{fill:{1};stroke:{2};stroke-width:1px}}", root, theme.published, theme.paper);
  rule("published-line", "stroke", theme.published);
  rule("less", "fill", theme.less);
  rule("more", "fill", theme.more);
  for (std::size_t i = 0; i < theme.series.size(); ++i) {
    rule(fill_class(i), "fill", theme.series[i]);
    rule(stroke_class(i), "stroke", theme.series[i]);
  }
  return out;
}

}  // namespace

std::string fill_class(std::size_t series) { return fmt::format("f{}", series % kSeriesColours); }

std::string stroke_class(std::size_t series) { return fmt::format("c{}", series % kSeriesColours); }

std::string style_sheet() {
  return fmt::format("{}@media (prefers-color-scheme:dark){{{}}}", rules(kLight, ""), rules(kDark, ""));
}

std::string page_style_sheet() {
  return fmt::format("{}@media screen and (prefers-color-scheme:dark){{{}}}@media screen{{{}}}", rules(kLight, "svg "),
                     rules(kDark, ":root:not([data-theme=light]) svg "), rules(kDark, ":root[data-theme=dark] svg "));
}

}  // namespace nearfar::plot
