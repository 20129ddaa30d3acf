// Neighborhood-aware coalescing as a design: `neighborhood` at all levels of the page table, `neighborhood-leaf` at the
// leaf alone. It goes with every pool of walkers that reads its tables entry by entry.
#include <fmt/format.h>

#include "config/configuration.h"
#include "designs/neighborhood/walk_coalescer.h"
#include "designs/registry.h"
#include "designs/walk_units.h"

namespace nearfar {
namespace {

class Neighborhood final : public BesideWalkers<Neighborhood, CoalescerStats> {
 public:
  static constexpr const char* kPart = "neighborhood";

  explicit Neighborhood(bool leaf_only) { spec_.leaf_only = leaf_only; }

  void describe(Section& root) override {
    root.child("neighborhood", spec_, "Neighborhood-aware coalescing of page walks.");
  }

  void check(const SystemSpec& system, const Configuration& configuration) const override {
    require_walks_by_level(system, configuration, "coalescing");
    for (const WalkersOf& pool : walkers_of(system)) {
      if (pool.spec->walkers != 0) continue;
      configuration.fail(
          {pool.path + ".walkers"},
          fmt::format("coalescing needs a number of walkers, and `{}.walkers` is without limit.", pool.path));
    }
  }

  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    std::vector<StorageItem> items;
    for (const WalkersOf& pool : walkers_of(system)) {
      const std::uint64_t queue = pool.spec->queue;
      const std::uint64_t walkers = pool.spec->walkers;
      // Names of pages and levels as in a table of 4 levels, whatever the system's has.
      if (spec_.leaf_only) {
        items.push_back({pool.path + " queue", pool.per_gpu, queue, fmt::format("{} entries × 1 CL bit", queue)});
      } else {
        items.push_back({pool.path + " queue", pool.per_gpu, queue * (3 + 40 + 1),
                         fmt::format("{} entries × (3 PL + 40 PA + 1 CL) bits", queue)});
      }
      items.push_back({pool.path + " walk state table", pool.per_gpu, walkers * (1 + 36 + 3),
                       fmt::format("{} walkers × (1 valid + 36 page + 3 level) bits", walkers)});
    }
    return items;
  }

  template <class Device>
  void join(Device& device, WalkUnit& unit) const {
    auto part = std::make_unique<WalkCoalescer>(device.partition(), unit, spec_, device.checked());
    unit.set_order(device.parts().add(std::move(part)));
  }

 private:
  NeighborhoodSpec spec_;
};

}  // namespace

void register_neighborhood(DesignRegistry& registry) {
  constexpr const char* kReadme = "src/designs/neighborhood/README.md";
  registry.add({.name = "neighborhood",
                .sentence = "A page-table line serves all waiting requests whose entries it has, at every level.",
                .seams = {"walk order"},
                .systems = {TranslationKind::Svm, TranslationKind::Ats, TranslationKind::Mmu},
                .make = []() -> std::shared_ptr<PlugIn> { return std::make_shared<Neighborhood>(false); },
                .readme = kReadme,
                .paper = "neighborhood"});
  registry.add({.name = "neighborhood-leaf",
                .sentence = "A line of leaf entries serves all waiting requests whose entries it has.",
                .seams = {"walk order"},
                .systems = {TranslationKind::Svm, TranslationKind::Ats, TranslationKind::Mmu},
                .make = []() -> std::shared_ptr<PlugIn> { return std::make_shared<Neighborhood>(true); },
                .readme = kReadme,
                .paper = "neighborhood"});
}

}  // namespace nearfar
