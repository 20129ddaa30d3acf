// Axes: from values to places, with ticks at numbers a person would choose.
#pragma once

#include <string>
#include <vector>

namespace nearfar::plot {

/// A linear axis whose ends are ticks.
struct Scale {
  double low = 0, high = 1, step = 1;

  double share(double value) const { return (value - low) / (high - low); }
  std::vector<double> ticks() const;
};

/// The smallest scale with a step of 1, 2, 2.5 or 5 times a power of ten that holds both values in at most `most`
/// steps.
Scale nice_scale(double low, double high, unsigned most);

/// A tick's number with as many digits as the step needs.
std::string tick_text(double value, double step);

/// A value as it is read beside a bar: three significant digits, no exponent where it can be helped.
std::string short_number(double value);

}  // namespace nearfar::plot
