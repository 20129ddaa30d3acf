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

}  // namespace nearfar
