// From a request to a machine that is ready to run: applications get their GPUs and their frames, devices are made and
// joined, designs are plugged in, page tables hold what is known before the first cycle.
#pragma once

#include <memory>

#include "machine/machine.h"

namespace nearfar {

/// Throws an InputError where the applications do not fit the system.
std::unique_ptr<Machine> build_machine(const RunRequest& request);

}  // namespace nearfar
