// What a campaign comes to, as rows of text: the terminal and the page show the same.
#pragma once

#include <string>
#include <vector>

#include "calibrate/analysis.h"

namespace nearfar {

struct FactRow {
  std::string fact, sentence, figure, published, uncertainty;
  std::string own;            ///< the system as it is
  std::string chosen;         ///< the chosen reading
  std::string readings;       ///< lowest to highest over all readings
  std::string met_by;         ///< "12 of 51"
  double implausibility = 0;  ///< of the chosen reading
  bool met = false;           ///< by the chosen reading
};

struct ReadingRow {
  std::string name, values, differs, max, mean, worst, draws, state;
  bool remains = false;
};

struct ParameterRow {
  std::string name;
  std::string effect;     ///< main effect on the mean implausibility
  std::string strongest;  ///< the number that it moves most
  std::string remaining;  ///< values among the readings that remain
};

struct CalibrationSummary {
  std::string heading;  ///< one sentence: what was tried and what remains
  std::vector<FactRow> facts;
  std::vector<ReadingRow> readings;  ///< the best first, then the system as it is where it is not among them
  std::vector<ParameterRow> parameters;
  std::vector<std::string> contradictions;  ///< a sentence each
  std::vector<std::string> left_out;        ///< likewise: what is open or published, and not here
  std::vector<std::string> not_judged;      ///< readings that could not be judged, and why
};

CalibrationSummary summarize(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                             const CalibrationAnalysis& analysis, std::size_t most_readings);

/// One line for each reading and published number: what was simulated, and how implausible it is.
std::string outcomes_csv(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes);

}  // namespace nearfar
