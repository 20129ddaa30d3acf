// Multicast and in-switch reduction as a design.
#include <fmt/format.h>

#include <bit>

#include "config/schema.h"
#include "designs/egress_design.h"
#include "designs/nvls/nvls_switch.h"
#include "designs/registry.h"

namespace nearfar {
namespace {

class NvlsDesign final : public PlugIn {
 public:
  void describe(Section& root) override { root.child("nvls", spec_, "Multicast and reduction in the switch."); }

  void check(const SystemSpec& system, const Configuration& configuration) const override {
    require_posted_stores(system, configuration, "nvls");
    if (system.link.topology != TopologyKind::Switch) {
      configuration.fail(
          {"link.topology"},
          "`nvls` is a switch that all GPUs share: it needs `link.topology` switch, not links from GPU to "
          "GPU or a tree of switches.");
    }
    if (system.link.latency < 2) {
      configuration.fail({"link.latency"},
                         "With `nvls` the switch stands half way between two GPUs: `link.latency` must be at least 2.");
    }
    if (system.remote_cache != RemoteCache::None) {
      configuration.fail(
          {"remote_cache"},
          "With `nvls` a load of multicast memory returns a sum that no store updates, which no cache may "
          "keep: `nvls` needs `remote_cache: none`.");
    }
    if (system.placement == InitialPlacement::Host) {
      configuration.fail(
          {"placement.initial"},
          "With `nvls` the members of multicast memory lie on GPUs: `placement.initial` must not be host.");
    }
  }

  bool adds_switch() const override { return true; }
  std::unique_ptr<SwitchDevice> make_switch(const SwitchSite& site) const override {
    return std::make_unique<NvlsSwitch>(site, spec_);
  }
  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<NvlsStats>(out, {"switch.nvls."});
    list_stats<LinkStats>(out, {"switch.link."});
    return out;
  }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint64_t line = system.gpu.line;
    const auto counter = static_cast<std::uint64_t>(std::bit_width(system.gpus));
    return {{"reduction entries of the switch", false,
             std::uint64_t{system.gpus} * spec_.entries * (line * 8 + counter),
             fmt::format("{} ports × {} lines × ({} B + {} bits)", system.gpus, spec_.entries, line, counter)}};
  }

 private:
  NvlsSpec spec_;
};

}  // namespace

void register_nvls(DesignRegistry& registry) {
  registry.add({.name = "nvls",
                .sentence = "The switch copies stores to multicast memory to all members, and adds up loads of it.",
                .seams = {"switch"},
                .systems = {TranslationKind::Ideal, TranslationKind::Ats},
                .system = "finepack-16gpu-nvlink",
                .make = make_plug_in<NvlsDesign>,
                .readme = "src/designs/nvls/README.md",
                .paper = "nvls"});
}

}  // namespace nearfar
