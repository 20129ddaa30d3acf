// The files in calibrations/: one for each paper, as YAML (docs/calibration.md).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "calibrate/calibration.h"

namespace nearfar {

/// `name` is a file's path (ends in .yaml) or the name of a file in calibrations/. Every mistake is an InputError that
/// points at it and names the nearest right word. With `size`, inputs have that size, and no windows.
Calibration read_calibration(const std::string& name, std::optional<SizeClass> size = std::nullopt);
/// The same for a text in memory.
Calibration read_calibration_text(const std::string& text, const std::string& shown_as,
                                  std::optional<SizeClass> size = std::nullopt);

std::vector<std::string> calibration_names();

}  // namespace nearfar
