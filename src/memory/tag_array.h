// A set-associative array of tags: which lines a cache holds, and which one leaves next. No timing.
//
// Flat and small, since it is what a run touches most: 4-byte tags compared four at a time, one byte of age a way
// (exact LRU order: the ages of a set are a permutation), one byte of state. A tag is the key divided by the number of
// sets, so a key is recovered from its slot; keys of a device's lines fit as long as key / sets < 2^32 - 1.
#pragma once

#include <cassert>
#include <cstdint>
#include <limits>
#include <vector>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "memory/cache_spec.h"
#include "sim/types.h"

namespace nearfar {

class TagArray {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot kNone = ~Slot{0};

  TagArray(std::uint64_t sets, std::uint32_t ways, IndexHash hash, Replacement replacement);

  std::uint64_t sets() const { return sets_; }
  std::uint32_t ways() const { return ways_; }
  /// Largest key that fits.
  std::uint64_t key_limit() const { return sets_ * kInvalid; }

  /// The slot that holds `key`, or kNone. Does not count as a use.
  Slot find(std::uint64_t key) const {
    const Place p = place(key);
    return find_tag(p.set, p.tag);
  }

  /// Marks a slot as used now.
  void touch(Slot slot) {
    if (replacement_ == Replacement::Lru) make_youngest(slot);
  }

  /// The slot that `key`, which is not held, would take: the first invalid way, else the policy's victim.
  Slot victim(std::uint64_t key) {
    const Place p = place(key);
    const Slot invalid = find_tag(p.set, kInvalid);
    if (invalid != kNone) return invalid;
    const Slot first = first_slot(p.set);
    if (replacement_ == Replacement::Random) return first + static_cast<Slot>(next_random() % ways_);
    return first + oldest_way(first);
  }

  /// Puts `key` into a slot that victim() gave, with state 0, as the youngest.
  void fill(Slot slot, std::uint64_t key) {
    assert(key < key_limit());
    tags_[slot] = place(key).tag;
    states_[slot] = 0;
    if (replacement_ != Replacement::Random) make_youngest(slot);
  }

  bool valid(Slot slot) const { return tags_[slot] != kInvalid; }
  void invalidate(Slot slot) { tags_[slot] = kInvalid; }
  void invalidate_all() { tags_.assign(tags_.size(), kInvalid); }

  std::uint8_t& state(Slot slot) { return states_[slot]; }
  std::uint8_t state(Slot slot) const { return states_[slot]; }

  /// The key that a valid slot holds.
  std::uint64_t key(Slot slot) const;

  /// Slots from 0 to this one; those of padding ways are never valid.
  Slot slots() const { return static_cast<Slot>(tags_.size()); }

 private:
  static constexpr std::uint32_t kInvalid = std::numeric_limits<std::uint32_t>::max();

  struct Place {
    std::uint64_t set;
    std::uint32_t tag;
  };

  /// Upper bits of a key spread over all sets: without them a stride of `sets` lines would live in one set.
  static std::uint64_t mix(std::uint64_t upper) { return (upper * 0x9e3779b97f4a7c15ULL) >> 40; }

  Place place(std::uint64_t key) const {
    if (set_shift_ >= 0) {
      const std::uint64_t upper = key >> set_shift_;
      const std::uint64_t low = hash_ == IndexHash::Xor ? key ^ mix(upper) : key;
      return {low & (sets_ - 1), static_cast<std::uint32_t>(upper)};
    }
    const std::uint64_t upper = key / sets_;
    const std::uint64_t low = key % sets_;
    return {hash_ == IndexHash::Xor ? (low + mix(upper)) % sets_ : low, static_cast<std::uint32_t>(upper)};
  }

  Slot first_slot(std::uint64_t set) const { return static_cast<Slot>(set * stride_); }

  Slot find_tag(std::uint64_t set, std::uint32_t tag) const {
    const Slot first = first_slot(set);
    const std::uint32_t* tags = &tags_[first];
#if defined(__SSE2__)
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
    for (std::uint32_t way = 0; way < ways_; way += 4) {
      const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tags + way));
      const int hits = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted)));
      if (hits != 0) {
        const auto hit = way + static_cast<std::uint32_t>(__builtin_ctz(static_cast<unsigned>(hits)));
        return hit < ways_ ? first + hit : kNone;  // a padding way can only answer the search for an invalid one
      }
    }
#else
    for (std::uint32_t way = 0; way < ways_; ++way) {
      if (tags[way] == tag) return first + way;
    }
#endif
    return kNone;
  }

  void make_youngest(Slot slot) {
    const std::uint8_t age = ages_[slot];
    if (age == 0) return;
    const Slot first = slot / stride_ * stride_;
    std::uint8_t* ages = &ages_[first];
#if defined(__SSE2__)
    if (stride_ == 16) {
      const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(ages));
      const __m128i younger = _mm_cmplt_epi8(all, _mm_set1_epi8(static_cast<char>(age)));
      _mm_storeu_si128(reinterpret_cast<__m128i*>(ages), _mm_sub_epi8(all, younger));
      ages_[slot] = 0;
      return;
    }
#endif
    for (std::uint32_t way = 0; way < ways_; ++way) {
      if (ages[way] < age) ++ages[way];
    }
    ages_[slot] = 0;
  }

  std::uint32_t oldest_way(Slot first) const {
    const auto oldest = static_cast<std::uint8_t>(ways_ - 1);
    std::uint32_t way = 0;
    while (ages_[first + way] != oldest) ++way;
    return way;
  }

  std::uint64_t next_random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  std::uint64_t sets_;
  std::uint32_t ways_;
  std::uint32_t stride_;   // ways rounded up to a multiple of four
  int set_shift_;          // log2 of sets, or -1 when that is not whole
  IndexHash hash_;
  Replacement replacement_;
  std::uint64_t random_ = 0x2545f4914f6cdd1dULL;
  std::vector<std::uint32_t> tags_;
  std::vector<std::uint8_t> ages_;
  std::vector<std::uint8_t> states_;
};

}  // namespace nearfar
