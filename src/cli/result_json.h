// Results as JSON: complete, with the effective configuration, the version and the seed.
#pragma once

#include <string>
#include <vector>

#include "characterize/characterization.h"
#include "cli/comparison.h"
#include "cli/functional_report.h"
#include "study/experiment.h"

namespace nearfar {

std::string run_json(const Report& report);
std::string comparison_json(const Comparison& comparison);
std::string configuration_json(const std::string& system, const std::vector<EffectiveParameter>& parameters);

std::string characterization_json(const Application& application, const Experiment& experiment,
                                  const Characterization& result);
std::string functional_json(const FunctionalReport& report);

}  // namespace nearfar
