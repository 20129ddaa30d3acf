// The pools of walkers of a system, for designs that plug into all of them.
#pragma once

#include <string>
#include <vector>

#include "config/configuration.h"
#include "config/plug_in.h"
#include "config/system_spec.h"
#include "gpu/gpu.h"
#include "host/host.h"
#include "machine/statistics.h"

namespace nearfar {

/// The walkers in a GPU: of its GMMU, or of the IOMMU beside it. None where the IOMMU is at the host.
inline WalkUnit* walk_unit_of(Gpu& gpu) {
  if (gpu.gmmu() != nullptr) return &gpu.gmmu()->walkers();
  return gpu.svm() != nullptr ? &gpu.svm()->iommu().walkers() : nullptr;
}

/// The walkers at the host: of its MMU, or of the IOMMU.
inline WalkUnit* walk_unit_of(Host& host) {
  if (host.mmu() != nullptr) return &host.mmu()->walkers();
  return host.iommu() != nullptr ? &host.iommu()->walkers() : nullptr;
}

/// A pool of walkers as a system describes it.
struct WalkersOf {
  std::string path;  ///< of its parameters
  const WalkersSpec* spec;
  bool per_gpu;
};

inline std::vector<WalkersOf> walkers_of(const SystemSpec& system) {
  switch (system.translation.kind) {
    case TranslationKind::Mmu: return {{"gpu.gmmu", &system.gpu.gmmu, true}, {"host.mmu", &system.host.mmu, false}};
    case TranslationKind::Ats:
    case TranslationKind::Mig: return {{"mig", &system.mig, false}};
    case TranslationKind::Svm: return {{"iommu", &system.iommu, false}};
    case TranslationKind::Ideal: break;
  }
  return {};
}

/// A design whose part stands beside every pool of walkers: `join(device, unit)` plugs one in.
template <class Derived, class Stats>
class BesideWalkers : public PlugIn {
 public:
  void attach(Gpu& gpu, const SystemSpec&) const final { attach_to(gpu); }
  void attach(Host& host, const SystemSpec&) const final { attach_to(host); }

  std::vector<StatInfo> statistics() const final {
    const std::string part = Derived::kPart;
    std::vector<StatInfo> out;
    list_stats<Stats>(out, {"gpus." + part + ".", "gpu<g>." + part + ".", "host." + part + "."});
    return out;
  }

 private:
  template <class Device>
  void attach_to(Device& device) const {
    WalkUnit* unit = walk_unit_of(device);
    if (unit != nullptr) static_cast<const Derived&>(*this).join(device, *unit);
  }
};

/// Fails where a walk is one time in all; `what` begins the sentence.
inline void require_walks_by_level(const SystemSpec& system, const Configuration& configuration,
                                   const std::string& what) {
  if (system.walk.timing != WalkTiming::FixedTotal) return;
  configuration.fail({"walk.timing"}, what +
                                          " needs walks that read the page table level by level: set walk.timing to "
                                          "`fixed-level` or `memory`.");
}

}  // namespace nearfar
