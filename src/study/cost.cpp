#include "study/cost.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <string>

namespace nearfar {
namespace {

/// Before anything is known: two million accesses a second, and a small part of a footprint whose data is not
/// simulated.
constexpr double kSecondsPerAccess = 5e-7;
constexpr std::uint64_t kLeastMemory = 48ULL << 20;
constexpr std::uint64_t kFootprintShare = 4;
/// Another design on the same program may need somewhat more.
constexpr double kMemoryMargin = 1.2;

std::uint64_t meminfo_available() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  std::uint64_t kibibytes = 0;
  while (file >> name >> kibibytes) {
    if (name == "MemAvailable:") return kibibytes << 10;
    std::getline(file, unit);
  }
  return std::numeric_limits<std::uint64_t>::max();
}

/// Files of version 2 of control groups; "max" and missing files are no limit.
std::uint64_t control_group_available() {
  std::uint64_t limit = 0, used = 0;
  std::ifstream limit_file("/sys/fs/cgroup/memory.max"), used_file("/sys/fs/cgroup/memory.current");
  if (!(limit_file >> limit) || !(used_file >> used)) return std::numeric_limits<std::uint64_t>::max();
  return limit > used ? limit - used : 0;
}

}  // namespace

CostModel::CostModel(const std::vector<KnownCost>& known) : seconds_per_access_(kSecondsPerAccess) {
  std::vector<double> rates;
  for (const KnownCost& cost : known) {
    by_program_[cost.program] = cost;
    if (cost.accesses > 0) rates.push_back(cost.host_seconds / cost.accesses);
  }
  if (rates.empty()) return;
  const auto middle = rates.begin() + static_cast<std::ptrdiff_t>(rates.size() / 2);
  std::nth_element(rates.begin(), middle, rates.end());
  seconds_per_access_ = *middle;
}

double CostModel::seconds(const PlannedRun& run) const {
  const auto found = by_program_.find(run.program);
  return found != by_program_.end() ? found->second.host_seconds
                                    : static_cast<double>(run.accesses) * seconds_per_access_;
}

std::uint64_t CostModel::memory(const PlannedRun& run) const {
  const auto found = by_program_.find(run.program);
  if (found == by_program_.end()) return kLeastMemory + run.footprint / kFootprintShare;
  return static_cast<std::uint64_t>(kMemoryMargin * static_cast<double>(found->second.peak_rss_bytes));
}

std::uint64_t available_memory() { return std::min(meminfo_available(), control_group_available()); }

}  // namespace nearfar
