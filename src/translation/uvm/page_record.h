// What the host knows of a page.
#pragma once

#include <vector>

#include "translation/gpu_set.h"
#include "translation/page.h"

namespace nearfar {

struct PageRecord {
  PhysPage owner;                  ///< where it lies
  std::vector<PhysPage> replicas;  ///< and where else, when it is replicated
  GpuSet holders;                  ///< GPUs whose local table has a mapping, or is being sent one
  Epoch epoch = 0;
  Cycle stays_until = 0;  ///< on the GPU that it has come to (migration.retention_cycles)
  bool exists = false;    ///< it belongs to a buffer
  bool shared = false;    ///< replicated: all mappings are read-only
  bool moving = false;
  bool pinned = false;  ///< private to a GPU from the start

  /// The copy that a GPU's mapping names: its own, or the owner's.
  PhysPage copy_for(DeviceId gpu) const {
    for (const PhysPage& copy : replicas) {
      if (copy.device() == gpu) return copy;
    }
    return owner;
  }
};

}  // namespace nearfar
