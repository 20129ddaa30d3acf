// The Eviction Counters: for each GPU, how many entries of the IOMMU TLB are there for it. A GPU with few of them has
// little use for its own L2 TLB, and so takes what the IOMMU TLB spills.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "sim/types.h"

namespace nearfar {

class EvictionCounters {
 public:
  /// `bits` 0: they show their value whatever it is; else at most what the bits can.
  EvictionCounters(unsigned gpus, std::uint32_t bits)
      : values_(gpus, 0), most_(bits == 0 ? ~std::uint32_t{0} : (std::uint32_t{1} << bits) - 1) {}

  void enter(DeviceId home) { ++values_[home.value]; }
  void leave(DeviceId home) { --values_[home.value]; }
  std::uint32_t operator[](std::size_t gpu) const { return values_[gpu]; }
  std::size_t size() const { return values_.size(); }

  /// The GPU with the smallest counter, the lowest-numbered of several.
  std::optional<DeviceId> receiver(std::optional<DeviceId> except) const {
    std::optional<DeviceId> best;
    for (std::size_t g = 0; g < values_.size(); ++g) {
      const DeviceId gpu{static_cast<std::uint16_t>(g)};
      if (gpu == except) continue;
      if (!best || shown(g) < shown(best->value)) best = gpu;
    }
    return best;
  }

 private:
  std::uint32_t shown(std::size_t gpu) const { return std::min(values_[gpu], most_); }

  std::vector<std::uint32_t> values_;
  std::uint32_t most_;
};

}  // namespace nearfar
