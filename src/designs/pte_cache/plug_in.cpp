// The cache of page-table lines as a design: `pte-cache`, beside every pool of walkers that reads its tables entry by
// entry.
#include <fmt/format.h>

#include "config/schema.h"
#include "designs/pte_cache/pte_cache.h"
#include "designs/registry.h"
#include "designs/walk_units.h"

namespace nearfar {
namespace {

class PteCacheDesign final : public BesideWalkers<PteCacheDesign, PteCacheStats> {
 public:
  static constexpr const char* kPart = "pte_cache";

  void describe(Section& root) override {
    root.child("pte_cache", spec_, "The cache of page-table lines beside the walkers.");
  }
  void check(const SystemSpec& system, const Configuration& configuration) const override {
    require_walks_by_level(system, configuration, "a cache of page-table lines");
  }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    std::vector<StorageItem> items;
    const std::uint64_t lines = spec_.lines;
    for (const WalkersOf& pool : walkers_of(system)) {
      items.push_back(
          {pool.path + " PTE cache data", pool.per_gpu, lines * 512, fmt::format("{} lines × 64 B", lines)});
      items.push_back({pool.path + " PTE cache tags", pool.per_gpu, lines * (1 + 40 + 6),
                       fmt::format("{} lines × (1 valid + 40 frame + 6 line) bits", lines)});
    }
    return items;
  }

  template <class Device>
  void join(Device& device, WalkUnit& unit) const {
    auto part = std::make_unique<PteCache>(device.partition(), unit, spec_);
    unit.set_access(device.parts().add(std::move(part)));
  }

 private:
  PteCacheSpec spec_;
};

}  // namespace

void register_pte_cache(DesignRegistry& registry) {
  registry.add({.name = "pte-cache",
                .sentence = "A cache of page-table lines beside the walkers.",
                .seams = {"walk access"},
                .systems = {TranslationKind::Svm, TranslationKind::Ats, TranslationKind::Mmu},
                .make = make_plug_in<PteCacheDesign>,
                .readme = "src/designs/pte_cache/README.md",
                .paper = "neighborhood"});
}

}  // namespace nearfar
