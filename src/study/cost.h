// What a run is likely to cost, from what alike runs have cost, or from the size of its workload.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "study/named_run.h"
#include "study/store.h"

namespace nearfar {

class CostModel {
 public:
  explicit CostModel(const std::vector<KnownCost>& known);

  /// The most that runs of this program have taken; else by its accesses, at the rate of the runs that are known.
  double seconds(const PlannedRun& run) const;
  std::uint64_t memory(const PlannedRun& run) const;

 private:
  std::map<std::string, KnownCost> by_program_;
  double seconds_per_access_;
};

/// Bytes that new processes can have: what the machine says is free, or what is left of the limit of our control group.
std::uint64_t available_memory();

}  // namespace nearfar
