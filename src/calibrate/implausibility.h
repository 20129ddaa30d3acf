// How far a simulated number is from a published one, in standard deviations of all that is uncertain about both.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "calibrate/calibration.h"

namespace nearfar {

/// What a simulated number is known to be from its draws.
struct Simulated {
  std::size_t draws = 0;
  double mean = 0;
  double variance = 0;  ///< of the mean: that of the draws over their number; of one draw, unknown and 0

  friend bool operator==(const Simulated&, const Simulated&) = default;
};

Simulated simulated_of(std::span<const double> draws);

/// 0 inside a range and where a bound holds; else the distance from its nearer end.
double distance_from(const Published& published, double value);

/// |mean − published| / √(σ_published² + variance of the simulated mean + discrepancy²).
double implausibility(const Target& target, double discrepancy, const Simulated& simulated);

/// The variance of a single draw of one target, pooled over all readings that have several: Σ squares / Σ degrees. 0
/// where none has. It stands in for the unknown variance of those with one draw.
double pooled_variance(std::span<const Simulated> of_readings);

/// The largest, and the mean, over targets.
struct Implausibility {
  double max = 0, mean = 0;
  std::size_t worst = 0;  ///< target of the largest
};
Implausibility over_targets(std::span<const double> of_targets);

}  // namespace nearfar
