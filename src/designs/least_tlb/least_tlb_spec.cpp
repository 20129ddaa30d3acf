#include "designs/least_tlb/least_tlb_spec.h"

#include "config/schema.h"

namespace nearfar {

void TrackerSpec::describe(Section& section) {
  section.integer("entries", entries, {1, 1U << 20}, "pages",
                  "Fingerprints of all GPUs together; each GPU has an equal share.");
  section.integer("slots_per_bucket", slots, {1, 16}, "fingerprints", "Of a bucket of the cuckoo filter.");
  section.integer("fingerprint_bits", fingerprint_bits, {1, 16}, "bits", "Of a fingerprint.");
  section.integer("max_kicks", max_kicks, {0, 10'000}, "moves",
                  "Fingerprints moved for a new one before the one left over is dropped.");
  section.flag("exact", exact, "A perfect tracker in place of the filter, for studies.");
}

void SpillSpec::describe(Section& section) {
  section.integer("count", count, {0, 15}, "spills",
                  "How often a translation may be spilled before it is used again; 0 is no spilling.");
  section.flag("exclude_home", exclude_home, "A translation is never spilled to the GPU of its own process.");
}

void LeastTlbSpec::describe(Section& section) {
  section.choice<LeastTlbMode>(
      "mode", mode, {{"single", LeastTlbMode::Single}, {"multi", LeastTlbMode::Multi}, {"auto", LeastTlbMode::Auto}},
      "single: GPUs of one process share their L2 TLBs. multi: the IOMMU TLB spills to them. auto: multi where several "
      "processes run.");
  section.child("tracker", tracker, "The local TLB tracker: what the IOMMU knows of each GPU's L2 TLB.");
  section.cycles("remote_latency", remote_latency, {0, 1'000'000},
                 "Least time from the IOMMU's question to a GPU to the use of its answer; 0 is what links and lookup "
                 "take.");
  section.flag("race", race, "A walk starts beside the question to a GPU, not after it has failed.");
  section.choice<ForwardTo>("forward_to", forward_to, {{"one", ForwardTo::One}, {"all", ForwardTo::All}},
                            "Of several GPUs that may hold a page, the next one is asked, or all.");
  section.child("spill", spill, "Spilling from the IOMMU TLB to L2 TLBs.");
  Section counter = section.group("eviction_counter", "The count of each GPU's entries in the IOMMU TLB.");
  counter.integer("bits", counter_bits, {0, 31}, "bits", "It shows at most what these bits can; 0 is always exact.");
}

}  // namespace nearfar
