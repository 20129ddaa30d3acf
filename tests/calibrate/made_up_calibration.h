// A small calibration on a machine that takes no time to make, and formulas in the place of runs.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/calibration_file.h"
#include "calibrate/campaign.h"

namespace nearfar::testing {

/// Two lists and a range; facts `a` and `b` of made-up numbers.
inline const std::string kMadeUpText = R"(title: Made up
system: ideal-4gpu
size: small
workloads: [MT, KM]
repeat: 3
facts:
  a:
    sentence: A number.
    value: run.cycles
    published: {mean: 10}
    sigma: 1
  b:
    sentence: Another number.
    value: run.instructions
    published: {mean: 20}
    sigma: 1
open:
  link.bandwidth:
    values: {16GB/s: there, 32GB/s: here, 64GB/s: elsewhere}
  gpu.l1v.mshrs:
    values: {16: there, 64: here}
  gpu.l2.mshrs:
    range: 32..512
    scale: log
    source: anything between
)";

inline Calibration made_up_calibration() { return read_calibration_text(kMadeUpText, "made-up.yaml"); }

/// Runs a formula of the reading and the draw in the place of machines.
inline Simulate formula(std::function<std::vector<double>(const Reading&, std::uint32_t)> of) {
  return [of = std::move(of)](const std::vector<Trial>& trials) {
    std::vector<TrialOutcome> outcomes;
    for (const Trial& trial : trials) {
      TrialOutcome outcome;
      for (const double value : of(trial.reading, trial.draw)) outcome.values.emplace_back(value);
      outcomes.push_back(std::move(outcome));
    }
    return outcomes;
  };
}

}  // namespace nearfar::testing
