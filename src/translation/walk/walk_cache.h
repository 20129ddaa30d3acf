// The page-walk cache: upper-level entries of page tables, so that a walk can begin further down. Fully associative,
// true LRU; one array for all levels, or one for each. An entry of one level above the leaf covers 2^reach pages, one
// of the next level 2^reach times as many: 9 bits where buffers lie one behind the other, fewer as if they were
// scattered. Where a page has several leaf entries, an entry covers as many fewer pages.
#pragma once

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "translation/page.h"

namespace nearfar {

/// Up to `capacity` keys, the least recently used of which leaves first. Capacity 0 keeps nothing.
class LruSet {
 public:
  explicit LruSet(std::uint32_t capacity);
  static constexpr std::uint32_t kUnlimited = ~std::uint32_t{0};

  bool holds(std::uint64_t key) const { return places_.contains(key); }
  /// Makes a held key the most recent.
  void use(std::uint64_t key);
  /// Adds a key, or makes it the most recent.
  void insert(std::uint64_t key);
  void erase(std::uint64_t key);

 private:
  struct Node {
    std::uint64_t key = 0;
    std::uint32_t before = 0;
    std::uint32_t after = 0;
  };

  void unlink(std::uint32_t at);
  void link_first(std::uint32_t at);

  std::uint32_t capacity_;
  std::vector<std::uint32_t> free_;
  std::vector<Node> nodes_;  // node 0 is the ring's head: after it the most recent, before it the least
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> places_;
};

class WalkCache {
 public:
  /// Bits of a page number that a level of the page table resolves.
  static constexpr unsigned kLevelBits = 9;

  /// One array of `entries` for all levels.
  explicit WalkCache(std::uint32_t entries, unsigned reach = kLevelBits, unsigned page_bits = 0)
      : reach_(reach), page_bits_(page_bits), arrays_(1, LruSet(entries)) {}
  /// An array for each level, from level 2 up.
  explicit WalkCache(const std::vector<std::uint32_t>& entries_by_level, unsigned reach = kLevelBits,
                     unsigned page_bits = 0)
      : reach_(reach), page_bits_(page_bits) {
    for (const std::uint32_t entries : entries_by_level) arrays_.emplace_back(entries);
  }

  /// The lowest level above `leaf` up to `top` whose entry for a page is held; 0 when none is.
  unsigned find(PageKey page, unsigned leaf, unsigned top) const {
    for (unsigned level = leaf + 1; level <= top; ++level) {
      if (array(level).holds(key(page, leaf, level))) return level;
    }
    return 0;
  }
  /// The same, and the entry becomes the most recent.
  unsigned look_up(PageKey page, unsigned leaf, unsigned top) {
    const unsigned level = find(page, leaf, top);
    if (level != 0) array(level).use(key(page, leaf, level));
    return level;
  }
  void fill(PageKey page, unsigned leaf, unsigned level) { array(level).insert(key(page, leaf, level)); }
  /// Removes the entries that lead to nothing but these pages.
  void drop(const PageRange& range, unsigned leaf, unsigned root);

 private:
  std::uint64_t key(PageKey page, unsigned leaf, unsigned level) const {
    return (page.number() >> covered_bits(level - leaf)) << 16 | std::uint64_t{page.pid()} << 8 | level;
  }
  /// Of a page number, below an entry so many levels above the leaf.
  unsigned covered_bits(unsigned levels) const { return std::max(reach_ * levels, page_bits_) - page_bits_; }
  std::size_t place(unsigned level) const { return arrays_.size() == 1 ? 0 : level - 2; }
  LruSet& array(unsigned level) { return arrays_[place(level)]; }
  const LruSet& array(unsigned level) const { return arrays_[place(level)]; }

  unsigned reach_;
  unsigned page_bits_;  ///< leaf entries of a page, as a power of two
  std::vector<LruSet> arrays_;
};

}  // namespace nearfar
