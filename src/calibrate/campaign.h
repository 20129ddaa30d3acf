// History matching: waves of readings, each judged by the published facts of the baseline, later ones drawn where the
// facts do not rule readings out. What runs a reading is handed in, so that it may be a machine or a formula.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/implausibility.h"
#include "calibrate/reading.h"

namespace nearfar {

/// One draw of one reading.
struct Trial {
  Reading reading;
  std::uint32_t draw = 0;
};

struct TrialOutcome {
  std::vector<std::optional<double>> values;  ///< by target
  std::string problem;                        ///< why some are missing
};

/// The outcomes of trials, in their order.
using Simulate = std::function<std::vector<TrialOutcome>(const std::vector<Trial>&)>;

/// A reading that was tried.
struct ReadingOutcome {
  Reading reading;
  std::vector<std::vector<double>> draws;  ///< by target
  std::vector<Simulated> values;           ///< by target
  std::vector<double> implausibility;      ///< by target
  Implausibility all;
  std::string problem;  ///< why it cannot be judged; empty where it can
  bool ruled_out = false;

  bool is_complete() const { return problem.empty(); }
};

struct CampaignOptions {
  std::size_t readings = 50;  ///< of each wave, beside the system as it is
  unsigned waves = 1;
  std::uint32_t repeat = 3;  ///< draws of readings that are near the facts
};

/// Tries all waves. A reading gets its repeats only where it is near: not ruled out by one draw, or within 1.5 standard
/// deviations of that, or among the five of the lowest mean implausibility.
std::vector<ReadingOutcome> run_campaign(const Calibration& calibration, const CampaignOptions& options,
                                         const Simulate& simulate);

/// The readings that a wave would try, given those that were tried before it.
std::vector<Reading> wave_readings(const Calibration& calibration, unsigned wave, std::size_t count,
                                   const std::vector<ReadingOutcome>& before);

/// Computes everything that follows from the draws.
void judge(const Calibration& calibration, std::vector<ReadingOutcome>& outcomes);

}  // namespace nearfar
