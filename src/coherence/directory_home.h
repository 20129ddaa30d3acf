// The GPU that a coherence directory belongs to, and what the directory has to know of its machine.
#pragma once

#include <cstdint>

#include "sim/types.h"

namespace nearfar {

struct SystemSpec;

struct DirectoryHome {
  DeviceId gpu;
  std::uint32_t gpus = 0;
  std::uint32_t lines_per_page = 0;  ///< of a 4 KiB frame
};

DirectoryHome directory_home(DeviceId gpu, const SystemSpec& system);

}  // namespace nearfar
