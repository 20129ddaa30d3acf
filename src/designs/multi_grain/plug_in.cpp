// The multi-grain directory as a design: `multi-grain`.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "coherence/directory_home.h"
#include "config/configuration.h"
#include "designs/directory_design.h"
#include "designs/multi_grain/multi_grain_directory.h"
#include "designs/registry.h"

namespace nearfar {
namespace {

struct MultiGrainSpec {
  std::uint32_t lines = 16;

  void describe(Section& section) {
    section.integer("lines", lines, Limits::powers_of_two(2, 64), "lines",
                    "Lines of a region of the multi-grain coherence directory, which one entry tracks while a single "
                    "GPU caches them.");
  }
};

class MultiGrain final : public PlugIn {
 public:
  void describe(Section& root) override { root.child("multi_grain", spec_, "The multi-grain coherence directory."); }

  void check(const SystemSpec& system, const Configuration& configuration) const override {
    if (spec_.lines * system.gpu.line <= kPageBytes) return;
    configuration.fail({"multi_grain.lines", "gpu.line"},
                       "a region of `multi_grain.lines` lines must not be larger than a 4KiB frame.");
  }

  std::unique_ptr<Directory> make_directory(const SystemSpec& system, DeviceId home) const override {
    return std::make_unique<MultiGrainDirectory>(system.directory, directory_home(home, system), spec_.lines);
  }

  std::vector<StatInfo> statistics() const override { return {}; }

  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint64_t entries = system.directory.all_entries();
    const std::uint64_t bits = MultiGrainDirectory::entry_bits(system.gpus, spec_.lines, system.gpu.line);
    return {directory_storage(system, entries * bits, fmt::format("{} entries × {} bits", entries, bits))};
  }

 private:
  MultiGrainSpec spec_;
};

}  // namespace

void register_multi_grain(DesignRegistry& registry) {
  Design design = directory_design(
      "multi-grain", "One directory entry tracks a region that a single GPU caches; shared lines have their own.",
      "src/designs/multi_grain/README.md");
  design.paper = "multi-grain";
  design.make = make_plug_in<MultiGrain>;
  registry.add(std::move(design));
}

}  // namespace nearfar
