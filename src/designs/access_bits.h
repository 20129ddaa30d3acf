// Access bits of a page-table entry: they name GPUs by their numbers modulo the number of bits, so that GPUs whose
// numbers are alike share one.
#pragma once

#include "sim/types.h"
#include "translation/gpu_set.h"

namespace nearfar {

class AccessBits {
 public:
  AccessBits(unsigned gpus, unsigned count) : gpus_(gpus), count_(count) {}
  unsigned bit(DeviceId gpu) const { return 1U << gpu.value % count_; }
  /// The GPUs that bits name; the kept one apart.
  GpuSet gpus(unsigned bits, DeviceId kept) const {
    GpuSet named;
    for (unsigned g = 0; g < gpus_; ++g) {
      const DeviceId gpu{static_cast<std::uint16_t>(g)};
      if (gpu != kept && (bits & bit(gpu)) != 0) named.set(g);
    }
    return named;
  }

 private:
  unsigned gpus_;
  unsigned count_;
};

}  // namespace nearfar
