// What happens in a GMMU, as statistics.
#pragma once

#include <cstdint>

#include "stats/stat.h"

namespace nearfar {

struct GmmuStats {
  std::uint64_t far_faults = 0;
  std::uint64_t protection_faults = 0;
  std::uint64_t reissues = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t necessary = 0;
  std::uint64_t unnecessary = 0;
  std::uint64_t invalidation_cycles = 0;
  std::uint64_t downgrades = 0;
  std::uint64_t updates_cancelled = 0;
  std::uint64_t stopped = 0;
  std::uint64_t stopped_cycles = 0;
  std::uint64_t move_requests = 0;

  void describe(StatVisitor& visitor);
};

}  // namespace nearfar
