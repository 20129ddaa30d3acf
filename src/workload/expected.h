// How large each workload is in each of its sizes, known without making it.
#pragma once

#include <cstdint>
#include <string_view>

#include "workload/catalog.h"

namespace nearfar {

struct Expected {
  std::uint64_t bytes = 0;     ///< of all buffers
  std::uint64_t accesses = 0;  ///< lines of 64 bytes that 64-lane wavefronts touch, instruction by instruction
};

/// Where inputs are drawn at random, with seed 1.
Expected expected(std::string_view workload, SizeClass size);

}  // namespace nearfar
