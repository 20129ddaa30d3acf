// The parameters of a whole system.
#include "config/system_spec.h"

#include "config/schema.h"

namespace nearfar {

/// A workstation: a small shared cache, four channels of DDR4-2400 (76.8 GB/s), 45 ns to an idle bank.
HostSpec::HostSpec() {
  llc.banks = 4;
  dram.set_standard(DramStandard::Ddr4_2400, 1000_MHz);
  dram.capacity = 8_GiB;
  dram.channels = 4;
  dram.latency = 45;
  dram.controller_latency = 17;
}

void HostSpec::describe(Section& section) {
  section.child("llc", llc, "The host's last-level cache in front of its memory.");
  section.child("dram", dram, "The host's memory.");
  section.child("dma", dma, "The host's DMA, which copies between launches where a workload asks for it.");
  section.child("mmu", mmu, "The host's MMU, which resolves the GPUs' far faults.");
}

void BoundarySpec::describe(Section& section) {
  section.flag("write_back", write_back, "Dirty lines of the L2 caches go to memory when a kernel ends.");
  section.choice<L1AtBoundary>("l1", l1, {{"invalidate", L1AtBoundary::Invalidate}, {"keep", L1AtBoundary::Keep}},
                               "What the L1 caches do when a kernel begins: `invalidate` everything, so that it sees "
                               "what kernels before it have stored, or `keep` it. With `keep` a load may return data "
                               "older than another unit's stores of an earlier kernel, and --check allows it.");
  section.choice<L2AtBoundary>(
      "l2", l2,
      {{"keep", L2AtBoundary::Keep}, {"drop_written", L2AtBoundary::DropWritten}, {"drop", L2AtBoundary::Drop}},
      "What the GPUs' L2 caches hold when a kernel has ended and dirty lines have been written back: `keep` all lines, "
      "`drop_written` those that were written back, or `drop` all. The last two need `boundary.write_back`.");
}

void DmaSpec::describe(Section& section) {
  section.bytes("chunk", chunk, Limits::powers_of_two(128, 4096),
                "What one message of a copy between launches carries; never more than up to the end of a 4KiB frame.");
  section.integer("outstanding", outstanding, {1, 65'536}, "chunks", "Chunks of copies that are under way at once.");
  section.cycles("setup", setup, {0, 100'000'000}, "From the start of a copy to its first chunk.");
}

void SystemSpec::describe(Section& section) {
  section.integer("gpus", gpus, {1, kMaxGpus}, "GPUs", "GPUs in the machine; all are alike.");
  section.child("gpu", gpu, "Each GPU.");
  section.child("host", host, "The host: its memory and the cache before it.");
  section.child("link", link, "What joins GPUs and host.");
  section.child("translation", translation, "Address translation.");
  section.child("iommu", iommu, "The IOMMU of systems whose GPUs have no page tables.");
  section.child("walk", walk, "What a page walk costs.");
  section.child("page_table", page_table, "Page tables.");
  section.child("page", page, "Pages.");
  section.child("uvm", uvm, "The UVM driver.");
  section.child("invalidate", invalidate, "Invalidation of the old mappings of a page that moves.");
  section.child("migration", migration, "Migration of pages.");
  Section placing = section.group("placement", "Where pages live.");
  placing.choice<PagePolicy>("policy", policy,
                             {{"pinned", PagePolicy::Pinned},
                              {"on-touch", PagePolicy::OnTouch},
                              {"first-touch", PagePolicy::FirstTouch},
                              {"access-counter", PagePolicy::AccessCounter},
                              {"replication", PagePolicy::Replication},
                              {"no-fault", PagePolicy::NoFault}},
                             "What a touch does to a page that is elsewhere (mmu): nothing, move it, move it the first "
                             "time, map it and move it after many accesses, copy it for readers; or no page is ever "
                             "elsewhere.");
  placing.choice<HostFirstTouch>("host_first_touch", host_first_touch,
                                 {{"move", HostFirstTouch::Move}, {"map", HostFirstTouch::Map}},
                                 "access-counter: what the first touch does to a page on the host: moves it, or maps "
                                 "it there until its counter is full.");
  placing.child("access_counter", access_counter, "Access counters.");
  placing.choice<InitialPlacement>(
      "initial", placement,
      {{"workload", InitialPlacement::Workload},
       {"host", InitialPlacement::Host},
       {"distribute", InitialPlacement::Distribute},
       {"interleave", InitialPlacement::Interleave},
       {"blocks", InitialPlacement::Blocks}},
      "At the start: as the workload says, or for all buffers: on the host, in equal runs "
      "of pages over the GPUs (distribute: the last takes the rest; blocks: rounded up), or "
      "page by page. Private tables stay private.");
  Section dispatching = section.group("dispatch", "How workgroups are split over the GPUs.");
  dispatching.choice<DispatchPolicy>("policy", dispatch,
                                     {{"workload", DispatchPolicy::Workload},
                                      {"offset", DispatchPolicy::Offset},
                                      {"blocks", DispatchPolicy::Blocks},
                                      {"round-robin", DispatchPolicy::RoundRobin},
                                      {"greedy", DispatchPolicy::Greedy}},
                                     "As the workload says, or for all launches: equal runs of the split dimension, "
                                     "runs of flattened workgroups, in turn, or one GPU after the other is filled.");
  section.choice<RemoteCache>("remote_cache", remote_cache,
                              {{"none", RemoteCache::None}, {"l1", RemoteCache::L1}, {"l1l2", RemoteCache::L1L2}},
                              "Which caches of a GPU keep lines at home in other devices: none; the L1s until the next "
                              "acquire; or the L1s and, of lines of other GPUs, the L2, written through and dropped at "
                              "kernel boundaries and fences.");
  section.child("boundary", boundary, "What happens when a kernel ends and the next one begins.");
  Section watching = section.group("watchdog", "When a run is given up.");
  watching.cycles("cycles", watchdog, {0, 1'000'000'000'000},
                  "Cycles without progress that end a run (16 times that for one request that waits); 0: longer than "
                  "anything takes by the system's latencies, bandwidths, page size and queues.");
  section.child("perturb", perturb, "Small perturbations that show how far a result moves by chance.");
  for (const auto& plug_in : plug_ins) plug_in->describe(section);
}

}  // namespace nearfar
