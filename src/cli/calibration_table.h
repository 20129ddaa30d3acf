// What a calibration comes to, for the terminal.
#pragma once

#include <string>

#include "calibrate/summary.h"
#include "cli/terminal.h"

namespace nearfar {

std::string calibration_table(const Calibration& calibration, const CalibrationSummary& summary,
                              const Terminal& terminal);

}  // namespace nearfar
