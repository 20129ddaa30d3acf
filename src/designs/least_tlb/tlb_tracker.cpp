#include "designs/least_tlb/tlb_tracker.h"

namespace nearfar {

void TrackerStats::describe(StatVisitor& visitor) {
  visitor.counter("tracker.inserts", "pages", "Pages that the local TLB tracker recorded as held by an L2 TLB.",
                  inserts);
  visitor.counter("tracker.deletes", "pages",
                  "Pages that the local TLB tracker recorded as no longer held by an L2 TLB.", deletes);
  visitor.counter("tracker.dropped", "pages",
                  "Fingerprints that the local TLB tracker dropped since a filter was full.", dropped);
  visitor.counter("tracker.positives", "lookups", "GPUs that the local TLB tracker named for misses of the IOMMU TLB.",
                  positives);
  visitor.counter("tracker.false_positives", "lookups",
                  "GPUs that the local TLB tracker named although it had not recorded the page for them.",
                  false_positives);
  visitor.counter("tracker.false_negatives", "lookups",
                  "GPUs that the local TLB tracker did not name although it had recorded the page for them.",
                  false_negatives);
}

TlbTracker::TlbTracker(const TrackerSpec& spec, unsigned gpus)
    : filters_(make(spec, gpus, spec.exact)), truth_(make(spec, gpus, true)) {}

std::vector<CuckooFilter> TlbTracker::make(const TrackerSpec& spec, unsigned gpus, bool exact) {
  std::vector<CuckooFilter> filters;
  for (unsigned g = 0; g < gpus; ++g) {
    CuckooFilterSpec each;
    each.buckets = spec.entries / gpus / spec.slots;
    each.slots = spec.slots;
    each.fingerprint_bits = spec.fingerprint_bits;
    each.max_kicks = spec.max_kicks;
    each.overflow = exact ? FilterOverflow::Exact : FilterOverflow::Drop;
    each.seed = g;
    filters.emplace_back(each);
  }
  return filters;
}

bool TlbTracker::holds(DeviceId gpu, PageKey page) {
  const bool named = filters_[gpu.value].look_up(filter_key(page)) != CuckooFilter::Match::None;
  const bool noted = truth_[gpu.value].look_up(filter_key(page)) != CuckooFilter::Match::None;
  if (named) ++stats_.positives;
  if (named && !noted) ++stats_.false_positives;
  if (!named && noted) ++stats_.false_negatives;
  return named;
}

void TlbTracker::insert(DeviceId gpu, PageKey page) {
  ++stats_.inserts;
  if (!filters_[gpu.value].insert(filter_key(page))) ++stats_.dropped;
  truth_[gpu.value].insert(filter_key(page));
}

void TlbTracker::erase(DeviceId gpu, PageKey page) {
  ++stats_.deletes;
  filters_[gpu.value].erase(filter_key(page));
  truth_[gpu.value].erase(filter_key(page));
}

}  // namespace nearfar
