// What the UVM driver does, as statistics.
#pragma once

#include <cstdint>

#include "stats/stat.h"

namespace nearfar {

struct UvmStats {
  std::uint64_t faults = 0;
  std::uint64_t batches = 0;
  std::uint64_t parked = 0;
  Histogram batch_size;
  std::uint64_t migrations = 0;
  std::uint64_t first_touches = 0;
  std::uint64_t evictions = 0;
  std::uint64_t remote_mappings = 0;
  std::uint64_t replications = 0;
  std::uint64_t write_upgrades = 0;
  std::uint64_t requests_dropped = 0;
  std::uint64_t invalidations_sent = 0;
  std::uint64_t wait = 0;
  std::uint64_t total = 0;
  Histogram wait_histogram;
  Histogram total_histogram;

  void describe(StatVisitor& visitor);
};

}  // namespace nearfar
