// The page of a calibration: facts, readings, what matters, what contradicts what.
#pragma once

#include <string>

#include "calibrate/summary.h"
#include "study/figure.h"

namespace nearfar {

struct PageOrigin {
  std::string version, model, database;
};

std::string calibration_html(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                             const CalibrationAnalysis& analysis, const PageOrigin& origin);

/// How implausible each fact is under the best readings, as a figure.
FigureData implausibility_figure(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                                 const CalibrationAnalysis& analysis);

/// The share of each number's variance over readings that each open parameter explains alone, as a figure.
FigureData sensitivity_figure(const Calibration& calibration, const CalibrationAnalysis& analysis);

}  // namespace nearfar
