// IDYLL as plug-ins: its directory, in page-table entries or in memory, and its lazy invalidation.
#include <fmt/format.h>

#include "config/configuration.h"
#include "designs/idyll/in_pte_directory.h"
#include "designs/idyll/irmb.h"
#include "designs/idyll/vm_table.h"
#include "designs/registry.h"
#include "gpu/gpu.h"
#include "host/host.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

constexpr unsigned kIrmbPlace = 1;  // in the chain before the GMMU walk
constexpr unsigned kOffsetBits = 9;
constexpr const char* kIdyll = "IDYLL: fewer invalidations of page tables, and lazy ones.";

DeviceId host_of(const SystemSpec& system) { return DeviceId{static_cast<std::uint16_t>(system.gpus)}; }

/// A directory says whom to invalidate.
void check_targets(const SystemSpec& system, const Configuration& configuration) {
  if (system.invalidate.targets == InvalidateTargets::Auto) return;
  configuration.fail({"invalidate.targets"},
                     "a directory takes the place of `invalidate.targets`, which must be `auto`.");
}

class Dir final : public PlugIn {
 public:
  void describe(Section& root) override {
    Section group = root.group("idyll", kIdyll);
    spec_.describe(group);
  }
  void check(const SystemSpec& system, const Configuration& configuration) const override {
    check_targets(system, configuration);
  }
  void attach(Host& host, const SystemSpec& system) const override {
    host.parts().add(std::make_unique<InPteDirectory>(*host.mmu(), system.gpus, host_of(system), spec_));
  }
  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<InPteDirectoryStats>(out, {"host.directory."});
    return out;
  }
  std::vector<StorageItem> storage(const SystemSpec&) const override {
    return {{"in-PTE directory", false, 0, fmt::format("{} bits of entries that exist", spec_.access_bits)}};
  }

 private:
  InPteSpec spec_;
};

class InMem final : public PlugIn {
 public:
  void describe(Section& root) override {
    root.group("idyll", kIdyll).child("vm_cache", spec_, "The VM-Cache, which holds entries of the VM-Table.");
  }
  void check(const SystemSpec& system, const Configuration& configuration) const override {
    check_targets(system, configuration);
    if (spec_.entries % spec_.ways == 0) return;
    configuration.fail({"idyll.vm_cache.entries", "idyll.vm_cache.ways"},
                       "`idyll.vm_cache.entries` must be a multiple of its ways.");
  }
  void attach(Host& host, const SystemSpec& system) const override {
    host.parts().add(std::make_unique<VmTable>(*host.mmu(), system.gpus, host_of(system), spec_));
  }
  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<VmTableStats>(out, {"host.vm_cache."});
    return out;
  }
  std::vector<StorageItem> storage(const SystemSpec&) const override {
    return {{"VM-Cache", false, std::uint64_t{spec_.entries} * VmTable::kEntryBits,
             fmt::format("{} entries × {} bits", spec_.entries, VmTable::kEntryBits)},
            {"VM-Table", false, 0, fmt::format("{} bits of memory for each page", VmTable::kEntryBits)}};
  }

 private:
  VmCacheSpec spec_;
};

class Lazy final : public PlugIn {
 public:
  void describe(Section& root) override {
    root.group("idyll", kIdyll).child("irmb", spec_, "The Invalidation Request Merging Buffer of a GPU.");
  }
  void check(const SystemSpec& system, const Configuration& configuration) const override {
    if (system.invalidate.how == InvalidateHow::Walk) return;
    configuration.fail({"invalidate.how"},
                       "lazy invalidation takes the place of `invalidate.how`, which must be `walk`.");
  }
  void attach(Gpu& gpu, const SystemSpec&) const override {
    auto& irmb = gpu.parts().add(std::make_unique<Irmb>(*gpu.gmmu(), spec_));
    gpu.gmmu()->add_filter(irmb, kIrmbPlace);
    gpu.gmmu()->set_invalidator(irmb);
  }
  std::vector<StatInfo> statistics() const override {
    std::vector<StatInfo> out;
    list_stats<IrmbStats>(out, {"gpus.irmb.", "gpu<g>.irmb."});
    return out;
  }
  std::vector<StorageItem> storage(const SystemSpec& system) const override {
    // A page number without its offset; 2 MiB pages have one level less.
    const std::uint64_t base = 9 * (system.page_table.levels - 1) - system.page.size.bits;
    const std::uint64_t entry = base + std::uint64_t{spec_.offsets} * kOffsetBits;
    const std::string how = fmt::format("({} + {} × {}) bits", base, spec_.offsets, kOffsetBits);
    return {{"IRMB", true, spec_.bases * entry, fmt::format("{} entries × {}", spec_.bases, how)},
            {"write-back buffers", true, spec_.writeback_buffers * entry,
             fmt::format("{} entries × {}", spec_.writeback_buffers, how)}};
  }

 private:
  IrmbSpec spec_;
};

}  // namespace

void register_idyll(DesignRegistry& registry) {
  constexpr const char* kReadme = "src/designs/idyll/README.md";
  registry.add(
      {.name = "idyll",
       .sentence = "Only GPUs that may have a mapping are told when a page moves, and they write their tables later.",
       .systems = {TranslationKind::Mmu},
       .parts = {"idyll-dir", "idyll-lazy"},
       .readme = kReadme,
       .paper = "idyll"});
  registry.add({.name = "idyll-dir",
                .sentence = "Bits in the host's page-table entries name the GPUs to tell when a page moves.",
                .seams = {"whom to invalidate"},
                .systems = {TranslationKind::Mmu},
                .make = make_plug_in<Dir>,
                .readme = kReadme,
                .paper = "idyll"});
  registry.add({.name = "idyll-inmem",
                .sentence = "A table in memory, with a cache, names the GPUs to tell when a page moves.",
                .seams = {"whom to invalidate"},
                .systems = {TranslationKind::Mmu},
                .make = make_plug_in<InMem>,
                .readme = kReadme,
                .paper = "idyll"});
  registry.add({.name = "idyll-lazy",
                .sentence = "Invalidations are merged in a buffer and reach the page table when walkers are idle.",
                .seams = {"before the GMMU walk, place 1", "how to invalidate"},
                .systems = {TranslationKind::Mmu},
                .make = make_plug_in<Lazy>,
                .readme = kReadme,
                .paper = "idyll"});
}

}  // namespace nearfar
