// What a functional pass has counted, under the names of a run's statistics.
#pragma once

#include <cstdint>
#include <vector>

#include "characterize/functional/functional_gpu.h"
#include "characterize/functional/functional_memory.h"
#include "config/system_spec.h"
#include "stats/stat.h"

namespace nearfar {

/// Sorted by name, with ratios.
std::vector<StatValue> collect_functional(const SystemSpec& system, std::vector<FunctionalGpu>& gpus,
                                          FunctionalMemory& memory, std::uint64_t launches);

}  // namespace nearfar
