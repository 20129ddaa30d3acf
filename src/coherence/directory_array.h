// The array of a set-associative coherence directory: which blocks have entries, and which entry of a set goes next.
// What an entry says about its block is kept beside it by the organization. The number of sets may be any.
//
// It is asked for every line that other GPUs read or write, so a set of eight ways is one line of the host's cache, and
// the order of its ways is one age a way: the ages of a set are a permutation.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "coherence/coherence_spec.h"
#include "sim/divider.h"
#include "sim/prefetch.h"

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
        ages_(entries),
        storage_(entries + kHostLine / sizeof(std::uint64_t), kFree),
        blocks_(aligned(storage_.data())) {
    assert(entries % ways == 0 && entries < kNone);
    for (std::size_t i = 0; i < ages_.size(); ++i) ages_[i] = static_cast<Age>(ways - 1 - ways_.remainder(i));
  }
  DirectoryArray(const DirectoryArray&) = delete;
  DirectoryArray& operator=(const DirectoryArray&) = delete;
  DirectoryArray(DirectoryArray&&) = default;  // what blocks_ points to moves with storage_

  Entry size() const { return static_cast<Entry>(ages_.size()); }
  Entry used() const { return used_; }
  bool is_free(Entry entry) const { return blocks_[entry] == kFree; }
  std::uint64_t block(Entry entry) const { return blocks_[entry]; }

  Entry find(std::uint64_t block) const { return find_in_set(first_of_set(block), block); }

  /// Brings the set of a block closer to the host's processor: it will be asked for soon.
  void prefetch(std::uint64_t block) const {
    const Entry first = first_of_set(block);
    prefetch_line(blocks_ + first);
    prefetch_line(ages_.data() + first);
  }

  /// Where a block goes that has no entry: the free way of lowest index, else the one that is replaced. By FIFO that is
  /// the one allocated longest ago, by LRU the one used longest ago.
  Entry place_for(std::uint64_t block) const {
    const Entry first = first_of_set(block);
    const Entry free = used_ == size() ? kNone : find_in_set(first, kFree);
    return free != kNone ? free : first + oldest_way(first);
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
  using Age = std::uint16_t;
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
  /// Of a set: the oldest has as many younger ones as there are others.
  std::uint32_t oldest_way(Entry first) const {
    const auto oldest = static_cast<Age>(ways_.divisor() - 1);
    std::uint32_t way = 0;
    while (ages_[first + way] != oldest) ++way;
    return way;
  }
  void make_youngest(Entry entry) {
    const Age own = ages_[entry];
    if (own == 0) return;
    Age* age = ages_.data() + (entry - ways_.remainder(entry));
    const auto ways = static_cast<std::uint32_t>(ways_.divisor());
    for (std::uint32_t way = 0; way < ways; ++way) age[way] = static_cast<Age>(age[way] + (age[way] < own ? 1 : 0));
    ages_[entry] = 0;
  }
  /// The first line of the host's cache in a piece of memory with room for one more.
  static std::uint64_t* aligned(std::uint64_t* storage) {
    const auto address = reinterpret_cast<std::uintptr_t>(storage);
    return storage + (kHostLine - address % kHostLine) % kHostLine / sizeof(std::uint64_t);
  }

  Divider sets_;
  Divider ways_;
  bool hashes_;
  bool lru_;
  Entry used_ = 0;
  std::vector<Age> ages_;  ///< of each entry: how many of its set are younger
  std::vector<std::uint64_t> storage_;
  std::uint64_t* blocks_;  ///< of each entry, or kFree; in storage_
};

}  // namespace nearfar
