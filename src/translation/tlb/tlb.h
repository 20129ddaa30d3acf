// A TLB's array: which pages it holds, where they are mapped, and which one leaves next (true LRU in the set, or what a
// policy says). No timing. One class serves the L1, L2, IOMMU and host TLBs.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "sim/divider.h"
#include "translation/page.h"
#include "translation/tlb/replacement.h"
#include "translation/translation_spec.h"

namespace nearfar {

class Tlb {
 public:
  struct Entry {
    PageKey page;
    Mapping mapping;
    std::uint32_t note = 0;  ///< what a design keeps with it
  };

  /// `entries` a multiple of `ways`; 0 entries: holds everything it is given.
  Tlb(std::uint32_t entries, std::uint32_t ways, TlbReplacementKind replacement = TlbReplacementKind::Lru);
  explicit Tlb(const PlainTlbSpec& spec) : Tlb(spec.entries, spec.ways, spec.replacement) {}
  /// Plugs a design into the seam "TLB replacement", before the first mapping. An infinite TLB needs none.
  void set_replacement(std::unique_ptr<TlbReplacement> policy) { policy_ = std::move(policy); }

  /// The mapping of a page, which counts as used; null when it is not held.
  const Mapping* use(PageKey page);
  /// The same without a use.
  const Mapping* peek(PageKey page) const;
  /// All that is held of a page, without a use.
  const Entry* entry(PageKey page) const;

  /// Holds a page as the most recent of its set. What had to leave for it is the answer.
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
    for (std::size_t slot = 0; slot < entries_.size(); ++slot) {
      if (tags_[slot] != kInvalid) visit(entries_[slot]);
    }
  }

 private:
  static constexpr std::uint32_t kInvalid = ~std::uint32_t{0};
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  bool infinite() const { return ways_ == 0; }
  std::uint64_t set_of(PageKey page) const { return sets_.remainder(page.number()); }
  /// A tag that is quick to compare; the entry has the whole name.
  static std::uint32_t tag_of(PageKey page) {
    const auto tag = static_cast<std::uint32_t>(page.value ^ page.value >> 32);
    return tag == kInvalid ? 0 : tag;
  }
  std::uint32_t find(PageKey page) const;
  void make_youngest(std::uint32_t slot);
  void note_use(std::uint32_t slot);
  void note_fill(std::uint32_t slot);
  std::uint32_t victim_in(std::uint64_t set);

  Divider sets_;
  Divider of_ways_;  ///< slots by sets
  std::uint32_t ways_;
  std::uint32_t held_ = 0;
  // What was looked for last is often looked for again: a use follows a peek, an insertion follows a miss.
  mutable std::uint32_t last_ = 0;  ///< slot in which something was found last
  mutable PageKey absent_;          ///< what was not found last
  std::vector<std::uint32_t> tags_;
  std::vector<std::uint8_t> ages_;      ///< of a set: a permutation, 0 is the most recent
  std::vector<std::uint16_t> held_in_;  ///< by set
  std::vector<Entry> entries_;
  std::unique_ptr<TlbReplacement> policy_;  ///< none: LRU, by the ages

  std::vector<Entry> all_;  ///< infinite
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> index_;
};

}  // namespace nearfar
