// How the workgroups of a launch are split over the GPUs, as a system's configuration names it.
#pragma once

#include <cstdint>

namespace nearfar {

/// How workgroups are split: as the workload says, or the same for all.
enum class DispatchPolicy : std::uint8_t { Workload, Offset, Blocks, RoundRobin, Greedy };

}  // namespace nearfar
