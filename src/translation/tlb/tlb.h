// A TLB's array: which pages it holds, where they are mapped, and which one leaves next (true LRU in the set, or what a
// policy says). No timing. One class serves the L1, L2, IOMMU and host TLBs, and the L3 TLB of GPU instances.
//
// An entry is for one page, or for a range of neighbouring pages with a sub-entry for each: then a page is held where
// the tag of its range and its own sub-entry are. A fill of another page of a range that is held fills its sub-entry
// alone; an entry that leaves takes all its sub-entries along.
#pragma once

#include <bit>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "sim/divider.h"
#include "translation/page.h"
#include "translation/tlb/replacement.h"
#include "translation/translation_spec.h"

namespace nearfar {

/// A page that a TLB holds.
struct TlbEntry {
  PageKey page;
  Mapping mapping;
  std::uint32_t note = 0;  ///< what a design keeps with it
};

/// Hears what entries with sub-entries held when they left a TLB.
class TlbEvictionObserver {
 public:
  virtual ~TlbEvictionObserver() = default;
  /// The pages whose sub-entries were filled, at least one.
  virtual void evicted(std::span<const TlbEntry> pages) = 0;
  /// A page took the sub-entry of a page of another process.
  virtual void displaced(PageKey /*page*/) {}
};

class Tlb {
 public:
  using Entry = TlbEntry;
  static constexpr std::uint32_t kMostSubEntries = 16;

  /// `entries` a multiple of `ways`; 0 entries: holds everything it is given. `sub_entries` a power of two.
  Tlb(std::uint32_t entries, std::uint32_t ways, TlbReplacementKind replacement = TlbReplacementKind::Lru,
      std::uint32_t sub_entries = 1);
  explicit Tlb(const PlainTlbSpec& spec) : Tlb(spec.entries, spec.ways, spec.replacement, spec.sub_entries) {}
  void set_eviction_observer(TlbEvictionObserver& observer) { observer_ = &observer; }
  /// Tags do not tell processes apart, sub-entries do: those of one range share an entry.
  void share_between_processes() { shares_ = true; }
  /// Plugs a design into the seam "TLB replacement", before the first mapping. An infinite TLB needs none.
  void set_replacement(std::unique_ptr<TlbReplacement> policy) { policy_ = std::move(policy); }

  /// The mapping of a page, which counts as used; null when it is not held.
  const Mapping* use(PageKey page);
  /// The same without a use.
  const Mapping* peek(PageKey page) const;
  /// All that is held of a page, without a use.
  const Entry* entry(PageKey page) const;

  /// Whether the range of a page has an entry, with or without a sub-entry for the page.
  bool holds_range(PageKey page) const { return find(range_of(page)) != kNone; }

  /// Holds a page as the most recent of its set. What had to leave for it is the answer; of an entry with sub-entries
  /// the first of its pages, and an observer hears of all.
  std::optional<Entry> insert(PageKey page, const Mapping& mapping, std::uint32_t note = 0);
  /// Whether it was held.
  bool erase(PageKey page);

  std::uint32_t size() const { return held_; }
  /// Visits every entry, in a fixed order (an infinite TLB: in order of insertion).
  template <class Visit>
  void for_each(Visit visit) const {
    if (infinite()) {
      for (const Entry& entry : all_) visit(entry);
      return;
    }
    for (std::size_t slot = 0; slot < tags_.size(); ++slot) {
      if (tags_[slot] == kInvalid) continue;
      if (shift_ == 0) {
        visit(entries_[slot]);
      } else {
        for (std::uint32_t mask = filled_[slot]; mask != 0; mask &= mask - 1) visit(sub_entry(slot, mask));
      }
    }
  }

 private:
  static constexpr std::uint32_t kInvalid = ~std::uint32_t{0};
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  bool infinite() const { return ways_ == 0; }
  /// What a tag names: a page, or, with sub-entries, a range of them.
  PageKey range_of(PageKey page) const {
    if (shift_ == 0) return page;
    return PageKey{shares_ ? Pid{0} : page.pid(), page.number() >> shift_};
  }
  std::uint64_t set_of(PageKey range) const { return sets_.remainder(range.number()); }
  /// A tag that is quick to compare; the entry has the whole name.
  static std::uint32_t tag_of(PageKey page) {
    const auto tag = static_cast<std::uint32_t>(page.value ^ page.value >> 32);
    return tag == kInvalid ? 0 : tag;
  }
  std::uint32_t find(PageKey range) const;
  PageKey name_of(std::uint32_t slot) const { return shift_ == 0 ? entries_[slot].page : ranges_[slot]; }
  std::uint32_t index_in_range(PageKey page) const {
    return static_cast<std::uint32_t>(page.number()) & ((1U << shift_) - 1);
  }
  /// The sub-entry of the lowest bit of a mask.
  const Entry& sub_entry(std::size_t slot, std::uint32_t mask) const {
    return entries_[slot << shift_ | static_cast<std::size_t>(std::countr_zero(mask))];
  }
  const Entry* held_in_slot(std::uint32_t slot, PageKey page) const;
  void put(std::uint32_t slot, bool had_range, const Entry& entry);
  Entry leave(std::uint32_t slot);
  void make_youngest(std::uint32_t slot);
  void note_use(std::uint32_t slot, PageKey page);
  void note_fill(std::uint32_t slot, PageKey page);
  std::uint32_t victim_in(std::uint64_t set, PageKey page);

  Divider sets_;
  Divider of_ways_;  ///< slots by sets
  std::uint32_t ways_;
  std::uint32_t held_ = 0;
  // What was looked for last is often looked for again: a use follows a peek, an insertion follows a miss.
  mutable std::uint32_t last_ = 0;  ///< slot in which something was found last
  mutable PageKey absent_;          ///< what was not found last
  unsigned shift_ = 0;              ///< sub-entries of an entry, as a power of two
  bool shares_ = false;
  TlbEvictionObserver* observer_ = nullptr;
  std::vector<std::uint32_t> tags_;
  std::vector<std::uint8_t> ages_;          ///< of a set: a permutation, 0 is the most recent
  std::vector<std::uint16_t> held_in_;      ///< by set
  std::vector<Entry> entries_;              ///< by slot, and by sub-entry in it
  std::vector<PageKey> ranges_;             ///< with sub-entries: by slot
  std::vector<std::uint16_t> filled_;       ///< with sub-entries: a bit for each, by slot
  std::unique_ptr<TlbReplacement> policy_;  ///< none: LRU, by the ages

  std::vector<Entry> all_;  ///< infinite
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> index_;
};

}  // namespace nearfar
