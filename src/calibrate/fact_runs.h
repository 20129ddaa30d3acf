// From readings to runs and from their results to the numbers of facts.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "calibrate/campaign.h"
#include "study/derive.h"

namespace nearfar {

/// All runs of the baseline, and of its reference machines, that the facts of one trial need; each once.
std::vector<NamedRun> runs_of(const Calibration& calibration, const Trial& trial);

/// What the facts come to in this trial. What was not measured is nothing, and `problem` says why.
TrialOutcome outcome_of(const Calibration& calibration, const Trial& trial, const StudyResults& results);

}  // namespace nearfar
