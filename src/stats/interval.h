// Mean and 95 % interval of repeated measurements, by Student's t.
#pragma once

#include <cstddef>
#include <span>

namespace nearfar {

/// What is known of a value from `count` measurements. One alone says nothing about its spread.
struct Interval {
  std::size_t count = 0;
  double mean = 0;
  double low = 0, high = 0;  ///< the mean itself where there is but one measurement

  bool has_spread() const { return count > 1; }
  /// Half its width: the larger of both halves, which differ where the mean is geometric.
  double half_width() const;
  /// False where the spread is not known.
  bool holds(double value) const { return has_spread() && low <= value && value <= high; }
  /// Whether noise is why it cannot be told from `value`: what equals it in every measurement has none.
  bool within_noise_of(double value) const { return holds(value) && low < high; }
};

/// The factor of the standard error at which a two-sided 95 % interval ends. `degrees` is at least 1.
double student_t95(std::size_t degrees);

/// Arithmetic mean and its interval; of nothing, all is 0.
Interval interval_of(std::span<const double> values);

/// Geometric mean, with the interval of the logarithms' mean: for speedups and other ratios. All values are above 0.
Interval geometric_interval_of(std::span<const double> values);

}  // namespace nearfar
