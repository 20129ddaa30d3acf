// Packing of the L3 TLB that GPU instances share, as a plug-in.
#include <fmt/format.h>

#include <bit>

#include "config/configuration.h"
#include "designs/mig_packing/packed_array.h"
#include "designs/registry.h"
#include "host/host.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

class PackingPlugIn final : public PlugIn {
 public:
  void describe(Section& root) override {
    root.child("mig_packing", spec_, "Several ranges of pages in one way of the L3 TLB of GPU instances.");
  }
  void check(const SystemSpec& system, const Configuration& configuration) const override {
    if (system.mig.l3_tlb.entries == 0) {
      configuration.fail({"mig.l3_tlb.entries"},
                         "an L3 TLB without limit (`mig.l3_tlb.entries` = 0) has nothing to pack.");
    }
    if (system.mig.l3_tlb.replacement != TlbReplacementKind::Lru) {
      configuration.fail({"mig.l3_tlb.replacement"},
                         "`mig-packing` replaces what has not been used for longest: `mig.l3_tlb.replacement` must be "
                         "`lru`.");
    }
    if (system.mig.sub_entries % spec_.ranges == 0) return;
    configuration.fail({"mig_packing.ranges", "mig.sub_entries"},
                       "`mig_packing.ranges` must divide `mig.sub_entries`: the ranges of a packed way share them.");
  }
  void attach(Host& host, const SystemSpec& system) const override {
    host.iommu()->set_l3_array(host.parts().add(std::make_unique<PackedArray>(spec_, system.mig)));
  }
  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<PackingStats>(out, {"host.l3_packing."});
    return out;
  }
  /// What an entry has beyond the baseline's: tags of the other ranges, which page a sub-entry is for, whether it is
  /// packed, and the order of use of ranges instead of ways.
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint64_t entries = system.mig.l3_tlb.entries;
    const std::uint32_t ways = system.mig.l3_tlb.ways;
    const std::uint32_t sets = system.mig.l3_tlb.entries / ways;
    const auto page_bits = static_cast<std::uint64_t>(std::countr_zero(system.mig.sub_entries));
    const std::uint64_t range = 9 * system.page_table.levels - system.page.size.bits - page_bits;
    const std::uint64_t tag = range - static_cast<unsigned>(std::bit_width(sets) - 1) + kPidBits;
    const auto order = static_cast<std::uint64_t>(std::bit_width(ways * spec_.ranges - 1));
    const auto baseline_order = static_cast<std::uint64_t>(std::bit_width(ways - 1));
    return {{"further tags", false, entries * (spec_.ranges - 1) * tag,
             fmt::format("{} entries × {} ranges × {} bits", entries, spec_.ranges - 1, tag)},
            {"pages of sub-entries", false, entries * system.mig.sub_entries * page_bits,
             fmt::format("{} entries × {} sub-entries × {} bits", entries, system.mig.sub_entries, page_bits)},
            {"packed bits", false, entries, fmt::format("{} entries × 1 bit", entries)},
            {"order of use", false, entries * spec_.ranges * order,
             fmt::format("{} entries × {} ranges × {} bits", entries, spec_.ranges, order), entries * baseline_order,
             fmt::format("{} entries × {} bits", entries, baseline_order)}};
  }

 private:
  static constexpr std::uint64_t kPidBits = 8;

  PackingSpec spec_;
};

}  // namespace

void register_mig_packing(DesignRegistry& registry) {
  registry.add({.name = "mig-packing",
                .sentence = "Ranges of pages with few sub-entries in use share an entry of the L3 TLB.",
                .seams = {"L3 TLB array", "L3 TLB replacement", "L3 TLB tags"},
                .systems = {TranslationKind::Mig},
                .make = make_plug_in<PackingPlugIn>,
                .readme = "src/designs/mig_packing/README.md"});
}

}  // namespace nearfar
