// The statistics that can be looked up: those of runs, of all designs, and of passes without time.
#pragma once

#include <vector>

#include "stats/stat.h"

namespace nearfar {

/// Sorted by name.
std::vector<StatInfo> statistics_of_runs_and_passes();

}  // namespace nearfar
