// Designs under test: those whose results a paper claims. A calibration never runs one.
#pragma once

#include "calibrate/calibration.h"

namespace nearfar {

/// Refuses a calibration whose reference designs are what a result of the same paper is measured with.
void refuse_designs_under_test(const Calibration& calibration);

}  // namespace nearfar
