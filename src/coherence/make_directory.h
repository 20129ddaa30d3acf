// From a system to the coherence directory of one of its GPUs: that of a design, or the baseline's.
#pragma once

#include <memory>

#include "coherence/directory.h"
#include "sim/types.h"

namespace nearfar {

struct SystemSpec;

std::unique_ptr<Directory> make_directory(const SystemSpec& system, DeviceId home);

}  // namespace nearfar
