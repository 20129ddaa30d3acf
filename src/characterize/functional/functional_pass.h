// The functional pass: a workload's streams through L1s, L2s and coherence directories without time. Its counts are
// those of a run in which every access ends before the next begins; where accesses overlap, a run differs from it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/system_spec.h"
#include "machine/run.h"
#include "program/workload.h"
#include "stats/stat.h"

namespace nearfar {

struct FunctionalResult {
  std::uint64_t launches = 0;
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;  ///< lines of vector memory instructions
  double host_seconds = 0;
  /// Sorted by name. What a run counts too has the name that it has there.
  std::vector<StatValue> statistics;

  /// Nothing where there is no such statistic: a ratio of nothing, or a part that the system has not.
  std::optional<double> find(const std::string& name) const;
};

/// Throws InputError where pages of the system move or translation takes time, and where a design is more than
/// settings and a coherence directory.
void check_functional(const SystemSpec& system, std::span<const std::string> designs);

/// `on_progress` is called about five times a second, and may be empty.
FunctionalResult functional_pass(const SystemSpec& system, const Workload& workload,
                                 const std::function<void(const Progress&)>& on_progress = {});

/// What the pass reports and a run does not.
std::vector<StatInfo> functional_statistics();

/// Names of ratios that the pass adds, behind "gpus." or "gpu<g>.".
inline constexpr const char* kWarmMissRate = "l2.lookup.warm_miss_rate";
inline constexpr const char* kEvictionShare = "invalidation.eviction_share";
inline constexpr const char* kLinesAtEviction = "directory.lines_at_eviction.mean";

}  // namespace nearfar
