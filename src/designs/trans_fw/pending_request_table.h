// The Pending Request Table of Trans-FW: a cuckoo filter beside a GMMU of the pages that have a valid entry in the
// local page table. An L2 TLB miss that it does not know goes to the host without a walk.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

#include "designs/cuckoo_filter.h"
#include "designs/trans_fw/spec.h"
#include "translation/design_component.h"
#include "translation/gmmu/gmmu.h"

namespace nearfar {

struct PrtStats {
  std::uint64_t lookups = 0;
  std::uint64_t positives = 0;
  std::uint64_t short_circuits = 0;
  std::uint64_t false_positives = 0;
  std::uint64_t false_negatives = 0;
  std::uint64_t saturated_lookups = 0;
  std::uint64_t inserts = 0;
  std::uint64_t deletes = 0;
  std::uint64_t overflows = 0;

  void describe(StatVisitor& visitor);
};

class PendingRequestTable final : public DesignComponent, public WalkFilter, public PteObserver {
 public:
  PendingRequestTable(Gmmu& gmmu, const PrtSpec& spec, CuckooFilter::Hash hash = metro_hash);

  const char* name() const override { return "prt"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }

  Cycle latency() const override { return spec_.latency; }
  /// A replay follows a fault that has brought the mapping.
  bool asks_replays() const override { return false; }
  bool admits(PageKey page) override;

  void maps(PageKey page) override;
  void unmapped(PageKey page) override;

  const CuckooFilter& filter() const { return filter_; }
  PrtStats& stats() { return stats_; }

 private:
  std::uint64_t key_of(PageKey page) const {
    return filter_key(PageKey{page.pid(), page.number() / spec_.region_pages});
  }
  void check_count() const;

  Gmmu& gmmu_;
  PrtSpec spec_;
  CuckooFilter filter_;
  std::uint64_t items_ = 0;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> valid_in_;  ///< by region, where one has several pages
  PrtStats stats_;
};

}  // namespace nearfar
