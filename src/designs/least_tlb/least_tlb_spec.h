// The parameters of least-TLB. What the study does not give, or varies, is a parameter here.
#pragma once

#include <cstdint>

#include "sim/types.h"

namespace nearfar {

class Section;

enum class LeastTlbMode : std::uint8_t {
  Single,  ///< one process on all GPUs: L2 TLBs are shared
  Multi,   ///< a process on each GPU: the IOMMU TLB spills
  Auto,    ///< whichever of them the run is
};
enum class ForwardTo : std::uint8_t { One, All };

struct TrackerSpec {
  std::uint32_t entries = 2048;  // of all GPUs together
  std::uint32_t slots = 2;       // slots_per_bucket: the only value with which the published size comes out
  std::uint32_t fingerprint_bits = 4;
  std::uint32_t max_kicks = 16;
  bool exact = false;

  void describe(Section& section);
};

struct SpillSpec {
  std::uint32_t count = 1;
  bool exclude_home = true;

  void describe(Section& section);
};

struct LeastTlbSpec {
  LeastTlbMode mode = LeastTlbMode::Auto;
  TrackerSpec tracker;
  Cycle remote_latency = 0;  // 0: what links and lookup take
  bool race = true;
  ForwardTo forward_to = ForwardTo::One;
  SpillSpec spill;
  std::uint32_t counter_bits = 0;  // eviction_counter.bits; 0: exact

  void describe(Section& section);
};

}  // namespace nearfar
