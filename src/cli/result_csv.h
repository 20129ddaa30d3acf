// Results as CSV: rows of name and value, first what ran on what, then every statistic.
#pragma once

#include <string>

#include "study/experiment.h"

namespace nearfar {

std::string run_csv(const Report& report);

}  // namespace nearfar
