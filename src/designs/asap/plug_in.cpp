// ASAP as a design: `asap`, in the GMMUs and in the host's MMU.
#include <fmt/format.h>

#include "config/configuration.h"
#include "designs/asap/asap.h"
#include "designs/registry.h"
#include "designs/walk_units.h"

namespace nearfar {
namespace {

class Asap final : public BesideWalkers<Asap, AsapStats> {
 public:
  static constexpr const char* kPart = "asap";

  void describe(Section& root) override { root.child("asap", spec_, "Page-table entries fetched ahead of walks."); }

  void check(const SystemSpec& system, const Configuration& configuration) const override {
    require_walks_by_level(system, configuration, "fetching entries ahead");
    const unsigned leaf = system.page.size.bits == 0 ? 1 : 2;
    if (leaf == 2 && spec_.fetches(1, leaf)) {
      configuration.fail({"asap.levels", "page.size"}, "pages of 2 MiB have no entries of level 1 to fetch ahead.");
    }
  }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const unsigned leaf = system.page.size.bits == 0 ? 1 : 2;
    std::uint64_t levels = 0;
    for (unsigned level = leaf; level < system.page_table.levels; ++level) levels += spec_.fetches(level, leaf);
    std::vector<StorageItem> items;
    for (const WalkersOf& pool : walkers_of(system)) {
      const std::uint64_t walkers = pool.spec->walkers;
      items.push_back({pool.path + " fetched entries", pool.per_gpu, walkers * levels * (1 + 64),
                       fmt::format("{} walkers × {} levels × (1 valid + 64 entry) bits", walkers, levels)});
    }
    return items;
  }

  template <class Device>
  void join(Device& device, WalkUnit& unit) const {
    auto part = std::make_unique<WalkPrefetcher>(device.partition(), unit, spec_);
    unit.set_access(device.parts().add(std::move(part)));
  }

 private:
  AsapSpec spec_;
};

}  // namespace

void register_asap(DesignRegistry& registry) {
  registry.add({.name = "asap",
                .sentence = "Entries of the lower levels are fetched when a walk begins, in parallel with it.",
                .seams = {"walk access"},
                .systems = {TranslationKind::Mmu},
                .make = make_plug_in<Asap>,
                .readme = "src/designs/asap/README.md",
                .paper = "asap"});
}

}  // namespace nearfar
