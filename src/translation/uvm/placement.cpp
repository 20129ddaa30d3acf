#include "translation/uvm/placement.h"

namespace nearfar {
namespace {

/// Pages stay where they lie, but for what access counters move.
class Pinned final : public PlacementRule {
 public:
  PlacementAction on_fault(const PageRecord&, DeviceId, bool, DeviceId) const override { return PlacementAction::Map; }
};

/// A page follows every touch.
class OnTouch final : public PlacementRule {
 public:
  PlacementAction on_fault(const PageRecord&, DeviceId, bool, DeviceId) const override { return PlacementAction::Move; }
};

/// A page goes to the GPU that touches it first; the others map it there. Access counters may move it later.
class FirstTouch final : public PlacementRule {
 public:
  PlacementAction on_fault(const PageRecord& record, DeviceId, bool, DeviceId host) const override {
    return record.owner.device() == host ? PlacementAction::Move : PlacementAction::Map;
  }
};

/// Readers get copies; a writer has the only one.
class Replication final : public PlacementRule {
 public:
  PlacementAction on_fault(const PageRecord& record, DeviceId gpu, bool write, DeviceId host) const override {
    if (record.owner.device() == host) return PlacementAction::Move;
    if (!write) return PlacementAction::Copy;
    return record.holders.test(gpu.value) ? PlacementAction::Upgrade : PlacementAction::Move;
  }
};

}  // namespace

std::unique_ptr<PlacementRule> make_placement(PagePolicy policy, HostFirstTouch first) {
  switch (policy) {
    case PagePolicy::OnTouch: return std::make_unique<OnTouch>();
    case PagePolicy::AccessCounter:
      if (first == HostFirstTouch::Map) break;
      [[fallthrough]];
    case PagePolicy::FirstTouch: return std::make_unique<FirstTouch>();
    case PagePolicy::Replication: return std::make_unique<Replication>();
    case PagePolicy::Pinned:
    case PagePolicy::NoFault: break;
  }
  return std::make_unique<Pinned>();
}

}  // namespace nearfar
