// Applications that are run together, one on each GPU: each has its own address space, and they meet in what the
// machine shares.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "workload/catalog.h"

namespace nearfar {

struct Mix {
  std::string name;                    ///< "W1"
  std::vector<std::string> workloads;  ///< of GPU 0, 1, …
  std::string classes;                 ///< how often each misses in the TLBs: low, medium, high
};

/// The mixes of the least-TLB study.
std::span<const Mix> mixes();

/// What a workload's parameters are in a mix. The small size is left as it is; in the others applications are sized so
/// that they take similar times alone, and so are seldom run again while the longest is still at work.
std::vector<ParameterSetting> settings_in_mix(std::string_view workload, SizeClass size);

}  // namespace nearfar
