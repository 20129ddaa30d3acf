// The parameters of address translation.
#include "translation/translation_spec.h"

#include "config/schema.h"

namespace nearfar {

void TranslationSpec::describe(Section& section) {
  section.choice<TranslationKind>(
      "kind", kind,
      {{"ideal", TranslationKind::Ideal},
       {"ats", TranslationKind::Ats},
       {"mmu", TranslationKind::Mmu},
       {"svm", TranslationKind::Svm},
       {"mig", TranslationKind::Mig}},
      "How addresses are translated: ideal is one latency for every page, ats is TLBs over "
      "the host's IOMMU, mmu is a GMMU and a local page table in each GPU with far faults "
      "to the host, svm is one GPU that shares memory and page table with the host, and mig is "
      "instances of one GPU over the L3 TLB and the walkers that they share.");
  section.cycles("latency", latency, {0, 1'000'000},
                 "With kind ideal, the time of a translation from the coalescer to the L1, alike for every page.");
  section.bytes("message", message, {0, 4_KiB}, "Size of a translation message on a link.");
  section.flag("observe", observe,
               "If true, the run also measures what makes it slower: reuse distances at the IOMMU TLB, contents of "
               "TLBs over time, and which GPUs share pages.");
  section.cycles("snapshot", snapshot, {1, 1'000'000'000},
                 "Time between two snapshots of the contents of TLBs, where `translation.observe` is true.");
}

void PlainTlbSpec::describe(Section& section) {
  section.integer("entries", entries, {0, 1U << 24}, "pages",
                  "Number of pages that the TLB holds; 0 is a TLB without limit.");
  section.integer("ways", ways, {1, 256}, "ways", "Associativity of the TLB.");
  section.cycles("latency", latency, {0, 100'000}, "Latency of a lookup of the TLB, which is fully pipelined.");
  section.choice<TlbReplacementKind>(
      "replacement", replacement,
      {{"lru", TlbReplacementKind::Lru}, {"fifo", TlbReplacementKind::Fifo}, {"random", TlbReplacementKind::Random}},
      "Which mapping of a full set is replaced: lru is the least recently used, fifo the first that came, and random "
      "any one, drawn alike in every run.");
}

void PortedTlbSpec::describe(Section& section) {
  PlainTlbSpec::describe(section);
  section.integer("lookups_per_cycle", lookups_per_cycle, {0, 1024}, "lookups",
                  "Lookups of the TLB that start in a cycle; 0 is no limit.");
}

void TlbSpec::describe(Section& section) {
  PortedTlbSpec::describe(section);
  section.integer("mshrs", mshrs, {1, 32'768}, "pages",
                  "MSHRs of the TLB; requests for a pending page merge with its miss.");
}

void WalkCacheSpec::describe(Section& section) {
  section.integer("entries", entries, {0, 1U << 20}, "entries",
                  "Upper-level entries that the page-walk cache holds, all levels together.");
  section.cycles("latency", latency, {0, 10'000},
                 "Latency of the page-walk cache's lookup, which comes before a walk's first access.");
  section.integer("level_bits", level_bits, {1, 9}, "bits",
                  "What an entry of the page-walk cache covers: 2^level_bits pages one level above the leaf, and "
                  "2^level_bits times as many with each level more; 9 is what the page table has, fewer is as if "
                  "buffers were scattered over the address space.");
  section.flag("unlimited", unlimited, "If true, the page-walk cache holds every entry that it is given.");
  section.flag("by_level", by_level,
               "If true, each level has a page-walk cache array of its own; if false, all share one of `entries`.");
  section.integer("l2_entries", l2, {0, 1U << 20}, "entries",
                  "With by_level, page-walk cache entries of level 2, which lead to the leaf nodes.");
  section.integer("l3_entries", l3, {0, 1U << 20}, "entries", "With by_level, page-walk cache entries of level 3.");
  section.integer("l4_entries", l4, {0, 1U << 20}, "entries", "With by_level, page-walk cache entries of level 4.");
  section.integer("l5_entries", l5, {0, 1U << 20}, "entries",
                  "With by_level, page-walk cache entries of level 5, where page tables have one.");
}

void WalkersSpec::describe(Section& section) {
  section.integer("walkers", walkers, {0, 65'536}, "walkers",
                  "Page walks that can be under way at a time; 0 is no limit.");
  Section waiting = section.group("pw_queue", "The queue in front of the walkers.");
  waiting.integer("entries", queue, {1, 1U << 20}, "requests", "Requests that can wait in the queue for a walker.");
  section.child("pw_cache", cache, "The page-walk cache.");
}

void WalkSpec::describe(Section& section) {
  section.choice<WalkTiming>("timing", timing,
                             {{"fixed-level", WalkTiming::FixedLevel},
                              {"fixed-total", WalkTiming::FixedTotal},
                              {"memory", WalkTiming::Memory}},
                             "What a page walk costs: fixed-level is a fixed time for each access, fixed-total a fixed "
                             "time in all, and memory real accesses to memory.");
  section.cycles("cycles_per_level", cycles_per_level, {1, 1'000'000},
                 "With timing fixed-level, the time of one page-table access.");
  section.cycles("cycles", cycles, {1, 1'000'000}, "With timing fixed-total, the time of a whole page walk.");
}

void PageTableSpec::describe(Section& section) {
  section.integer("levels", levels, {4, 5}, "levels", "Levels of a page table, of 9 bits of the page number each.");
  section.choice<UpperLevels>("upper_levels", upper,
                              {{"prebuilt", UpperLevels::Prebuilt}, {"on-demand", UpperLevels::OnDemand}},
                              "When upper entries of page tables are made: prebuilt is before the run for all buffers, "
                              "on-demand is with the first page below an entry.");
}

void PageSpec::describe(Section& section) {
  section.choice<PageSize>(
      "size", size, {{"4K", PageSize{0}}, {"64K", PageSize{kMediumPageBits}}, {"2M", PageSize{kLargePageBits}}},
      "The page size, one for the whole run: 4K (4 KiB), 64K (64 KiB, with translation mig only) or 2M (2 MiB).");
}

void GmmuSpec::describe(Section& section) {
  WalkersSpec::describe(section);
  Section buffer = section.group("ingress", "The buffer for messages that wait for a place in the queue.");
  buffer.integer("entries", ingress, {1, 1U << 20}, "messages",
                 "Messages that the ingress buffer of each of the link's two channels holds; those behind a full "
                 "buffer wait on the link.");
  section.choice<Replay>("replay", replay, {{"full", Replay::Full}, {"short", Replay::Short}},
                         "What happens after a fault: full is another lookup and walk of the request, short is an "
                         "answer with the mapping itself.");
  section.choice<UpdateHow>("update", update, {{"walk", UpdateHow::Walk}, {"zero-latency", UpdateHow::ZeroLatency}},
                            "How a GPU writes a new mapping into its page table: by a walk, or at once "
                            "(zero-latency).");
}

void IommuSpec::describe(Section& section) {
  WalkersSpec::describe(section);
  section.child("tlb", tlb, "The IOMMU's TLB.");
  section.integer("pending", pending, {0, 1U << 20}, "pages",
                  "Translations that the IOMMU can have pending at a time; 0 is as many as the GPUs have MSHRs.");
  section.child("l1_tlb", l1_tlb, "With translation svm, the small TLB in front of the IOMMU's TLB.");
  section.cycles("hop", hop, {1, 100'000}, "With translation svm, the time from the GPU to the IOMMU, one way.");
  section.cycles("memory_hop", memory_hop, {0, 100'000},
                 "With translation svm, the time from the IOMMU to memory, one way.");
}

void HostMmuSpec::describe(Section& section) {
  WalkersSpec::describe(section);
  section.child("tlb", tlb, "The host MMU's TLB.");
}

void UvmSpec::describe(Section& section) {
  section.integer("batch_size", batch_size, {1, 65'536}, "faults",
                  "Largest number of far faults that the UVM driver processes as one batch.");
  section.cycles("batch_wait", batch_wait, {0, 100'000'000}, "How long the UVM driver waits for a fuller batch.");
  section.cycles("batch_fixed_cycles", batch_fixed, {0, 100'000'000},
                 "Time that the UVM driver needs to fetch one batch.");
  section.cycles("per_fault_cycles", per_fault, {0, 100'000'000},
                 "Time that the UVM driver needs for each fault of a batch, one after another.");
  section.cycles("fault_software_cycles", fault_software, {0, 100'000'000},
                 "Time that the UVM driver adds to every fault while it processes others.");
  section.choice<BatchReplay>("replay", replay,
                              {{"per-fault", BatchReplay::PerFault}, {"per-batch", BatchReplay::PerBatch}},
                              "When the mappings of a batch are sent: per-fault is each when it is ready, per-batch is "
                              "all when the last one is.");
  section.integer("concurrent_migrations", concurrent_migrations, {1, 65'536}, "pages",
                  "Pages that can migrate at a time.");
  section.choice<UvmPrefetch>("prefetch", prefetch, {{"none", UvmPrefetch::None}, {"tree", UvmPrefetch::Tree}},
                              "Which pages of the host follow one that a fault brings to a GPU: none, or tree, which "
                              "brings the rest of its 64 KiB, and of each larger region up to 2 MiB of which the GPU "
                              "then has more than `prefetch_threshold`.");
  section.integer("prefetch_threshold", prefetch_threshold, {1, 100}, "percent",
                  "With uvm.prefetch tree, the share of a region that a GPU must have before the other pages of that "
                  "region follow.");
}

void AccessCounterSpec::describe(Section& section) {
  section.integer("threshold", threshold, {1, 1U << 30}, "accesses",
                  "Accesses to a remote page, or region of pages, after which a GPU requests its migration.");
  section.choice<CounterRegion>(
      "granularity", granularity,
      {{"page", CounterRegion::Page}, {"64K", CounterRegion::Of64K}, {"2M", CounterRegion::Of2M}},
      "What an access counter counts for: a page, or a region of 64K or 2M whose touched pages are requested "
      "together.");
  section.choice<CountAt>("count_at", count_at,
                          {{"egress", CountAt::Egress}, {"l1", CountAt::L1}, {"l1-tlb", CountAt::L1Tlb}},
                          "Where remote accesses are counted: egress is each line that leaves the GPU, l1 each line "
                          "that an instruction looks up in the L1, l1-tlb each lookup of the L1 TLB, a page of an "
                          "instruction.");
}

void InvalidateSpec::describe(Section& section) {
  section.choice<InvalidateTargets>(
      "targets", targets,
      {{"auto", InvalidateTargets::Auto},
       {"owner", InvalidateTargets::Owner},
       {"broadcast", InvalidateTargets::Broadcast}},
      "Which GPUs get an invalidation when a page migrates: owner is those the host knows to hold it, broadcast is "
      "all, and auto is broadcast for the policies access-counter and replication and owner for others.");
  section.choice<InvalidateHow>(
      "how", how, {{"walk", InvalidateHow::Walk}, {"zero-latency", InvalidateHow::ZeroLatency}},
      "How a GPU invalidates an entry of its page table: by a walk, or at once (zero-latency).");
}

void MigrationSpec::describe(Section& section) {
  section.cycles("setup_cycles", setup, {0, 100'000'000}, "Setup time of the copy engine before a page leaves.");
  section.choice<PageTransfer>("transfer", transfer, {{"links", PageTransfer::Links}, {"fixed", PageTransfer::Fixed}},
                               "How a page gets to its new place: links is as packets over the links, fixed is after "
                               "`transfer_cycles`, with a message and without bytes of the page on the links.");
  section.cycles("transfer_cycles", transfer_cycles, {0, 100'000'000},
                 "With migration.transfer fixed, the time of a page's transfer, to which the links' latency comes.");
  section.choice<MigrationWaits>(
      "waits_for", waits,
      {{"translated", MigrationWaits::Translated}, {"issued", MigrationWaits::Issued}, {"none", MigrationWaits::None}},
      "Which accesses by way of its old mappings a page waits for before it leaves: translated is all that have their "
      "translation, issued is those that have left their compute unit while the others are translated again, and with "
      "none it waits for no access, so that data is not followed.");
  section.cycles("retention_cycles", retention, {0, 1'000'000'000},
                 "Time that a page which has come to a GPU stays there before another may take it: faults wait, and "
                 "requests of access counters are dropped.");
  section.flag("ideal", ideal, "If true, invalidation and transfer of a migrating page take no time and no bandwidth.");
  section.flag("keep_invalidation", keep_invalidation,
               "If true, an ideal migration still pays for its invalidations, and the transfer alone is free.");
  section.flag("evict", evict, "If true, a GPU whose memory is full evicts pages to the host.");
  section.choice<EvictionUnit>("evict_unit", unit, {{"page", EvictionUnit::Page}, {"block", EvictionUnit::Block}},
                               "With migration.evict, what a GPU whose memory is full evicts: page is the page that "
                               "came first, block is all pages of the aligned 2 MiB that no page has come to for "
                               "longest.");
}

}  // namespace nearfar
