// The pieces of a calibration's file that say what is set: open parameters with their values, and the settings of
// variants.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "calibrate/calibration.h"
#include "config/yaml.h"

namespace nearfar {

/// Reads one open parameter into `calibration`, whose system and workloads are known already: among those that are
/// drawn, or among those that are left out.
void read_open(const YamlEntry& entry, Calibration& calibration);

/// "key=value" for each entry of a `set` or `param`.
std::vector<std::string> setting_texts(const YamlNode& node, const std::string& key);

/// Whether a machine and the workloads can be made with these; if not, an InputError that points at `place`.
void check_settings(const Settings& settings, const std::string& design, const Calibration& calibration,
                    const Place& place);

/// A design of a fact. It must be one of `reference_designs`: no design under test runs before a reading is frozen.
std::string reference_design(const YamlNode& node, const std::vector<std::string>& reference_designs);

/// Complains about names that no design has.
void refuse_unknown_designs(const std::string& designs, const Place& place);

/// Runs `check`; an InputError becomes one that points at `place`.
void check_here(const Place& place, const std::function<void()>& check);

}  // namespace nearfar
