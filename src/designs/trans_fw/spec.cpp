#include "designs/trans_fw/spec.h"

#include "config/schema.h"

namespace nearfar {
namespace {

constexpr std::uint32_t kMostBuckets = 1U << 24;

void describe_filter(Section& section, CuckooFilterSpec& filter) {
  section.integer("buckets", filter.buckets, {1, kMostBuckets}, "buckets", "Of the cuckoo filter.");
  section.integer("slots", filter.slots, {1, 16}, "fingerprints", "In a bucket.");
  section.integer("fingerprint_bits", filter.fingerprint_bits, {1, 16}, "bits", "Of a fingerprint.");
  section.integer("max_kicks", filter.max_kicks, {0, 100'000}, "kicks", "Fingerprints moved to make room for one.");
}

}  // namespace

void PrtSpec::describe(Section& section) {
  describe_filter(section, filter);
  section.choice<FilterOverflow>("overflow", filter.overflow,
                                 {{"conservative", FilterOverflow::Conservative},
                                  {"drop", FilterOverflow::Drop},
                                  {"exact", FilterOverflow::Exact}},
                                 "What becomes of a fingerprint that finds no room: it is counted, so that nothing is "
                                 "ever missed, or forgotten; exact is an ideal set.");
  section.integer("overflow_counters", filter.counters, {0, kMostBuckets}, "counters",
                  "conservative: counters of fingerprints that found no room; 0 is as many as buckets.");
  section.integer("overflow_counter_bits", filter.counter_bits, {1, 32}, "bits", "Of such a counter.");
  section.cycles("latency", latency, {0, 1000}, "Of a lookup, after the miss of the L2 TLB.");
  section.integer("region_pages", region_pages, Limits::powers_of_two(1, 512), "pages",
                  "Neighbouring pages that one fingerprint stands for.");
}

void FtSpec::describe(Section& section) {
  describe_filter(section, filter);
  section.choice<FilterOverflow>("overflow", filter.overflow,
                                 {{"drop", FilterOverflow::Drop}, {"exact", FilterOverflow::Exact}},
                                 "A fingerprint that finds no room is forgotten; exact is an ideal set.");
  section.cycles("latency", hash_latency, {0, 1000}, "Of the first hash, and again of the second.");
  section.integer("compared", compared, {1, 128}, "GPUs", "GPU numbers that are looked up at once.");
  section.integer("threshold_percent", threshold_percent, {0, 100'000}, "%",
                  "A fault is forwarded when more than this share of the number of host walkers waits for one.");
  section.choice<FtTrack>("track", track, {{"owner", FtTrack::Owner}, {"holders", FtTrack::Holders}},
                          "GPUs in whose memory a page lies, or GPUs with a mapping of it too.");
  section.flag("probe_l2_tlb", probe_l2_tlb, "A GPU that is asked looks into its L2 TLB before it walks.");
}

}  // namespace nearfar
