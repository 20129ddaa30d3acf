#include "calibrate/implausibility.h"

#include <algorithm>
#include <cmath>

namespace nearfar {

Simulated simulated_of(std::span<const double> draws) {
  Simulated simulated;
  simulated.draws = draws.size();
  if (draws.empty()) return simulated;
  const auto count = static_cast<double>(draws.size());
  for (const double draw : draws) simulated.mean += draw / count;
  if (draws.size() == 1) return simulated;
  double squares = 0;
  for (const double draw : draws) squares += (draw - simulated.mean) * (draw - simulated.mean);
  simulated.variance = squares / (count - 1) / count;
  return simulated;
}

double distance_from(const Published& published, double value) {
  const double first = published.values.front();
  switch (published.form) {
    case Published::Form::Above:
    case Published::Form::AtLeast: return std::max(0.0, first - value);
    case Published::Form::Below:
    case Published::Form::AtMost: return std::max(0.0, value - first);
    case Published::Form::Range: return std::max({0.0, first - value, value - published.values.back()});
    default: return std::abs(value - first);
  }
}

double implausibility(const Target& target, double discrepancy, const Simulated& simulated) {
  return distance_from(target.published, simulated.mean) /
         std::sqrt(target.sigma * target.sigma + simulated.variance + discrepancy * discrepancy);
}

double pooled_variance(std::span<const Simulated> of_readings) {
  double squares = 0, degrees = 0;
  for (const Simulated& each : of_readings) {
    if (each.draws < 2) continue;
    const auto draws = static_cast<double>(each.draws);
    squares += each.variance * draws * (draws - 1);
    degrees += draws - 1;
  }
  return degrees == 0 ? 0 : squares / degrees;
}

Implausibility over_targets(std::span<const double> of_targets) {
  Implausibility all;
  for (std::size_t i = 0; i < of_targets.size(); ++i) {
    all.mean += of_targets[i] / static_cast<double>(of_targets.size());
    if (of_targets[i] > all.max) all.max = of_targets[i], all.worst = i;
  }
  return all;
}

}  // namespace nearfar
