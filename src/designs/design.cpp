#include "designs/design.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/error.h"
#include "designs/asap/plug_in.h"
#include "designs/dws/plug_in.h"
#include "designs/idyll/plug_in.h"
#include "designs/least_tlb/plug_in.h"
#include "designs/neighborhood/plug_in.h"
#include "designs/pte_cache/plug_in.h"
#include "designs/tlb_probing/plug_in.h"
#include "designs/trans_fw/plug_in.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

using enum TranslationKind;

const char* name_of(TranslationKind kind) {
  switch (kind) {
    case Ideal: return "ideal";
    case Ats: return "ats";
    case Mmu: return "mmu";
    case Svm: return "svm";
  }
  return "";
}

std::vector<Design> make_designs() {
  return {
      {"access-counter",
       "A remote page is mapped where it lies and moves after many accesses.",
       {"placement"},
       {Mmu},
       {"placement.policy=access-counter"}},
      {"asap",
       "Entries of the lower levels are fetched when a walk begins, in parallel with it.",
       {"walk access"},
       {Mmu},
       {},
       make_asap},
      {"dws",
       "Each process owns walkers; a walker without work of its owner's steals another's.",
       {"walk order"},
       {Ats, Mmu},
       {},
       make_dws},
      {"first-touch",
       "A page moves to the GPU that touches it first; the others map it there.",
       {"placement"},
       {Mmu},
       {"placement.policy=first-touch"}},
      {"ideal-migration",
       "Invalidation and transfer of a page that moves take no time and no bandwidth.",
       {},
       {Mmu},
       {"migration.ideal=true"}},
      {"ideal-no-fault",
       "Every page is local in every GPU from the start: no far faults.",
       {"placement"},
       {Mmu},
       {"placement.policy=no-fault"}},
      {"ideal-pw-cache",
       "Page-walk caches without limit: each upper entry is read once.",
       {"walk access"},
       {Mmu},
       {"gpu.gmmu.pw_cache.unlimited=true", "host.mmu.pw_cache.unlimited=true"}},
      {"ideal-translation",
       "Every page of an instruction is translated in one cycle.",
       {"IOMMU TLB content", "walk order", "walk access", "placement"},
       {Ats, Svm},
       {"translation.kind=ideal"}},
      {"ideal-walkers",
       "Walkers without limit: no request waits for one.",
       {"walk order"},
       {Ats, Mmu, Svm},
       {"gpu.gmmu.walkers=0", "host.mmu.walkers=0", "iommu.walkers=0"}},
      {"idyll",
       "Only GPUs that may have a mapping are told when a page moves, and they write their tables later.",
       {},
       {Mmu},
       {},
       nullptr,
       {"idyll-dir", "idyll-lazy"}},
      {"idyll-dir",
       "Bits in the host's page-table entries name the GPUs to tell when a page moves.",
       {"whom to invalidate"},
       {Mmu},
       {},
       make_idyll_dir},
      {"idyll-inmem",
       "A table in memory, with a cache, names the GPUs to tell when a page moves.",
       {"whom to invalidate"},
       {Mmu},
       {},
       make_idyll_inmem},
      {"idyll-lazy",
       "Invalidations are merged in a buffer and reach the page table when walkers are idle.",
       {"before the GMMU walk, place 1", "how to invalidate"},
       {Mmu},
       {},
       make_idyll_lazy},
      {"infinite-iommu-tlb",
       "An IOMMU TLB without limit: only the first request of a page misses.",
       {"IOMMU TLB content"},
       {Ats},
       {"iommu.tlb.entries=0"}},
      {"least-tlb",
       "The IOMMU TLB holds what L2 TLBs gave up; GPUs share theirs, or take what it spills.",
       {"IOMMU TLB content"},
       {Ats},
       {},
       make_least_tlb},
      {"neighborhood",
       "A page-table line serves all waiting requests whose entries it has, at every level.",
       {"walk order"},
       {Svm, Ats, Mmu},
       {},
       make_neighborhood},
      {"neighborhood-leaf",
       "A line of leaf entries serves all waiting requests whose entries it has.",
       {"walk order"},
       {Svm, Ats, Mmu},
       {},
       make_neighborhood_leaf},
      {"on-touch", "A page moves to every GPU that touches it.", {"placement"}, {Mmu}, {"placement.policy=on-touch"}},
      {"pte-cache",
       "A cache of page-table lines beside the walkers.",
       {"walk access"},
       {Svm, Ats, Mmu},
       {},
       make_pte_cache},
      {"replication",
       "Readers get read-only copies of a page; a writer has the only one.",
       {"placement"},
       {Mmu},
       {"placement.policy=replication"}},
      {"tlb-probing",
       "An L2 TLB miss asks the L2 TLBs of the neighbours on a ring before the IOMMU.",
       {"IOMMU TLB content"},
       {Ats},
       {},
       make_tlb_probing},
      {"trans-fw",
       "Misses skip walks that would fault, and GPUs answer faults that wait at the host.",
       {},
       {Mmu},
       {},
       nullptr,
       {"trans-fw-prt", "trans-fw-ft"}},
      {"trans-fw-ft",
       "A fault that waits at the host is forwarded to a GPU that has the page.",
       {"before the host walk"},
       {Mmu},
       {},
       make_trans_fw_ft},
      {"trans-fw-prt",
       "A miss whose page has no valid entry in the local table faults without a walk.",
       {"before the GMMU walk, place 2"},
       {Mmu},
       {},
       make_trans_fw_prt},
      {"zero-latency-invalidation",
       "An invalidation that reaches a GPU takes effect in its page table at once.",
       {"how to invalidate"},
       {Mmu},
       {"invalidate.how=zero-latency"}},
  };
}

const Design& find(const std::string& name) { return *std::ranges::find(all_designs(), name, &Design::name); }

void refuse_same_seam(const Design& one, const Design& other) {
  for (const std::string& seam : other.seams) {
    if (std::ranges::find(one.seams, seam) == one.seams.end()) continue;
    throw InputError(fmt::format("The designs `{}` and `{}` cannot be combined: both decide the seam `{}`.", one.name,
                                 other.name, seam));
  }
}

/// `part` came a second time, with `name`.
[[noreturn]] void refuse_twice(std::span<const std::string> names, const std::string& name, const std::string& part) {
  if (std::ranges::count(names, name) > 1) throw InputError(fmt::format("The design `{}` is named twice.", name));
  // Either of the two may be the one that has the other in it.
  const auto whole = std::ranges::find_if(
      names, [&](const std::string& each) { return std::ranges::count(find(each).parts, part) > 0; });
  throw InputError(fmt::format("The design `{}` has `{}` in it, which is named too.", *whole, part));
}

}  // namespace

const std::vector<Design>& all_designs() {
  static const std::vector<Design> designs = make_designs();
  return designs;
}

std::vector<const Design*> choose_designs(std::span<const std::string> names) {
  std::vector<const Design*> chosen;
  for (const std::string& name : names) {
    const Design& named = find(name);
    std::vector<const Design*> wanted;
    for (const std::string& part : named.parts) wanted.push_back(&find(part));
    if (wanted.empty()) wanted.push_back(&named);
    for (const Design* design : wanted) {
      for (const Design* other : chosen) {
        if (other == design) refuse_twice(names, name, other->name);
        refuse_same_seam(*other, *design);
      }
    }
    chosen.insert(chosen.end(), wanted.begin(), wanted.end());
  }
  return chosen;
}

void check_designs(std::span<const Design* const> designs, const SystemSpec& system) {
  for (const Design* design : designs) {
    if (std::ranges::find(design->systems, system.translation.kind) != design->systems.end()) continue;
    std::vector<std::string> kinds;
    for (const TranslationKind kind : design->systems) kinds.emplace_back(name_of(kind));
    throw InputError(fmt::format("The design `{}` changes systems with translation.kind {}; `{}` has {}.", design->name,
                                 fmt::join(kinds, " or "), system.name, name_of(system.translation.kind)));
  }
}

LoadedSystem load_system_with(std::span<const std::string> designs, const std::string& system,
                              std::span<const std::string> overrides) {
  const std::vector<const Design*> chosen = choose_designs(designs);
  const auto plug_ins = [&] {
    std::vector<std::shared_ptr<PlugIn>> made;
    for (const Design* design : chosen) {
      if (design->make != nullptr) made.push_back(design->make());
    }
    return made;
  };
  // Designs are held against the system itself: a design's settings may change of what kind it is.
  check_designs(chosen, load_system(system, overrides, plug_ins()).spec);
  std::vector<std::string> settings;
  for (const Design* design : chosen) settings.insert(settings.end(), design->settings.begin(), design->settings.end());
  settings.insert(settings.end(), overrides.begin(), overrides.end());
  return load_system(system, settings, plug_ins());
}

std::vector<DesignCost> cost_of(std::span<const std::string> designs, const std::string& system,
                                std::span<const std::string> overrides) {
  const LoadedSystem loaded = load_system_with(designs, system, overrides);
  std::vector<DesignCost> costs;
  auto plug_in = loaded.spec.plug_ins.begin();
  for (const Design* design : choose_designs(designs)) {
    costs.push_back({design, {}});
    if (design->make != nullptr) costs.back().items = (*plug_in++)->storage(loaded.spec);
  }
  return costs;
}

std::vector<StatInfo> list_all_statistics() {
  std::vector<StatInfo> out = list_statistics();
  for (const Design& design : all_designs()) {
    if (design.make == nullptr) continue;
    const std::vector<StatInfo> statistics = design.make()->statistics();
    out.insert(out.end(), statistics.begin(), statistics.end());
  }
  // Two designs may share a part.
  std::ranges::sort(out, {}, &StatInfo::name);
  const auto same = std::ranges::unique(out, {}, &StatInfo::name);
  out.erase(same.begin(), same.end());
  return out;
}

}  // namespace nearfar
