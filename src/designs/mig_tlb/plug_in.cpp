// The study's designs for the L3 TLB that GPU instances share, as plug-ins: ways divided among processes, sub-entries
// shared between them, and both.
#include <fmt/format.h>

#include <bit>

#include "config/configuration.h"
#include "designs/mig_tlb/way_partition.h"
#include "designs/registry.h"
#include "host/host.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kPidBits = 8;

/// Designs of a TLB without limit have nothing to decide.
void check_limited(const SystemSpec& system, const Configuration& configuration) {
  if (system.mig.l3_tlb.entries != 0) return;
  configuration.fail({"mig.l3_tlb.entries"},
                     "an L3 TLB without limit (`mig.l3_tlb.entries` = 0) has no entries to divide or share.");
}

class PartitionPlugIn final : public PlugIn {
 public:
  explicit PartitionPlugIn(WayShares shares) { spec_.shares = shares; }

  void describe(Section& root) override {
    Section group = root.group("mig", "");
    spec_.describe(group);
  }
  void check(const SystemSpec& system, const Configuration& configuration) const override {
    check_limited(system, configuration);
    if (system.mig.l3_tlb.replacement != TlbReplacementKind::Lru) {
      configuration.fail({"mig.l3_tlb.replacement"},
                         "way partitioning takes the place of `mig.l3_tlb.replacement`, which must be `lru`.");
    }
    if (system.gpus <= system.mig.l3_tlb.ways) return;
    configuration.fail({"mig.l3_tlb.ways", "mig.instances"},
                       fmt::format("each of {} instances needs a way of the L3 TLB, and `mig.l3_tlb.ways` is {}.",
                                   system.gpus, system.mig.l3_tlb.ways));
  }
  void attach(Host& host, const SystemSpec& system) const override {
    auto& partition = host.parts().add(std::make_unique<WayPartition>(host.partition(), spec_, system.mig));
    host.iommu()->set_l3_replacement(partition.replacement());
  }
  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    StatLister lister(out, "host.l3_partition.");
    WayPartitionStats stats;
    stats.describe(lister);
    out.push_back({"host.l3_partition.ways.pid<p>", "ways",
                   "Ways of the L3 TLB that a process was given, summed over the times that they were divided."});
    return out;
  }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint32_t ways = system.mig.l3_tlb.ways;
    const auto way_bits = static_cast<std::uint64_t>(std::bit_width(ways));
    std::vector<StorageItem> items = {
        {"shares", false, system.gpus * way_bits, fmt::format("{} instances × {} bits", system.gpus, way_bits)}};
    if (spec_.shares != WayShares::Dynamic) return items;
    const std::uint32_t sets = system.mig.l3_tlb.entries / ways;
    const std::uint64_t sampled = (sets + spec_.sample - 1) / spec_.sample;
    // The number of a range of pages, without what the set says; the PID is the shadow directory's own.
    const auto range = 9 * system.page_table.levels - system.page.size.bits -
                       static_cast<unsigned>(std::countr_zero(system.mig.sub_entries));
    const std::uint64_t tag = range - static_cast<unsigned>(std::bit_width(sets) - 1);
    const std::uint64_t order = static_cast<std::uint64_t>(std::bit_width(ways - 1));
    const std::uint64_t entry = tag + system.mig.sub_entries + order;
    items.push_back({"shadow tags", false, system.gpus * sampled * ways * entry,
                     fmt::format("{} instances × {} sets × {} ways × ({} + {} + {}) bits", system.gpus, sampled, ways,
                                 tag, system.mig.sub_entries, order)});
    items.push_back({"hit counters", false, std::uint64_t{system.gpus} * ways * kCounterBits,
                     fmt::format("{} instances × {} places × {} bits", system.gpus, ways, kCounterBits)});
    return items;
  }

 private:
  static constexpr std::uint32_t kCounterBits = 32;

  WayPartitionSpec spec_;
};

class SharingPlugIn final : public PlugIn {
 public:
  void describe(Section& root) override {
    root.group("mig", "").flag("subentry_sharing", sharing_,
                               "If true, processes that use one range of virtual addresses share its entry of the L3 "
                               "TLB, in which each sub-entry says whose it is.");
  }
  void check(const SystemSpec& system, const Configuration& configuration) const override {
    check_limited(system, configuration);
    if (system.mig.sub_entries > 1) return;
    configuration.fail({"mig.sub_entries"},
                       "processes can share an entry only where it has several sub-entries: `mig.sub_entries` is 1.");
  }
  void attach(Host& host, const SystemSpec&) const override {
    if (sharing_) host.iommu()->share_sub_entries();
  }
  std::vector<StatInfo> statistics() const override { return {}; }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    const std::uint64_t sub_entries = std::uint64_t{system.mig.l3_tlb.entries} * system.mig.sub_entries;
    return {{"owners of sub-entries", false, sub_entries * kPidBits,
             fmt::format("{} entries × {} sub-entries × {} bits", system.mig.l3_tlb.entries, system.mig.sub_entries,
                         kPidBits)}};
  }

 private:
  bool sharing_ = true;
};

template <WayShares kShares>
std::shared_ptr<PlugIn> make_partition() {
  return std::make_shared<PartitionPlugIn>(kShares);
}

}  // namespace

void register_mig_tlb(DesignRegistry& registry) {
  constexpr const char* kReadme = "src/designs/mig_tlb/README.md";
  constexpr const char* kPaper = "translation-dissertation";
  registry.add({.name = "mig-tlb",
                .sentence = "Ways of the L3 TLB follow the demand of GPU instances, which share its sub-entries.",
                .systems = {TranslationKind::Mig},
                .parts = {"mig-dynamic", "mig-sharing"},
                .readme = kReadme,
                .paper = kPaper});
  registry.add({.name = "mig-static",
                .sentence = "Each GPU instance has ways of the shared L3 TLB by its size.",
                .seams = {"L3 TLB replacement"},
                .systems = {TranslationKind::Mig},
                .make = make_partition<WayShares::Static>,
                .readme = kReadme});
  registry.add({.name = "mig-dynamic",
                .sentence = "Each GPU instance has ways of the shared L3 TLB by the hits that they bring it.",
                .seams = {"L3 TLB replacement"},
                .systems = {TranslationKind::Mig},
                .make = make_partition<WayShares::Dynamic>,
                .readme = kReadme,
                .paper = kPaper});
  registry.add({.name = "mig-sharing",
                .sentence = "GPU instances with the same virtual addresses share entries of the L3 TLB.",
                .seams = {"L3 TLB tags"},
                .systems = {TranslationKind::Mig},
                .make = make_plug_in<SharingPlugIn>,
                .readme = kReadme,
                .paper = kPaper});
}

}  // namespace nearfar
