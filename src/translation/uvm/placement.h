// Placement: what happens when a GPU touches a page that it has no sufficient mapping of. A seam; these are the
// baseline's answers.
#pragma once

#include <memory>

#include "translation/page.h"
#include "translation/translation_spec.h"
#include "translation/uvm/page_record.h"

namespace nearfar {

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
