// Conservation at the end of a checked run: every request that entered has left, every byte sent has arrived, every
// credit is home, and memory holds what was written.
#pragma once

#include "machine/machine.h"

namespace nearfar {

/// Throws a SimulationError that says what is left, and where.
void check_conservation(Machine& machine);

}  // namespace nearfar
