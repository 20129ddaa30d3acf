// The statistics of a compute unit, its load/store unit included.
#pragma once

#include <cstdint>

#include "stats/stat.h"

namespace nearfar {

struct ComputeUnitStats {
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;
  std::uint64_t vector_loads = 0;
  std::uint64_t vector_stores = 0;
  std::uint64_t vector_atomics = 0;
  std::uint64_t scalar_loads = 0;
  std::uint64_t local_instructions = 0;
  std::uint64_t barriers = 0;
  std::uint64_t page_groups = 0;
  std::uint64_t simd_busy_cycles = 0;
  std::uint64_t stalled_instructions = 0;
  std::uint64_t waves = 0;
  std::uint64_t groups = 0;

  void describe(StatVisitor& visitor);
};

}  // namespace nearfar
