// The L1 scalar cache that the compute units of a shader array share: read only, for uniform loads.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gpu_l1_cache.h"
#include "sim/types.h"

namespace nearfar {

class ComputeUnit;

class ScalarCache {
 public:
  ScalarCache(GpuContext& context, unsigned index);

  enum class Answer : std::uint8_t { Hit, Pending, NoMshr };
  /// A scalar load of wavefront slot `slot` of compute unit `cu`; `ready` is set on a hit.
  Answer load(unsigned cu, unsigned slot, VirtPage virtual_page, PhysLine line, Cycle& ready);

  /// A line that was asked for has come: who waits among `units` goes on.
  void fill(PhysLine line, std::vector<ComputeUnit>& units);

  GpuL1Cache& l1() { return l1_; }
  bool idle() { return l1_.pending().used() == 0 && waiters_.empty(); }

 private:
  using Target = L1MshrFile::Target;

  /// How the MSHRs remember who waits: a compute unit and one of its wavefront slots.
  static Target load_target(unsigned cu, unsigned slot) { return static_cast<Target>(cu << 6 | slot); }
  static unsigned unit_of(Target target) { return target >> 6; }
  static unsigned slot_of(Target target) { return target & 63; }

  void send_load(VirtPage virtual_page, PhysLine line, Cycle when);

  GpuContext& context_;
  GpuL1Cache l1_;
  std::vector<Target> waiters_;  ///< loads that found no MSHR, in order
};

}  // namespace nearfar
