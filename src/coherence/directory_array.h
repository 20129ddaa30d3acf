// The array of a set-associative coherence directory: which blocks have entries, and which entry of a set goes next.
// What an entry says about its block is kept beside it by the organization. The number of sets may be any.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "coherence/coherence_spec.h"
#include "sim/divider.h"

namespace nearfar {

class DirectoryArray {
 public:
  /// An entry, by its place.
  using Entry = std::uint32_t;
  static constexpr Entry kNone = ~Entry{0};

  /// A whole number of sets of `ways` entries.
  DirectoryArray(std::uint64_t entries, std::uint32_t ways, IndexHash index, DirectoryReplacement replacement)
      : sets_(entries / ways),
        ways_(ways),
        hashes_(index == IndexHash::Xor),
        lru_(replacement == DirectoryReplacement::Lru),
        blocks_(entries, kFree),
        order_(entries) {
    assert(entries % ways == 0 && entries < kNone);
    for (std::size_t i = 0; i < order_.size(); ++i) order_[i] = static_cast<Way>(ways_.remainder(i));
  }

  Entry size() const { return static_cast<Entry>(blocks_.size()); }
  Entry used() const { return used_; }
  bool is_free(Entry entry) const { return blocks_[entry] == kFree; }
  std::uint64_t block(Entry entry) const { return blocks_[entry]; }

  Entry find(std::uint64_t block) const { return find_in_set(first_of_set(block), block); }

  /// Where a block goes that has no entry: the free way of lowest index, else the one that is replaced. By FIFO that is
  /// the one allocated longest ago, by LRU the one used longest ago.
  Entry place_for(std::uint64_t block) const {
    const Entry first = first_of_set(block);
    const Entry free = find_in_set(first, kFree);
    return free != kNone ? free : first + order_[first];
  }

  /// At place_for(block), which is free by now.
  void allocate(Entry entry, std::uint64_t block) {
    assert(is_free(entry));
    blocks_[entry] = block;
    ++used_;
    make_youngest(entry);
  }

  /// A read or write of another GPU has found the entry.
  void use(Entry entry) {
    if (lru_) make_youngest(entry);
  }

  void free(Entry entry) {
    assert(!is_free(entry));
    blocks_[entry] = kFree;
    --used_;
  }

  /// What is wrong with it, or "".
  std::string problem() const;

 private:
  using Way = std::uint16_t;
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  std::uint64_t set_of(std::uint64_t block) const {
    const auto [upper, low] = sets_.divide(block);
    // Blocks that lie a multiple of the sets apart are spread over all of them.
    return hashes_ ? sets_.remainder(low + (upper * 0x9e3779b97f4a7c15ULL >> 40)) : low;
  }
  Entry first_of_set(std::uint64_t block) const { return static_cast<Entry>(set_of(block) * ways_.divisor()); }
  Entry find_in_set(Entry first, std::uint64_t block) const {
    const Entry end = first + static_cast<Entry>(ways_.divisor());
    for (Entry entry = first; entry < end; ++entry) {
      if (blocks_[entry] == block) return entry;
    }
    return kNone;
  }
  void make_youngest(Entry entry) {
    const auto way = static_cast<Way>(ways_.remainder(entry));
    const auto first = order_.begin() + (entry - way);
    const auto end = first + static_cast<std::ptrdiff_t>(ways_.divisor());
    const auto own = std::find(first, end, way);
    std::copy(own + 1, end, own);
    *(end - 1) = way;
  }

  Divider sets_;
  Divider ways_;
  bool hashes_;
  bool lru_;
  Entry used_ = 0;
  std::vector<std::uint64_t> blocks_;  ///< or kFree
  std::vector<Way> order_;             ///< of each set: its ways, the oldest first
};

}  // namespace nearfar
