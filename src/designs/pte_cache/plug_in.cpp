#include "designs/pte_cache/plug_in.h"

#include <fmt/format.h>

#include "config/schema.h"
#include "designs/pte_cache/pte_cache.h"
#include "designs/walk_units.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

class PteCacheDesign final : public PlugIn {
 public:
  void describe(Section& root) override {
    root.child("pte_cache", spec_, "The cache of page-table lines beside the walkers.");
  }
  void check(const SystemSpec& system, const Configuration& configuration) const override {
    require_walks_by_level(system, configuration, "a cache of page-table lines");
  }
  void attach(Gpu& gpu, const SystemSpec&) const override { attach_to(gpu); }
  void attach(Host& host, const SystemSpec&) const override { attach_to(host); }

  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<PteCacheStats>(out, {"gpus.pte_cache.", "gpu<g>.pte_cache.", "host.pte_cache."});
    return out;
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

 private:
  template <class Device>
  void attach_to(Device& device) const {
    WalkUnit* unit = walk_unit_of(device);
    if (unit == nullptr) return;
    auto part = std::make_unique<PteCache>(device.partition(), *unit, spec_);
    unit->set_access(device.parts().add(std::move(part)));
  }

  PteCacheSpec spec_;
};

}  // namespace

std::shared_ptr<PlugIn> make_pte_cache() { return std::make_shared<PteCacheDesign>(); }

}  // namespace nearfar
