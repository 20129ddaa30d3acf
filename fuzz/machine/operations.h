// How much a workload does, from its streams alone.
#pragma once

#include <cstdint>

#include "program/workload.h"

namespace nearfar::fuzz {

/// Memory instructions of all wavefronts, counted until there are more than the limit.
std::uint64_t operations(const Workload& workload, std::uint64_t limit);

}  // namespace nearfar::fuzz
