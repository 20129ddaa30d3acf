// Frozen readings: a system file that holds the values chosen by the facts of a baseline, and under `provenance` where
// they come from, when they were frozen, and which readings remained beside them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "calibrate/analysis.h"
#include "study/store.h"
#include "study/study_file.h"

namespace nearfar {

struct FrozenReading {
  std::string name;
  Settings settings;  ///< over `Frozen::system`
};

struct Frozen {
  std::string paper;   ///< the calibration
  std::string file;    ///< as it is shown: systems/trans-fw-frozen.yaml
  std::string system;  ///< the one that studies name, and that readings are differences from
  bool by_hand = false;
  std::string order;        ///< of one by hand: what is recorded of the order
  std::string hash, model;  ///< of the calibration file, of the model
  std::int64_t time = 0;    ///< seconds since 1970
  std::size_t tried = 0;
  std::vector<FrozenReading> readings;  ///< that are not ruled out; the chosen one first
};

/// The text of a system file for the chosen reading. `tried` is how many readings were tried in all.
std::string frozen_text(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                        const CalibrationAnalysis& analysis, std::size_t tried, std::int64_t time);

/// The frozen reading in this text; nothing where it has no `provenance`. Mistakes are InputErrors.
std::optional<Frozen> read_frozen_text(const std::string& text, const std::string& shown_as);

/// Those in systems/. Two of one paper are an InputError: a reading is frozen once.
std::vector<Frozen> read_frozen();

/// "2026-03-01T12:00:00Z".
std::string time_text(std::int64_t seconds);

/// A study on a reading: its variants on the frozen system, with what the reading sets below what they set.
Study on_reading(Study study, const Frozen& frozen, const FrozenReading& reading);

/// Why results of designs in this study, which is on the chosen reading, cannot be called measured: a design had run
/// with the reading before it was frozen. Nothing where the order was kept. `reference_designs` may run at any time.
std::optional<std::string> broken_order(const Frozen& frozen, const Study& study,
                                        const std::vector<std::string>& reference_designs, const ResultStore& store);

}  // namespace nearfar
