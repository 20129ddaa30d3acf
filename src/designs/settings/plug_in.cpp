// Designs that are settings of the baseline alone: placement policies and ideal structures.
#include "designs/registry.h"

namespace nearfar {

void register_settings(DesignRegistry& registry) {
  constexpr const char* kReadme = "src/designs/settings/README.md";
  registry.add({.name = "access-counter",
                .sentence = "A remote page is mapped where it lies and moves after many accesses.",
                .seams = {"placement"},
                .systems = {TranslationKind::Mmu},
                .settings = {"placement.policy=access-counter"},
                .readme = kReadme});
  registry.add({.name = "first-touch",
                .sentence = "A page moves to the GPU that touches it first; the others map it there.",
                .seams = {"placement"},
                .systems = {TranslationKind::Mmu},
                .settings = {"placement.policy=first-touch"},
                .readme = kReadme});
  registry.add({.name = "ideal-migration",
                .sentence = "Invalidation and transfer of a page that moves take no time and no bandwidth.",
                .systems = {TranslationKind::Mmu},
                .settings = {"migration.ideal=true"},
                .readme = kReadme,
                .paper = "trans-fw"});
  registry.add({.name = "ideal-no-fault",
                .sentence = "Every page is local in every GPU from the start: no far faults.",
                .seams = {"placement"},
                .systems = {TranslationKind::Mmu},
                .settings = {"placement.policy=no-fault"},
                .readme = kReadme,
                .paper = "trans-fw"});
  registry.add({.name = "ideal-pw-cache",
                .sentence = "Page-walk caches without limit: each upper entry is read once.",
                .seams = {"walk access"},
                .systems = {TranslationKind::Mmu},
                .settings = {"gpu.gmmu.pw_cache.unlimited=true", "host.mmu.pw_cache.unlimited=true"},
                .readme = kReadme,
                .paper = "trans-fw"});
  registry.add({.name = "ideal-translation",
                .sentence = "Every page of an instruction is translated in one cycle.",
                .seams = {"IOMMU TLB content", "walk order", "walk access", "placement", "L2 TLB prefetch"},
                .systems = {TranslationKind::Ats, TranslationKind::Svm},
                .settings = {"translation.kind=ideal"},
                .readme = kReadme,
                .paper = "neighborhood"});
  registry.add({.name = "ideal-walkers",
                .sentence = "Walkers without limit: no request waits for one.",
                .seams = {"walk order"},
                .systems = {TranslationKind::Ats, TranslationKind::Mmu, TranslationKind::Svm},
                .settings = {"gpu.gmmu.walkers=0", "host.mmu.walkers=0", "iommu.walkers=0"},
                .readme = kReadme,
                .paper = "trans-fw"});
  registry.add({.name = "infinite-iommu-tlb",
                .sentence = "An IOMMU TLB without limit: only the first request of a page misses.",
                .seams = {"IOMMU TLB content"},
                .systems = {TranslationKind::Ats},
                .settings = {"iommu.tlb.entries=0"},
                .readme = kReadme,
                .paper = "least-tlb"});
  registry.add({.name = "on-touch",
                .sentence = "A page moves to every GPU that touches it.",
                .seams = {"placement"},
                .systems = {TranslationKind::Mmu},
                .settings = {"placement.policy=on-touch"},
                .readme = kReadme});
  registry.add({.name = "replication",
                .sentence = "Readers get read-only copies of a page; a writer has the only one.",
                .seams = {"placement"},
                .systems = {TranslationKind::Mmu},
                .settings = {"placement.policy=replication"},
                .readme = kReadme});
  registry.add({.name = "zero-latency-invalidation",
                .sentence = "An invalidation that reaches a GPU takes effect in its page table at once.",
                .seams = {"how to invalidate"},
                .systems = {TranslationKind::Mmu},
                .settings = {"invalidate.how=zero-latency"},
                .readme = kReadme,
                .paper = "idyll"});
}

}  // namespace nearfar
