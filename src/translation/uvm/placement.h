// Placement: what happens when a GPU touches a page that it has no sufficient mapping of. A seam; these are the
// baseline's answers.
#pragma once

#include <bitset>
#include <memory>
#include <vector>

#include "translation/page.h"
#include "translation/translation_spec.h"

namespace nearfar {

/// What the host knows of a page.
struct PageRecord {
  PhysPage owner;                  ///< where it lies
  std::vector<PhysPage> replicas;  ///< and where else, when it is replicated
  std::bitset<kMaxGpus> holders;   ///< GPUs whose local table has a mapping, or is being sent one
  Epoch epoch = 0;
  bool exists = false;  ///< it belongs to a buffer
  bool shared = false;  ///< replicated: all mappings are read-only
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

enum class PlacementAction : std::uint8_t {
  Map,      ///< map it where it lies
  Move,     ///< move it to the GPU; all other mappings become void
  Copy,     ///< copy it to the GPU; all mappings become read-only
  Upgrade,  ///< make the GPU's copy the only one
};

class PlacementRule {
 public:
  virtual ~PlacementRule() = default;
  /// A fault of `gpu`, whose mapping is missing or not sufficient. The page is not moving.
  virtual PlacementAction on_fault(const PageRecord& record, DeviceId gpu, bool write, DeviceId host) const = 0;
};

std::unique_ptr<PlacementRule> make_placement(PagePolicy policy, HostFirstTouch first);

}  // namespace nearfar
