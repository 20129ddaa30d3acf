// Choosing ticks.
#include "plot/scale.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace nearfar::plot {
namespace {

constexpr std::array kMantissas = {1.0, 2.0, 2.5, 5.0};
constexpr double kSlack = 1e-9;  // of a step: values that are ticks but for rounding stay on them

}  // namespace

std::vector<double> Scale::ticks() const {
  std::vector<double> out;
  const auto count = static_cast<int>(std::lround((high - low) / step));
  for (int i = 0; i <= count; ++i) out.push_back(low + step * i);
  return out;
}

Scale nice_scale(double low, double high, unsigned most) {
  if (!(high > low)) high = low + (low == 0 ? 1 : std::abs(low));
  for (double power = std::pow(10, std::floor(std::log10((high - low) / most)));; power *= 10) {
    for (const double mantissa : kMantissas) {
      const double step = mantissa * power;
      const double first = std::floor(low / step + kSlack), last = std::ceil(high / step - kSlack);
      if (last - first <= most) return {first * step, last * step, step};
    }
  }
}

std::string tick_text(double value, double step) {
  const double rounded = std::abs(value) < step * kSlack ? 0 : value;
  int digits = 0;
  for (double scaled = step; digits < 9 && std::abs(scaled - std::round(scaled)) > 1e-6; scaled *= 10) ++digits;
  if (std::abs(rounded) >= 1e6) return fmt::format("{:g}", rounded);
  return fmt::format("{:.{}f}", rounded, digits);
}

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 1e6 || (size > 0 && size < 0.001)) return fmt::format("{:.2e}", value);
  return fmt::format("{:.{}f}", value, size < 10 ? 2 : size < 100 ? 1 : 0);
}

}  // namespace nearfar::plot
