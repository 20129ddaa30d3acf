// What the readings that were tried say together: which facts can be met, which contradict each other, which open
// parameters matter, and which readings remain.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/campaign.h"

namespace nearfar {

/// Two facts, each met by some reading, and by none together.
struct Contradiction {
  std::size_t a = 0, b = 0;   ///< facts
  std::size_t nearest = 0;    ///< the reading that comes nearest to both
  double implausibility = 0;  ///< the larger one there
};

struct CalibrationAnalysis {
  std::vector<std::size_t> order;      ///< readings that could be judged, the lowest mean implausibility first
  std::vector<std::size_t> remaining;  ///< not ruled out; in that order
  bool all_ruled_out = false;          ///< then `remaining` is what is within 1.25 times the lowest mean
  std::optional<std::size_t> chosen;   ///< of those that remain the one of the lowest mean
  std::vector<std::size_t> met_by;     ///< by fact: how many readings meet it
  std::vector<Contradiction> contradictions;
  /// By open parameter and target: the share of the number's variance over readings that the parameter explains alone
  /// (variance of its conditional means, less what chance would give as many groups). The last one of each parameter is
  /// of the mean implausibility.
  std::vector<std::vector<double>> sensitivity;
};

inline constexpr double kComparable = 1.25;

/// The largest implausibility of a fact's numbers.
double fact_implausibility(const Calibration& calibration, const ReadingOutcome& outcome, std::size_t fact);

CalibrationAnalysis analyse(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes);

/// The share of the variance of `values` that groups explain: (between − (k − 1) · within) / total, at least 0, where
/// `within` is the mean square within groups. 0 where there is no variance or no group.
double main_effect(const std::vector<std::size_t>& groups, const std::vector<double>& values);

}  // namespace nearfar
