// What must be true of every coherence directory.
#pragma once

#include <string>

#include "coherence/directory.h"
#include "coherence/directory_home.h"

namespace nearfar {

/// What is wrong with recorded sharers, or "".
std::string problem_with_sharers(Sharers sharers, const DirectoryHome& home);

/// Where there is a problem, throws a SimulationError that names the directory.
void require_none(const std::string& problem, const DirectoryHome& home);

}  // namespace nearfar
