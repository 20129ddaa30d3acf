// least-TLB as a design: its parts in the IOMMU and in every GPU.
#include <fmt/format.h>

#include <bit>

#include "config/configuration.h"
#include "designs/least_tlb/least_tlb_gpu.h"
#include "designs/least_tlb/least_tlb_iommu.h"
#include "designs/least_tlb/least_tlb_spec.h"
#include "designs/registry.h"
#include "gpu/gpu.h"
#include "host/host.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

class LeastTlb final : public PlugIn {
 public:
  void describe(Section& root) override { root.child("least_tlb", spec_, "The least-TLB design."); }

  void check(const SystemSpec& system, const Configuration& configuration) const override {
    const std::uint64_t share = std::uint64_t{system.gpus} * spec_.tracker.slots;
    if (spec_.tracker.entries % share == 0) return;
    configuration.fail(
        {"least_tlb.tracker.entries", "gpus", "least_tlb.tracker.slots_per_bucket"},
        fmt::format("`least_tlb.tracker.entries` must be a multiple of gpus × slots_per_bucket = {}.", share));
  }

  void attach(Gpu& gpu, const SystemSpec& system) const override {
    const DeviceId host{static_cast<std::uint16_t>(system.gpus)};
    gpu.parts().add(
        std::make_unique<LeastTlbGpu>(gpu.partition(), *gpu.l2_tlb(), gpu, host, spec_, spills(gpu.applications())));
  }

  void attach(Host& host, const SystemSpec& system) const override {
    host.parts().add(std::make_unique<LeastTlbIommu>(host.partition(), *host.iommu(), host, spec_,
                                                     spills(host.applications()), system.gpus));
  }

  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<LeastTlbIommuStats>(out, {"host.least_tlb."});
    LeastTlbProcessStats process;
    StatLister lister(out, "host.least_tlb.");
    process.describe(lister, ".pid<p>");
    list_stats<TrackerStats>(out, {"host.least_tlb."});
    list_stats<LeastTlbGpuStats>(out, {"gpus.least_tlb.", "gpu<g>.least_tlb."});
    return out;
  }

  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const auto bits_for = [](std::uint64_t largest) { return static_cast<std::uint64_t>(std::bit_width(largest)); };
    const std::uint64_t counter = spec_.counter_bits != 0 ? spec_.counter_bits : bits_for(system.iommu.tlb.entries);
    const std::uint64_t state = bits_for(spec_.spill.count) + 1 + bits_for(system.gpus - 1);
    const std::uint64_t entries = system.iommu.tlb.entries + std::uint64_t{system.gpus} * system.gpu.l2_tlb.entries;
    return {{"local TLB tracker", false, std::uint64_t{spec_.tracker.entries} * spec_.tracker.fingerprint_bits,
             fmt::format("{} fingerprints × {} bits", spec_.tracker.entries, spec_.tracker.fingerprint_bits)},
            {"Eviction Counters", false, system.gpus * counter, fmt::format("{} GPUs × {} bits", system.gpus, counter)},
            {"spill state", false, entries * state,
             fmt::format("({} + {} × {}) TLB entries × {} bits", system.iommu.tlb.entries, system.gpus,
                         system.gpu.l2_tlb.entries, state)}};
  }

 private:
  bool spills(std::size_t applications) const {
    return spec_.mode == LeastTlbMode::Multi || (spec_.mode == LeastTlbMode::Auto && applications > 1);
  }

  LeastTlbSpec spec_;
};

}  // namespace

void register_least_tlb(DesignRegistry& registry) {
  registry.add({.name = "least-tlb",
                .sentence = "The IOMMU TLB holds what L2 TLBs gave up; GPUs share theirs, or take what it spills.",
                .seams = {"IOMMU TLB content"},
                .systems = {TranslationKind::Ats},
                .make = make_plug_in<LeastTlb>,
                .readme = "src/designs/least_tlb/README.md",
                .paper = "least-tlb"});
}

}  // namespace nearfar
