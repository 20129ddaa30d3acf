// The local TLB tracker: in the IOMMU, a cuckoo filter for each GPU over what that GPU's L2 TLB holds. It may err both
// ways; an error costs time, never a wrong translation.
#pragma once

#include <cstdint>
#include <vector>

#include "designs/cuckoo_filter.h"
#include "designs/least_tlb/least_tlb_spec.h"
#include "stats/stat.h"
#include "translation/page.h"

namespace nearfar {

struct TrackerStats {
  std::uint64_t inserts = 0;
  std::uint64_t deletes = 0;
  std::uint64_t dropped = 0;
  std::uint64_t positives = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t false_negatives = 0;

  void describe(StatVisitor& visitor);
};

class TlbTracker {
 public:
  TlbTracker(const TrackerSpec& spec, unsigned gpus);

  /// Whether a GPU's L2 TLB is thought to hold a page.
  bool holds(DeviceId gpu, PageKey page);
  void insert(DeviceId gpu, PageKey page);
  void erase(DeviceId gpu, PageKey page);

  /// What it has been told and not told back.
  const CuckooFilter& told(DeviceId gpu) const { return truth_[gpu.value]; }
  TrackerStats& stats() { return stats_; }

 private:
  static std::vector<CuckooFilter> make(const TrackerSpec& spec, unsigned gpus, bool exact);

  std::vector<CuckooFilter> filters_;
  std::vector<CuckooFilter> truth_;  ///< for statistics: the same without errors
  TrackerStats stats_;
};

}  // namespace nearfar
