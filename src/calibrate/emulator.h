// An emulator of one simulated number: what a reading that has not run would give, from those that have. A sum of main
// effects, one for each value of a list and a parabola over a range, fitted by least squares with a light ridge; how
// far it is off is known from leaving each reading out in turn.
#pragma once

#include <span>
#include <vector>

#include "calibrate/reading.h"

namespace nearfar {

class Emulator {
 public:
  /// `values` are what `readings` gave; all readings are placed.
  Emulator(const Calibration& calibration, std::span<const Reading* const> readings, std::span<const double> values);

  double mean(const Reading& reading) const;
  /// Of the difference between a reading's number and mean(), from readings that were left out.
  double variance() const { return variance_; }

 private:
  const Calibration* calibration_;
  std::vector<double> weights_;
  double variance_ = 0;
};

}  // namespace nearfar
