// An array for the L3 TLB that GPU instances share, in which several ranges of pages with few pages in use take one
// entry's place.
//
//   packed way   up to four ranges, each with its own tag and a quarter of the way's sub-entries; a sub-entry says
//   which
//                page of its range it is for
//   whole way    one range, with a sub-entry for each of its pages, as in the baseline
//
// A range begins packed. When it needs one sub-entry more than a quarter has, it moves to a way of its own. What leaves
// a full set is the range that has not been used for longest; for a way of its own it is the way of whose ranges none
// has been used for longest. A whole way that leaves is packed again.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "sim/divider.h"
#include "stats/stat.h"
#include "translation/design_component.h"
#include "translation/iommu/shared_tlb_array.h"
#include "translation/mig_spec.h"

namespace nearfar {

class Section;

struct PackingSpec {
  std::uint32_t ranges = 4;  // of a packed way

  void describe(Section& section);
};

struct PackingStats {
  std::uint64_t moves = 0;
  std::uint64_t packed_evictions = 0;
  std::uint64_t whole_evictions = 0;

  void describe(StatVisitor& visitor);
};

class PackedArray final : public DesignComponent, public SharedTlbArray {
 public:
  /// `spec.ranges` divides `mig.sub_entries`.
  PackedArray(const PackingSpec& spec, const MigSpec& mig);

  const Mapping* use(PageKey page) override;
  void insert(PageKey page, const Mapping& mapping, std::uint32_t note) override;
  bool holds_range(PageKey page) const override { return find(range_of(page)) != kNone; }
  void for_each(const std::function<void(const TlbEntry&)>& visit) const override;
  void set_eviction_observer(TlbEvictionObserver& observer) override { observer_ = &observer; }

  const char* name() const override { return "l3_packing"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }

 private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  /// A range of pages that is held; its sub-entries are in no order.
  struct Range {
    std::uint64_t used = 0;
    std::uint32_t filled = 0;
    std::array<TlbEntry, Tlb::kMostSubEntries> pages;
  };
  /// Places for ranges: so many for each way, of which a whole way uses the first alone.
  struct Places {
    std::uint32_t first = 0;
    std::uint32_t end = 0;
  };

  PageKey range_of(PageKey page) const { return PageKey{page.pid(), page.number() >> shift_}; }
  Places set_of(PageKey range) const;
  Places way_of(std::uint32_t place) const { return {place / ranges_ * ranges_, (place / ranges_ + 1) * ranges_}; }
  bool is_whole(std::uint32_t place) const { return whole_[place / ranges_] != 0; }
  bool is_empty(std::uint32_t place) const { return held_[place].filled == 0; }
  std::uint32_t find(PageKey range) const;
  static TlbEntry* find_page(Range& range, PageKey page);
  std::uint64_t last_use(Places way) const;
  std::uint32_t place_for_new(Places set);
  std::uint32_t whole_way(Places set);
  void evict(std::uint32_t place);
  void leave(std::uint32_t place);

  Divider sets_;
  std::uint32_t ways_of_set_;
  std::uint32_t ranges_;        ///< of a packed way
  std::uint32_t packed_pages_;  ///< sub-entries of each of them
  unsigned shift_;              ///< pages of a range, as a power of two
  std::uint64_t clock_ = 0;
  std::vector<PageKey> names_;       ///< by place: which range; no page where it is empty
  std::vector<Range> held_;          ///< by place
  std::vector<std::uint8_t> whole_;  ///< by way
  TlbEvictionObserver* observer_ = nullptr;
  PackingStats stats_;
};

}  // namespace nearfar
