#include "designs/least_tlb/least_tlb_spec.h"

#include "config/schema.h"

namespace nearfar {

void TrackerSpec::describe(Section& section) {
  section.integer("entries", entries, {1, 1U << 20}, "pages",
                  "Fingerprints of the tracker for all GPUs together; each GPU has an equal share.");
  section.integer("slots_per_bucket", slots, {1, 16}, "fingerprints", "Fingerprints in a bucket of the cuckoo filter.");
  section.integer("fingerprint_bits", fingerprint_bits, {1, 16}, "bits", "Bits of a fingerprint of the cuckoo filter.");
  section.integer("max_kicks", max_kicks, {0, 10'000}, "moves",
                  "Fingerprints that the cuckoo filter may move to insert one before the one left over is dropped.");
  section.flag("exact", exact, "If true, a perfect tracker takes the place of the cuckoo filter.");
}

void SpillSpec::describe(Section& section) {
  section.integer("count", count, {0, 15}, "spills",
                  "How often a translation may be spilled before it is used again; 0 is no spilling.");
  section.flag("exclude_home", exclude_home, "If true, a translation is never spilled to the GPU of its own process.");
}

void LeastTlbSpec::describe(Section& section) {
  section.choice<LeastTlbMode>(
      "mode", mode, {{"single", LeastTlbMode::Single}, {"multi", LeastTlbMode::Multi}, {"auto", LeastTlbMode::Auto}},
      "How L2 TLBs are used: with single, GPUs of one process share their L2 TLBs; with multi, the IOMMU TLB spills to "
      "L2 TLBs; auto is multi where several processes run.");
  section.child("tracker", tracker, "The local TLB tracker: what the IOMMU knows of each GPU's L2 TLB.");
  section.cycles(
      "remote_latency", remote_latency, {0, 1'000'000},
      "Least time from the IOMMU's request to a GPU to the use of its answer; 0 is what links and lookup take.");
  section.flag("race", race,
               "If true, a walk starts beside the IOMMU's request to a GPU; if false, after the request has failed.");
  section.choice<ForwardTo>(
      "forward_to", forward_to, {{"one", ForwardTo::One}, {"all", ForwardTo::All}},
      "Which of several GPUs that may hold a page the IOMMU asks: one is the next GPU, all is every one.");
  section.child("spill", spill, "Spilling from the IOMMU TLB to L2 TLBs.");
  Section counter = section.group("eviction_counter", "The count of each GPU's entries in the IOMMU TLB.");
  counter.integer(
      "bits", counter_bits, {0, 31}, "bits",
      "Bits of the eviction counter, which saturates at its largest value; 0 is a counter that is always exact.");
}

}  // namespace nearfar
