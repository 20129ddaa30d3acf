// The parameters of address translation.
#include "translation/translation_spec.h"

#include "config/schema.h"

namespace nearfar {

void TranslationSpec::describe(Section& section) {
  section.choice<TranslationKind>("kind", kind,
                                  {{"ideal", TranslationKind::Ideal},
                                   {"ats", TranslationKind::Ats},
                                   {"mmu", TranslationKind::Mmu},
                                   {"svm", TranslationKind::Svm}},
                                  "ideal: one latency for every page. ats: TLBs over the host's IOMMU. mmu: a GMMU and "
                                  "a local page table in each GPU, far faults to the host. svm: one GPU that shares "
                                  "memory and page table with the host.");
  section.cycles("latency", latency, {0, 1'000'000}, "ideal: from the coalescer to the L1, for every page alike.");
  section.bytes("message", message, {0, 4_KiB}, "Size of a translation message on a link.");
  section.flag("observe", observe,
               "Measure what costs time to measure: reuse distances at the IOMMU TLB, contents of TLBs over time, and "
               "which GPUs share pages.");
  section.cycles("snapshot", snapshot, {1, 1'000'000'000}, "Between two looks at what TLBs hold, when observed.");
}

void PlainTlbSpec::describe(Section& section) {
  section.integer("entries", entries, {0, 1U << 24}, "pages", "Pages it holds; 0 holds every page it is given.");
  section.integer("ways", ways, {1, 256}, "ways", "Associativity.");
  section.cycles("latency", latency, {0, 100'000}, "Of a lookup, fully pipelined.");
  section.choice<TlbReplacementKind>(
      "replacement", replacement,
      {{"lru", TlbReplacementKind::Lru}, {"fifo", TlbReplacementKind::Fifo}, {"random", TlbReplacementKind::Random}},
      "Which mapping of a full set leaves: the least recently used, the first that "
      "came, or any (the same in every run).");
}

void PortedTlbSpec::describe(Section& section) {
  PlainTlbSpec::describe(section);
  section.integer("lookups_per_cycle", lookups_per_cycle, {0, 1024}, "lookups",
                  "Lookups that start in a cycle; 0 is no limit.");
}

void TlbSpec::describe(Section& section) {
  PortedTlbSpec::describe(section);
  section.integer("mshrs", mshrs, {1, 32'768}, "pages", "MSHRs; requests for a pending page join it.");
}

void WalkCacheSpec::describe(Section& section) {
  section.integer("entries", entries, {0, 1U << 20}, "entries", "Upper-level entries it holds, all levels together.");
  section.cycles("latency", latency, {0, 10'000}, "Of its lookup, before a walk's first access.");
  section.flag("unlimited", unlimited, "It holds every entry it is given.");
  section.flag("by_level", by_level, "An array of its own for each level, in place of one of `entries` for all.");
  section.integer("l2_entries", l2, {0, 1U << 20}, "entries", "by_level: of level 2, which lead to the leaf's nodes.");
  section.integer("l3_entries", l3, {0, 1U << 20}, "entries", "by_level: of level 3.");
  section.integer("l4_entries", l4, {0, 1U << 20}, "entries", "by_level: of level 4.");
  section.integer("l5_entries", l5, {0, 1U << 20}, "entries", "by_level: of level 5, where a table has one.");
}

void WalkersSpec::describe(Section& section) {
  section.integer("walkers", walkers, {0, 65'536}, "walkers", "Walks at a time; 0 is no limit.");
  Section waiting = section.group("pw_queue", "The queue in front of the walkers.");
  waiting.integer("entries", queue, {1, 1U << 20}, "requests", "Requests that wait for a walker.");
  section.child("pw_cache", cache, "The page-walk cache.");
}

void WalkSpec::describe(Section& section) {
  section.choice<WalkTiming>("timing", timing,
                             {{"fixed-level", WalkTiming::FixedLevel},
                              {"fixed-total", WalkTiming::FixedTotal},
                              {"memory", WalkTiming::Memory}},
                             "A walk costs a fixed time for each access, a fixed time in all, or real accesses to "
                             "memory.");
  section.cycles("cycles_per_level", cycles_per_level, {1, 1'000'000}, "fixed-level: one page-table access.");
  section.cycles("cycles", cycles, {1, 1'000'000}, "fixed-total: a whole walk.");
}

void PageTableSpec::describe(Section& section) {
  section.integer("levels", levels, {4, 5}, "levels", "Of a page table; 9 bits of the page number each.");
  section.choice<UpperLevels>("upper_levels", upper,
                              {{"prebuilt", UpperLevels::Prebuilt}, {"on-demand", UpperLevels::OnDemand}},
                              "Upper entries of all buffers exist from the start, or appear with the first page below "
                              "them.");
}

void PageSpec::describe(Section& section) {
  section.choice<PageSize>("size", size, {{"4K", PageSize{0}}, {"2M", PageSize{kLargePageBits}}},
                           "The page size, one for the whole run.");
}

void GmmuSpec::describe(Section& section) {
  WalkersSpec::describe(section);
  Section buffer = section.group("ingress", "The buffer for messages that wait for a place in the queue.");
  buffer.integer("entries", ingress, {1, 1U << 20}, "messages",
                 "Messages of each of the link's two channels; those behind a full buffer wait on the link.");
  section.choice<Replay>("replay", replay, {{"full", Replay::Full}, {"short", Replay::Short}},
                         "After a fault the request looks up and walks again, or is answered with the mapping itself.");
}

void IommuSpec::describe(Section& section) {
  WalkersSpec::describe(section);
  section.child("tlb", tlb, "The IOMMU's TLB.");
  section.integer("pending", pending, {0, 1U << 20}, "pages",
                  "Translations that requests may wait for at a time; 0 is as many as the GPUs have MSHRs.");
  section.child("l1_tlb", l1_tlb, "svm: the small TLB in front of it.");
  section.cycles("hop", hop, {1, 100'000}, "svm: from the GPU to the IOMMU, one way.");
  section.cycles("memory_hop", memory_hop, {0, 100'000}, "svm: from the IOMMU to memory, one way.");
}

void HostMmuSpec::describe(Section& section) {
  WalkersSpec::describe(section);
  section.child("tlb", tlb, "The host MMU's TLB.");
}

void UvmSpec::describe(Section& section) {
  section.integer("batch_size", batch_size, {1, 65'536}, "faults", "Most faults that the driver takes at once.");
  section.cycles("batch_wait", batch_wait, {0, 100'000'000}, "How long it waits for a fuller batch.");
  section.cycles("batch_fixed_cycles", batch_fixed, {0, 100'000'000}, "Of fetching one batch.");
  section.cycles("per_fault_cycles", per_fault, {0, 100'000'000}, "Of each fault in a batch, one after another.");
  section.cycles("fault_software_cycles", fault_software, {0, 100'000'000},
                 "Added to every fault, while the driver takes others.");
  section.choice<BatchReplay>("replay", replay,
                              {{"per-fault", BatchReplay::PerFault}, {"per-batch", BatchReplay::PerBatch}},
                              "Mappings of a batch go when each is ready, or together when the last one is.");
  section.integer("concurrent_migrations", concurrent_migrations, {1, 65'536}, "pages", "Pages that move at a time.");
}

void AccessCounterSpec::describe(Section& section) {
  section.integer("threshold", threshold, {1, 1U << 30}, "accesses",
                  "Accesses to a remote page, or region, after which a GPU asks for it.");
  section.choice<CounterRegion>(
      "granularity", granularity,
      {{"page", CounterRegion::Page}, {"64K", CounterRegion::Of64K}, {"2M", CounterRegion::Of2M}},
      "What a counter counts for: a page, or a region of pages, of which those touched are asked for together.");
}

void InvalidateSpec::describe(Section& section) {
  section.choice<InvalidateTargets>(
      "targets", targets,
      {{"auto", InvalidateTargets::Auto},
       {"owner", InvalidateTargets::Owner},
       {"broadcast", InvalidateTargets::Broadcast}},
      "Whom to invalidate when a page moves: those the host knows to hold it, or all GPUs; "
      "auto is all for access-counter and replication.");
  section.choice<InvalidateHow>("how", how,
                                {{"walk", InvalidateHow::Walk}, {"zero-latency", InvalidateHow::ZeroLatency}},
                                "A GPU's table is invalidated by a walk, or at once.");
}

void MigrationSpec::describe(Section& section) {
  section.cycles("setup_cycles", setup, {0, 100'000'000}, "Of the copy engine, before a page leaves.");
  section.flag("ideal", ideal, "Invalidation and transfer of a page take no time and no bandwidth.");
  section.flag("keep_invalidation", keep_invalidation, "ideal: invalidations are as ever, the transfer alone is free.");
  section.flag("evict", evict, "A GPU whose memory is full sends its oldest page back to the host.");
}

}  // namespace nearfar
