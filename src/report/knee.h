// Where more of something stops paying off.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>

namespace nearfar {

/// The settings of a sweep stand from the cheapest to the dearest; their performances are higher where better.
struct Knee {
  static constexpr double kNear = 0.05;  ///< within 5 % of the best is as good
  static constexpr double kFlat = 0.05;  ///< a sweep that gains less than 5 % has no knee
  static constexpr double kBend = 0.05;  ///< a curve that rises less than this above its chord has no bend

  /// The first setting near the best. Nothing where all are as good, and where the curve still rises.
  std::optional<std::size_t> enough;
  std::optional<std::size_t> bend;  ///< Kneedle: where the curve is farthest above its chord
  bool rising = false;              ///< only the dearest setting is near the best: a dearer one may be better still
};

/// Whether two settings differ by no more than noise does.
using Alike = std::function<bool(std::size_t, std::size_t)>;

/// Kneedle (Satopaa et al., 2011) without smoothing; settings count as equally spaced, since sweeps are usually
/// geometric. What is within noise of the best is as good, and what is within noise of the first is no bend. Without
/// `alike`, where runs were not repeated, every difference counts.
Knee find_knee(std::span<const double> performance, const Alike& alike = {});

}  // namespace nearfar
