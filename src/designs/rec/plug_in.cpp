// REC as a design: `rec`, a coherence directory whose entries track ranges of addresses.
#include <fmt/format.h>

#include <memory>
#include <utility>

#include "coherence/directory_home.h"
#include "config/configuration.h"
#include "designs/directory_design.h"
#include "designs/rec/rec_directory.h"
#include "designs/rec/rec_spec.h"
#include "designs/registry.h"

namespace nearfar {
namespace {

class Rec final : public PlugIn {
 public:
  void describe(Section& root) override { root.child("rec", spec_, "The coherence directory of REC."); }

  void fill_in(const SystemSpec& system) override { spec_.fill_in(system.gpu.line); }
  void check(const SystemSpec& system, const Configuration& configuration) const override {
    if (spec_.range >= system.gpu.line) return;
    configuration.fail({"rec.range", "gpu.line"}, "`rec.range` must be at least a line.");
  }

  std::unique_ptr<Directory> make_directory(const SystemSpec& system, DeviceId home) const override {
    DirectorySpec spec = system.directory;
    spec.replacement = spec_.replacement;
    return std::make_unique<RecDirectory>(spec, directory_home(home, system), spec_.positions(system.gpu.line));
  }

  std::vector<StatInfo> statistics() const override { return {}; }

  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint64_t entries = system.directory.all_entries();
    const std::uint32_t positions = spec_.positions(system.gpu.line);
    const std::uint64_t bits = RecDirectory::entry_bits(system.gpus, positions, system.gpu.line);
    return {directory_storage(
        system, entries * bits,
        fmt::format("{} entries × ({} base + {} positions × (1 + {} sharers) + 1 valid) bits", entries,
                    bits - 1 - std::uint64_t{positions} * system.gpus, positions, system.gpus - 1))};
  }

 private:
  RecSpec spec_;
};

}  // namespace

void register_rec(DesignRegistry& registry) {
  Design design =
      directory_design("rec", "An entry of the coherence directory tracks the lines of a range, each with its sharers.",
                       "src/designs/rec/README.md");
  design.paper = "rec";
  design.make = make_plug_in<Rec>;
  registry.add(std::move(design));
}

}  // namespace nearfar
