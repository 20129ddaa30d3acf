// DWS as a design: an order of walks in the pool of walkers that several processes share.
#include <fmt/format.h>

#include "config/configuration.h"
#include "config/error.h"
#include "designs/dws/walk_stealer.h"
#include "designs/registry.h"
#include "host/host.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

/// The walkers of the host, which all processes share: those of its IOMMU, or of its MMU. A GPU runs one process at a
/// time, so its own walkers have one tenant, and the order changes nothing there.
const WalkersSpec& pool_of(const SystemSpec& system) {
  switch (system.translation.kind) {
    case TranslationKind::Ats: return system.iommu;
    case TranslationKind::Mig: return system.mig;
    default: return system.host.mmu;
  }
}

/// The group of their parameters.
const char* path_of_pool(const SystemSpec& system) {
  switch (system.translation.kind) {
    case TranslationKind::Ats: return "iommu";
    case TranslationKind::Mig: return "mig";
    default: return "host.mmu";
  }
}

class Dws final : public PlugIn {
 public:
  void describe(Section& root) override { root.child("dws", spec_, "Dynamic walk stealing."); }

  void check(const SystemSpec& system, const Configuration& configuration) const override {
    if (pool_of(system).walkers != 0) return;
    const std::string path = fmt::format("{}.walkers", path_of_pool(system));
    configuration.fail({path},
                       fmt::format("the tenants of `dws` share a number of walkers, and `{}` is without limit.", path));
  }

  void attach(Host& host, const SystemSpec& system) const override {
    const WalkersSpec& pool = pool_of(system);
    const auto tenants = static_cast<unsigned>(host.applications());
    if (tenants > pool.walkers) {
      throw InputError(
          fmt::format("The design `dws` gives each of {} processes walkers of its own, but there are {} ({}.walkers).",
                      tenants, pool.walkers, path_of_pool(system)));
    }
    WalkUnit& walkers = host.iommu() != nullptr ? host.iommu()->walkers() : host.mmu()->walkers();
    host.parts().add(std::make_unique<WalkStealer>(walkers, pool.queue, spec_, tenants));
  }

  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    StatLister lister(out, "host.dws.");
    TenantStats stats;
    stats.describe(lister, "");
    stats.describe(lister, ".pid<p>");
    return out;
  }

  /// Who owns which walker follows from its number; a walker remembers whether it stole early.
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint64_t walkers = pool_of(system).walkers;
    return {{"steal bits", false, walkers, fmt::format("{} walkers × 1 bit", walkers)}};
  }

 private:
  DwsSpec spec_;
};

}  // namespace

void register_dws(DesignRegistry& registry) {
  registry.add({.name = "dws",
                .sentence = "Each process owns walkers; a walker without work of its owner's steals another's.",
                .seams = {"walk order"},
                .systems = {TranslationKind::Ats, TranslationKind::Mmu, TranslationKind::Mig},
                .make = make_plug_in<Dws>,
                .readme = "src/designs/dws/README.md",
                .paper = "dws"});
}

}  // namespace nearfar
