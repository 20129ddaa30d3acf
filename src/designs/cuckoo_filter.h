// A cuckoo filter: a set that is stored as short fingerprints in buckets, each item in one of two. It answers "maybe"
// for an item that is in it, and seldom for one that is not.
//
// The second bucket is (hash(fingerprint) − first) mod buckets. Subtraction is its own inverse, so any number of
// buckets will do, and a fingerprint can be moved to its other bucket without its key.
//
// A filter that has kicked far and found no empty slot counts as full until one becomes empty, as in the
// implementation by those who proposed these filters. One that is full, or finds none in its kicks, must still do
// something with the fingerprint that is left over:
//   conservative  It is counted. A fingerprint f in buckets {i, j} belongs to the class (min(i, j), f), which both
//                 buckets give, and each class to one of a few counters. A lookup is positive too where its counter
//                 is. Let n be the items of a class and p its stored fingerprints: a counter is the sum of n − p over
//                 its classes, so n ≥ 1 means a match or a positive counter, and there are no false negatives. A
//                 counter that reaches its greatest value stays there, which keeps that true.
//   drop          It is forgotten; its item, or one with an equal fingerprint, will be missed.
//   exact         An ideal set in place of the filter, for studies.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "designs/metro_hash.h"
#include "sim/divider.h"
#include "translation/page.h"

namespace nearfar {

enum class FilterOverflow : std::uint8_t { Conservative, Drop, Exact };

struct CuckooFilterSpec {
  std::uint32_t buckets = 125;
  std::uint32_t slots = 4;  // of a bucket; at most 255
  std::uint32_t fingerprint_bits = 12;
  std::uint32_t max_kicks = 500;
  FilterOverflow overflow = FilterOverflow::Conservative;
  std::uint32_t counters = 0;      // conservative; 0: as many as buckets
  std::uint32_t counter_bits = 8;  // conservative
  std::uint64_t seed = 0;          // of the hash and of the choice of whom to kick

  std::uint64_t fingerprint_storage() const { return std::uint64_t{buckets} * slots * fingerprint_bits; }  // bits
  std::uint32_t counter_count() const {
    if (overflow != FilterOverflow::Conservative) return 0;
    return counters == 0 ? buckets : counters;
  }
  std::uint64_t counter_storage() const { return std::uint64_t{counter_count()} * counter_bits; }
};

class CuckooFilter {
 public:
  using Hash = std::uint64_t (*)(std::uint64_t key, std::uint64_t seed);

  explicit CuckooFilter(const CuckooFilterSpec& spec, Hash hash = metro_hash);

  enum class Match : std::uint8_t {
    None,
    First,    ///< a fingerprint in the key's first bucket
    Second,   ///< one in its second
    Counter,  ///< none, but the counter of its class says that there may be one
  };
  Match look_up(std::uint64_t key) const;

  /// False where a fingerprint was left over: this item's, or another's that had to make way for it.
  bool insert(std::uint64_t key);
  /// False where there was nothing to remove.
  bool erase(std::uint64_t key);

  std::uint32_t slots() const { return static_cast<std::uint32_t>(slots_.size()); }
  /// Fingerprints in buckets (exact: items).
  std::uint64_t stored() const { return stored_; }
  /// Stored fingerprints that could move to an empty slot: without any, kicks are in vain.
  std::uint64_t exits() const { return exits_; }
  /// Sum of the counters.
  std::uint64_t counted() const { return counted_; }
  /// Counters that have reached their greatest value and no longer count.
  std::uint32_t stuck() const { return stuck_; }

 private:
  struct Place {
    std::uint32_t first;
    std::uint32_t second;
    std::uint16_t fingerprint;
  };

  /// A fingerprint, and where else it could be: kicks follow that from bucket to bucket.
  struct Slot {
    std::uint32_t other = 0;
    std::uint16_t fingerprint = 0;  ///< 0: empty
  };

  Place place_of(std::uint64_t key) const;
  std::uint32_t other(std::uint32_t bucket, std::uint16_t fingerprint) const;
  Slot* bucket(std::uint32_t index) { return slots_.data() + std::size_t{index} * spec_.slots; }
  const Slot* find(std::uint32_t index, std::uint16_t fingerprint) const;
  Slot* find(std::uint32_t index, std::uint16_t fingerprint) {
    return const_cast<Slot*>(std::as_const(*this).find(index, fingerprint));
  }
  bool store(std::uint32_t index, Slot content);
  bool remove(std::uint32_t index, std::uint16_t fingerprint);
  std::size_t counter_of(std::uint32_t bucket, std::uint16_t fingerprint) const;
  void count(std::uint32_t bucket, std::uint16_t fingerprint);
  bool uncount(std::uint32_t bucket, std::uint16_t fingerprint);
  std::uint64_t draw();

  CuckooFilterSpec spec_;
  Hash hash_;
  Divider fingerprints_;  ///< how many there are
  std::uint64_t random_;
  std::uint32_t most_;                 ///< a counter's greatest value
  std::vector<Slot> slots_;            ///< bucket by bucket
  std::vector<std::uint8_t> empty_;    ///< by bucket: slots that are
  std::vector<std::uint32_t> others_;  ///< by bucket: stored fingerprints that have it as their other one
  std::uint64_t exits_ = 0;            ///< sum of `others_` over the buckets with an empty slot
  bool walked_in_vain_ = false;        ///< far, and no slot has become empty since
  std::vector<std::uint32_t> sums_;    ///< by fingerprint: what its two buckets add up to, modulo their number
  std::vector<std::uint32_t> counters_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> items_;  ///< exact: how often each was inserted
  std::uint64_t stored_ = 0;
  std::uint64_t counted_ = 0;
  std::uint32_t stuck_ = 0;
};

/// A page, and a page on a GPU, as keys of filters.
constexpr std::uint64_t filter_key(PageKey page) { return std::uint64_t{page.pid()} << 52 ^ page.number(); }
constexpr std::uint64_t filter_key(PageKey page, DeviceId gpu) {
  return filter_key(page) ^ std::uint64_t{gpu.value} << 46;
}

}  // namespace nearfar
