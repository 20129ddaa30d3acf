// Miss status holding registers: the lines of a cache that have been asked for and are not there yet.
// A small open hash of fixed size with the payload of each pending line beside it.
#pragma once

#include <bit>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/types.h"

namespace nearfar {

/// `Key` is a line or a page: what has one name in `value`.
template <class Payload, class Key = PhysLine>
class MshrFile {
 public:
  struct Entry {
    Key line;
    std::uint16_t chain = kEnd;  ///< next entry of the bucket, or of the free list
    Payload payload{};
  };

  explicit MshrFile(std::uint32_t capacity)
      : entries_(capacity),
        buckets_(std::bit_ceil(capacity) * 2, kEnd),
        bucket_mask_(std::bit_ceil(capacity) * 2 - 1),
        free_(0) {
    assert(capacity < kEnd);
    for (std::uint32_t i = 0; i + 1 < capacity; ++i) entries_[i].chain = static_cast<std::uint16_t>(i + 1);
  }

  std::uint32_t used() const { return used_; }
  bool full() const { return free_ == kEnd; }

  Entry* find(Key line) {
    for (std::uint16_t i = buckets_[bucket(line)]; i != kEnd; i = entries_[i].chain) {
      if (entries_[i].line == line) return &entries_[i];
    }
    return nullptr;
  }

  /// The file is not full and does not hold the line.
  Entry& allocate(Key line) {
    assert(!full() && find(line) == nullptr);
    const std::uint16_t i = free_;
    Entry& entry = entries_[i];
    free_ = entry.chain;
    entry.line = line;
    entry.chain = buckets_[bucket(line)];
    buckets_[bucket(line)] = i;
    ++used_;
    return entry;
  }

  void release(Entry& entry) {
    const auto index = static_cast<std::uint16_t>(&entry - entries_.data());
    std::uint16_t* link = &buckets_[bucket(entry.line)];
    while (*link != index) link = &entries_[*link].chain;
    *link = entry.chain;
    entry.chain = free_;
    entry.payload = Payload{};
    free_ = index;
    --used_;
  }

  /// Visits every pending entry, in a fixed order.
  template <class Visit>
  void for_each(Visit visit) {
    for (std::uint16_t head : buckets_) {
      for (std::uint16_t i = head; i != kEnd; i = entries_[i].chain) visit(entries_[i]);
    }
  }

 private:
  static constexpr std::uint16_t kEnd = 0xffff;

  std::size_t bucket(Key line) const { return (line.value * 0x9e3779b97f4a7c15ULL >> 32) & bucket_mask_; }

  std::vector<Entry> entries_;
  std::vector<std::uint16_t> buckets_;
  std::uint32_t bucket_mask_;
  std::uint16_t free_;
  std::uint32_t used_ = 0;
};

}  // namespace nearfar
