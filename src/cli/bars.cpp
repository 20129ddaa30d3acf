// Bars of block characters.
#include "cli/bars.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace nearfar {

std::string bar(double value, double maximum, unsigned width) {
  static constexpr std::array kPartial = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(value > 0) || !(maximum > 0)) return "";
  const double share = std::min(value / maximum, 1.0);
  const auto eighths = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(share * width * 8)));
  std::string out;
  for (std::size_t i = 0; i < eighths / 8; ++i) out += "█";
  return out + kPartial[eighths % 8];
}

std::string bar_with_whisker(double value, double high, double maximum, unsigned width) {
  std::string out = bar(value, maximum, width);
  if (out.empty() || !(high > value)) return out;
  const auto eighths = [&](double at) {
    return std::max<long>(1, std::lround(std::min(at / maximum, 1.0) * width * 8));
  };
  // Whole characters behind the bar's last one, which may be begun.
  const long from = (eighths(value) + 7) / 8, to = (eighths(high) + 7) / 8;
  for (long i = from + 1; i < to; ++i) out += "─";
  return from < to ? out + "┤" : out;
}

}  // namespace nearfar
