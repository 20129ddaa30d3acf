// Where the latency of loads and of L2 TLB misses goes, by the words of the field.
#pragma once

#include <string>
#include <vector>

#include "machine/run.h"

namespace nearfar {

struct LatencyPart {
  std::string name;   ///< "L2 bank and MSHR wait"
  double cycles = 0;  ///< mean over all loads, or misses
  double share = 0;   ///< of the mean latency
};

struct LatencyBreakdown {
  std::string of;                  ///< "a load that misses the L1"
  double mean = 0;                 ///< cycles
  std::vector<LatencyPart> parts;  ///< those above zero, the largest first
};

/// Of loads, then of L2 TLB misses; what a result does not have is left out.
std::vector<LatencyBreakdown> latency_breakdowns(const RunResult& result);

}  // namespace nearfar
