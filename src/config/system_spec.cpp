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

void CpuSpec::describe(Section& section) {
  section.integer("outstanding", outstanding, {1, 4096}, "lines",
                  "Lines that the host's core reads or writes at once while it works on a program's data.");
  section.cycles("latency", latency, {0, 10'000},
                 "Time that an access of the host's core takes through its own caches, which hold nothing of what it "
                 "streams, before it reaches the last-level cache or a link.");
}

void HostSpec::describe(Section& section) {
  section.child("cpu", cpu, "The host's core, which works on a program's data between launches.");
  section.child("llc", llc, "The host's last-level cache in front of its memory.");
  section.child("dram", dram, "The host's memory.");
  section.child("dma", dma, "The host's DMA, which copies between launches where a workload asks for it.");
  section.child("mmu", mmu, "The host's MMU, which resolves the GPUs' far faults.");
}

void BoundarySpec::describe(Section& section) {
  section.flag("write_back", write_back, "Dirty lines of the L2 caches go to memory when a kernel ends.");
  section.choice<L1AtBoundary>("l1", l1, {{"invalidate", L1AtBoundary::Invalidate}, {"keep", L1AtBoundary::Keep}},
                               "What the L1 caches do when a kernel begins: `invalidate` everything, so that it sees "
                               "what kernels before it have stored, or `keep` it, where a load may return data older "
                               "than another unit's stores of an earlier kernel, and --check allows it.");
  section.choice<L2AtBoundary>(
      "l2", l2,
      {{"keep", L2AtBoundary::Keep}, {"drop_written", L2AtBoundary::DropWritten}, {"drop", L2AtBoundary::Drop}},
      "What the GPUs' L2 caches hold when a kernel has ended and dirty lines have been written back: `keep` all lines, "
      "`drop_written` those that were written back, or `drop` all, of which the last two need `boundary.write_back`.");
  section.flag(
      "markers", markers,
      "With coherence directories, each GPU sends every other a marker behind its invalidations when a kernel "
      "ends, and the next kernel waits for all markers; without markers it waits until no invalidation is under "
      "way, which every GPU then knows at no cost.");
}

void DmaSpec::describe(Section& section) {
  section.bytes("chunk", chunk, Limits::powers_of_two(128, 4096),
                "What one message of a copy between launches carries; never more than up to the end of a 4KiB frame.");
  section.integer("outstanding", outstanding, {1, 65'536}, "chunks",
                  "Chunks of copies from one device that are under way at once.");
  section.cycles("setup", setup, {0, 100'000'000},
                 "From the start of a copy to its first chunk; copies from one device are set up one after another.");
}

void SystemSpec::describe(Section& section) {
  section.integer("gpus", gpus, {1, kMaxGpus}, "GPUs", "Number of GPUs in the machine, which are all alike.");
  section.child("gpu", gpu, "The parameters of each GPU.");
  section.child("host", host, "The host: its memory and the cache before it.");
  section.child("link", link, "The links between GPUs and host.");
  section.child("translation", translation, "How addresses are translated.");
  section.child("iommu", iommu, "The IOMMU of systems whose GPUs have no page tables.");
  section.child("mig", mig, "The instances that a GPU is cut into, with translation mig, and what they share.");
  section.child("walk", walk, "What a page walk costs.");
  section.child("page_table", page_table, "The shape of page tables.");
  section.child("page", page, "The pages of memory.");
  section.child("uvm", uvm, "The UVM driver.");
  section.child("invalidate", invalidate, "Invalidation of the old mappings of a page that migrates.");
  section.child("migration", migration, "Migration of pages.");
  Section placing = section.group("placement", "Where pages live.");
  placing.choice<PagePolicy>(
      "policy", policy,
      {{"pinned", PagePolicy::Pinned},
       {"on-touch", PagePolicy::OnTouch},
       {"first-touch", PagePolicy::FirstTouch},
       {"access-counter", PagePolicy::AccessCounter},
       {"replication", PagePolicy::Replication},
       {"no-fault", PagePolicy::NoFault}},
      "What a touch does to a page in another device's memory, with translation mmu: pinned is nothing, on-touch "
      "migrates it, first-touch migrates it the first time, access-counter maps it and migrates it after many "
      "accesses, replication copies it for readers, and with no-fault every GPU has every page from the start.");
  placing.choice<HostFirstTouch>("host_first_touch", host_first_touch,
                                 {{"move", HostFirstTouch::Move}, {"map", HostFirstTouch::Map}},
                                 "With policy access-counter, what the first touch does to a page on the host: move "
                                 "migrates it, map maps it there until its counter is full.");
  placing.child("access_counter", access_counter, "The access counters of GPUs.");
  placing.choice<InitialPlacement>(
      "initial", placement,
      {{"workload", InitialPlacement::Workload},
       {"host", InitialPlacement::Host},
       {"distribute", InitialPlacement::Distribute},
       {"interleave", InitialPlacement::Interleave},
       {"blocks", InitialPlacement::Blocks},
       {"first", InitialPlacement::First}},
      "Where pages are at the start: workload is as the workload says, host is all on the host, distribute and blocks "
      "are equal runs of pages over the GPUs (the last GPU gets the rest, or runs are rounded up), interleave is "
      "page by page, and first is all on the first GPU; private tables stay private.");
  Section dispatching = section.group("dispatch", "How workgroups are split over the GPUs.");
  dispatching.choice<DispatchPolicy>("policy", dispatch,
                                     {{"workload", DispatchPolicy::Workload},
                                      {"offset", DispatchPolicy::Offset},
                                      {"blocks", DispatchPolicy::Blocks},
                                      {"round-robin", DispatchPolicy::RoundRobin},
                                      {"greedy", DispatchPolicy::Greedy}},
                                     "How workgroups are split over GPUs: workload is as the workload says, offset is "
                                     "equal runs of the split dimension, blocks is runs of flattened workgroups, "
                                     "round-robin is in turn, and greedy fills one GPU after the other.");
  dispatching.integer("chunk", dispatch_chunk, {1, 65'536}, "workgroups",
                      "With round-robin dispatch, neighbouring workgroups that go to one GPU before the next has its "
                      "turn.");
  dispatching.bytes("kernel_arguments", kernel_arguments, {0, 4_KiB},
                    "Kernel arguments that each wavefront loads before all else, in scalar loads of 16 bytes, behind "
                    "one of its dispatch packet, instead of as many of its first scalar instructions; each GPU has "
                    "both in its memory, in pages that are new for every launch, and 0 loads neither.");
  section.child("memory", memory, "How data gets to the GPUs and back.");
  section.choice<RemoteCache>(
      "remote_cache", remote_cache, {{"none", RemoteCache::None}, {"l1", RemoteCache::L1}, {"l1l2", RemoteCache::L1L2}},
      "Which caches of a GPU keep lines at home in other devices: none; l1 is the L1s until the next acquire; l1l2 is "
      "the L1s and, for lines of other GPUs, the L2, written as `remote_write` and kept right as `coherence` says.");
  section.flag("remote_host_lines", remote_host_lines,
               "With remote_cache l1l2, if true, the L2 keeps lines at home in the host too, until the next kernel "
               "boundary or system-scope fence.");
  section.choice<RemoteWrite>(
      "remote_write", remote_write, {{"through", RemoteWrite::Through}, {"back", RemoteWrite::Back}},
      "What an L2 does with a store to a line of another device, with remote_cache l1l2: through sends it to the home, "
      "back keeps the bytes under a mask and writes them back when the line is evicted, at kernel boundaries and at "
      "system-scope fences.");
  section.choice<RemoteWriteMiss>("remote_write_miss", remote_write_miss,
                                  {{"no-allocate", RemoteWriteMiss::NoAllocate}, {"fetch", RemoteWriteMiss::Fetch}},
                                  "What a store to part of a line of another GPU does in an L2 that does not hold the "
                                  "line, with remote_cache l1l2: "
                                  "no-allocate only sends it to the home, fetch also reads the line from there.");
  section.choice<Coherence>(
      "coherence", coherence, {{"boundary", Coherence::Boundary}, {"directory", Coherence::Directory}},
      "How copies of other GPUs' lines in L2 caches are kept right, with remote_cache l1l2: boundary drops them at "
      "kernel boundaries and system-scope fences, directory has the home of each line invalidate those that become "
      "old.");
  section.child("directory", directory, "The coherence directory of each GPU.");
  section.child("umh", umh, "The unified memory hierarchy, with `memory.management` umh.");
  section.child("boundary", boundary, "What happens when a kernel ends and the next one begins.");
  Section watching = section.group("watchdog", "When a run is given up.");
  watching.cycles("cycles", watchdog, {0, 1'000'000'000'000},
                  "Time without progress after which a run is given up, where a single wavefront may wait 16 times as "
                  "long; 0 derives both bounds from the system's latencies, bandwidths, page size and queues.");
  section.child("perturb", perturb, "Small perturbations that show how far a result moves by chance.");
  for (const auto& plug_in : plug_ins) plug_in->describe(section);
}

}  // namespace nearfar
