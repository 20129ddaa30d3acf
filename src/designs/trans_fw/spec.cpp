#include "designs/trans_fw/spec.h"

#include "config/schema.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kMostBuckets = 1U << 24;

void describe_filter(Section& section, CuckooFilterSpec& filter) {
  section.integer("buckets", filter.buckets, {1, kMostBuckets}, "buckets", "Buckets of the cuckoo filter.");
  section.integer("slots", filter.slots, {1, 16}, "fingerprints", "Fingerprints in a bucket of the cuckoo filter.");
  section.integer("fingerprint_bits", filter.fingerprint_bits, {1, 16}, "bits",
                  "Bits of a fingerprint of the cuckoo filter.");
  section.integer("max_kicks", filter.max_kicks, {0, 100'000}, "kicks",
                  "Fingerprints that the cuckoo filter may move to insert one.");
}

}  // namespace

void PrtSpec::describe(Section& section) {
  describe_filter(section, filter);
  section.choice<FilterOverflow>(
      "overflow", filter.overflow,
      {{"conservative", FilterOverflow::Conservative},
       {"drop", FilterOverflow::Drop},
       {"exact", FilterOverflow::Exact}},
      "What becomes of a fingerprint without a free slot: conservative counts it, so that nothing is ever missed, drop "
      "drops it, and exact is an ideal set in place of the filter.");
  section.integer("overflow_counters", filter.counters, {0, kMostBuckets}, "counters",
                  "With overflow conservative, counters of fingerprints without a free slot; 0 is as many as buckets.");
  section.integer("overflow_counter_bits", filter.counter_bits, {1, 32}, "bits", "Bits of an overflow counter.");
  section.cycles("latency", latency, {0, 1000},
                 "Latency of a lookup of the Pending Request Table, after the miss of the L2 TLB.");
  section.integer("region_pages", region_pages, Limits::powers_of_two(1, 512), "pages",
                  "Neighbouring pages that one fingerprint stands for.");
}

void FtSpec::describe(Section& section) {
  describe_filter(section, filter);
  section.choice<FilterOverflow>("overflow", filter.overflow,
                                 {{"drop", FilterOverflow::Drop}, {"exact", FilterOverflow::Exact}},
                                 "What becomes of a fingerprint without a free slot: drop drops it, and exact is an "
                                 "ideal set in place of the filter.");
  section.cycles("latency", hash_latency, {0, 1000},
                 "Latency of the first hash of the Forwarding Table, and again of the second.");
  section.integer("compared", compared, {1, 128}, "GPUs", "GPU numbers that the Forwarding Table looks up at once.");
  section.integer("threshold_percent", threshold_percent, {0, 100'000}, "%",
                  "A fault is forwarded when more faults wait than this percentage of the number of host walkers.");
  section.choice<FtTrack>("track", track, {{"owner", FtTrack::Owner}, {"holders", FtTrack::Holders}},
                          "Which GPUs the Forwarding Table tracks for a page: owner is the GPU in whose memory it "
                          "lies, holders is also GPUs with a mapping.");
  section.flag("probe_l2_tlb", probe_l2_tlb,
               "If true, a GPU to which a fault is forwarded looks it up in its L2 TLB before it walks.");
}

}  // namespace nearfar
