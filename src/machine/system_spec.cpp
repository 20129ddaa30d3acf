// The parameters of a whole system.
#include "machine/system_spec.h"

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
}

void TranslationSpec::describe(Section& section) {
  section.choice<TranslationKind>("kind", kind, {{"ideal", TranslationKind::Ideal}},
                                  "How virtual addresses become physical; `ideal` always hits.");
  section.cycles("latency", latency, {1, 10'000},
                 "Kind `ideal`: what all pages of an instruction together take, without limit.");
}

void SystemSpec::describe(Section& section) {
  section.integer("gpus", gpus, {1, kMaxGpus}, "GPUs", "GPUs in the machine; all are alike.");
  section.child("gpu", gpu, "Each GPU.");
  section.child("host", host, "The host: its memory and the cache before it.");
  section.child("link", link, "What joins GPUs and host.");
  section.child("translation", translation, "Address translation.");
  Section placing = section.group("placement", "Where buffers live at the start.");
  placing.choice<PlacementPolicy>("policy", placement,
                                  {{"workload", PlacementPolicy::Workload},
                                   {"host", PlacementPolicy::Host},
                                   {"distribute", PlacementPolicy::Distribute},
                                   {"interleave", PlacementPolicy::Interleave}},
                                  "As the workload says, or for all buffers: on the host, in equal runs of pages over "
                                  "the GPUs, or page by page. Private tables stay private.");
  Section dispatching = section.group("dispatch", "How workgroups are split over the GPUs.");
  dispatching.choice<DispatchPolicy>("policy", dispatch,
                                     {{"workload", DispatchPolicy::Workload},
                                      {"offset", DispatchPolicy::Offset},
                                      {"blocks", DispatchPolicy::Blocks},
                                      {"round-robin", DispatchPolicy::RoundRobin},
                                      {"greedy", DispatchPolicy::Greedy}},
                                     "As the workload says, or for all launches: equal runs of the split dimension, "
                                     "runs of flattened workgroups, in turn, or one GPU after the other is filled.");
  section.choice<RemoteCache>("remote_cache", remote_cache, {{"none", RemoteCache::None}, {"l1", RemoteCache::L1}},
                              "Which caches of a requester may keep lines of another device.");
  Section boundary = section.group("boundary", "What happens when a kernel ends.");
  boundary.flag("write_back", write_back_at_release, "Dirty lines of the L2 caches go to memory.");
  Section watching = section.group("watchdog", "When a run is given up.");
  watching.cycles("cycles", watchdog, {1000, 1'000'000'000'000}, "Cycles without progress that end a run.");
}

}  // namespace nearfar
