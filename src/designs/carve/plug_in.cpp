// CARVE's coherence as a design: `carve`, a sharing bit for each line of memory and broadcast invalidations.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "coherence/directory_home.h"
#include "designs/carve/sharing_bits.h"
#include "designs/directory_design.h"
#include "designs/registry.h"

namespace nearfar {
namespace {

class Carve final : public PlugIn {
 public:
  void describe(Section&) override {}

  std::unique_ptr<Directory> make_directory(const SystemSpec& system, DeviceId home) const override {
    return std::make_unique<SharingBits>(directory_home(home, system));
  }

  std::vector<StatInfo> statistics() const override { return {}; }

  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint64_t lines = system.gpu.dram.capacity / system.gpu.line;
    return {directory_storage(system, 0, fmt::format("in memory: {} lines × 1 bit, beside their data", lines))};
  }
};

}  // namespace

void register_carve(DesignRegistry& registry) {
  Design design = directory_design(
      "carve", "A bit in memory says whether other GPUs hold a line; writes to shared lines are broadcast.",
      "src/designs/carve/README.md");
  design.paper = "carve";
  design.make = make_plug_in<Carve>;
  registry.add(std::move(design));
}

}  // namespace nearfar
