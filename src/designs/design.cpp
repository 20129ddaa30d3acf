#include "designs/design.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "config/error.h"

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
      {"infinite-iommu-tlb",
       "An IOMMU TLB without limit: only the first request of a page misses.",
       {"IOMMU TLB content"},
       {Ats},
       {"iommu.tlb.entries=0"}},
      {"on-touch", "A page moves to every GPU that touches it.", {"placement"}, {Mmu}, {"placement.policy=on-touch"}},
      {"replication",
       "Readers get read-only copies of a page; a writer has the only one.",
       {"placement"},
       {Mmu},
       {"placement.policy=replication"}},
      {"zero-latency-invalidation",
       "An invalidation that reaches a GPU takes effect in its page table at once.",
       {"how to invalidate"},
       {Mmu},
       {"invalidate.how=zero-latency"}},
  };
}

}  // namespace

const std::vector<Design>& all_designs() {
  static const std::vector<Design> designs = make_designs();
  return designs;
}

std::vector<const Design*> choose_designs(std::span<const std::string> names) {
  std::vector<const Design*> chosen;
  for (const std::string& name : names) {
    const Design& design = *std::ranges::find(all_designs(), name, &Design::name);
    for (const Design* other : chosen) {
      if (other == &design) throw InputError(fmt::format("The design `{}` is named twice.", name));
      for (const std::string& seam : design.seams) {
        if (std::ranges::find(other->seams, seam) == other->seams.end()) continue;
        throw InputError(fmt::format("The designs `{}` and `{}` cannot be combined: both decide the seam `{}`.",
                                     other->name, name, seam));
      }
    }
    chosen.push_back(&design);
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

}  // namespace nearfar
