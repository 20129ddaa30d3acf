// Number formats of the command line.
#include "cli/numbers.h"

#include <fmt/format.h>

#include <array>
#include <span>

namespace nearfar {
namespace {

struct Scale {
  double factor;
  const char* unit;
};

/// In the largest unit that leaves at least 1 before the point; `scales` go from large to small.
const Scale& scale_for(double value, std::span<const Scale> scales) {
  for (const Scale& scale : scales) {
    if (value >= scale.factor) return scale;
  }
  return scales.back();
}

/// Three significant digits, as far as the part after the point goes.
std::string three_digits(double value) { return fixed(value, value < 10 ? 2 : value < 100 ? 1 : 0); }

std::string scaled(double value, std::span<const Scale> scales) {
  const Scale& scale = scale_for(value, scales);
  const std::string number = three_digits(value / scale.factor);
  return *scale.unit == '\0' ? number : number + " " + scale.unit;
}

}  // namespace

std::string grouped(std::uint64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3;) digits.insert(at -= 3, ",");
  return digits;
}

std::string fixed(double value, int digits) { return fmt::format("{:.{}f}", value, digits); }

std::string percent(double part, double whole) { return whole > 0 ? fixed(100 * part / whole, 1) + " %" : "-"; }

std::string size_text(double bytes) {
  static constexpr std::array kScales = {Scale{1024.0 * 1024 * 1024, "GiB"}, Scale{1024.0 * 1024, "MiB"},
                                         Scale{1024.0, "KiB"}};
  return bytes < 1024 ? fmt::format("{:.0f} B", bytes) : scaled(bytes, kScales);
}

std::string rate_text(double bytes_per_second) {
  static constexpr std::array kScales = {Scale{1e12, "TB/s"}, Scale{1e9, "GB/s"}, Scale{1e6, "MB/s"},
                                         Scale{1e3, "kB/s"}, Scale{1, "B/s"}};
  return scaled(bytes_per_second, kScales);
}

std::string count_text(double value) {
  static constexpr std::array kScales = {Scale{1e9, "G"}, Scale{1e6, "M"}, Scale{1e3, "k"}};
  return value < 1000 ? fmt::format("{:.0f}", value) : scaled(value, kScales);
}

std::string time_text(double seconds) {
  static constexpr std::array kScales = {Scale{1, "s"}, Scale{1e-3, "ms"}, Scale{1e-6, "µs"}, Scale{1e-9, "ns"}};
  return scaled(seconds, kScales);
}

std::string clock_text(double hertz) {
  return hertz >= 1e9 ? fmt::format("{:g} GHz", hertz / 1e9) : fmt::format("{:g} MHz", hertz / 1e6);
}

}  // namespace nearfar
