// A reading: one value for everything that a paper leaves open.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "calibrate/calibration.h"

namespace nearfar {

struct Reading {
  std::string name;        ///< "own" for the system as it is; else wave and number, "1.017"
  unsigned wave = 1;       ///< in which it was drawn
  std::vector<double> at;  ///< by open parameter: the index of its value, or the value itself where it is a range
  bool own = false;  ///< the system as it is; a parameter whose value there is not among the plausible ones is NaN

  /// Whether every parameter has a value that the file calls plausible.
  bool is_placed() const;
};

/// The values, in the order of the open parameters: "16GB/s", "4".
std::vector<std::string> value_labels(const Calibration& calibration, const Reading& reading);

/// What the reading sets.
Settings settings_of(const Calibration& calibration, const Reading& reading);

/// The system as it is.
Reading own_reading(const Calibration& calibration);

/// The value of parameter `i` at a place in [0, 1).
double value_at(const OpenParameter& parameter, double place);
/// The other way round: the middle of a list's value, the place of a range's.
double place_of(const OpenParameter& parameter, double value);

/// Mean over all parameters of how far two readings are apart: 0 or 1 of a list, the distance of places of a range.
double distance(const Calibration& calibration, const Reading& a, const Reading& b);

}  // namespace nearfar
