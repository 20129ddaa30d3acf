// HMG as a design: `hmg`, a coherence directory whose entries track blocks of lines.
#include <memory>
#include <utility>

#include "coherence/block_directory.h"
#include "coherence/directory_home.h"
#include "config/configuration.h"
#include "designs/directory_design.h"
#include "designs/registry.h"

namespace nearfar {
namespace {

struct HmgSpec {
  std::uint32_t lines = 4;

  void describe(Section& section) {
    section.integer("lines", lines, Limits::powers_of_two(1, 64), "lines",
                    "Neighbouring lines that an entry of the coherence directory tracks as one.");
  }
};

class Hmg final : public PlugIn {
 public:
  void describe(Section& root) override { root.child("hmg", spec_, "The coherence directory of HMG."); }

  void check(const SystemSpec& system, const Configuration& configuration) const override {
    if (spec_.lines * system.gpu.line <= kPageBytes) return;
    configuration.fail({"hmg.lines", "gpu.line"}, "a block of `hmg.lines` lines must not be larger than a 4KiB frame.");
  }

  std::unique_ptr<Directory> make_directory(const SystemSpec& system, DeviceId home) const override {
    return std::make_unique<BlockDirectory>(system.directory, directory_home(home, system), spec_.lines);
  }

  std::vector<StatInfo> statistics() const override { return {}; }

  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    return {block_directory_storage(system)};
  }

 private:
  HmgSpec spec_;
};

}  // namespace

void register_hmg(DesignRegistry& registry) {
  Design design =
      directory_design("hmg", "An entry of the coherence directory tracks four lines with one sharer vector.",
                       "src/designs/hmg/README.md");
  design.paper = "hmg";
  design.make = make_plug_in<Hmg>;
  registry.add(std::move(design));
}

}  // namespace nearfar
