// A set-associative array of tags: which lines a cache holds, and which one leaves next. No timing.
//
// Small and local, since it is what a run touches most: a set is one block of tags (compared four, eight or sixteen at
// a time), one byte of age a way (exact LRU order: the ages of a set are a permutation) and one byte of state a way. A
// tag is the key divided by the number of sets, so a key is recovered from its slot. Tags have two bytes where that
// tells the keys apart, which puts a set of 16 ways into one line of the host's cache, else four. A design's
// replacement policy is asked where there is one; else nothing here is a virtual call. Who looks a key up and then
// fills its slot finds its place once.
#pragma once

#include <cassert>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "memory/cache/cache_spec.h"
#include "memory/cache/replacement.h"
#include "sim/prefetch.h"
#include "sim/types.h"

namespace nearfar {

class TagArray {
 public:
  /// Where a line lies: set << way bits | way.
  using Slot = std::uint32_t;
  static constexpr Slot kNone = ~Slot{0};

  /// Keys are below `keys`; in any case each set has fewer than 2^32.
  TagArray(std::uint64_t sets, std::uint32_t ways, IndexHash hash, Replacement replacement,
           std::uint64_t keys = ~std::uint64_t{0});

  /// Plugs a design into the seam of the cache's replacement, before the first line.
  void set_replacement(std::unique_ptr<CacheReplacement> policy) {
    policy_ = std::move(policy);
    replacement_ = Replacement::Design;
  }

  std::uint64_t sets() const { return sets_; }
  std::uint32_t ways() const { return ways_; }

  /// Where a key belongs: its set, and its tag there.
  struct Place {
    std::uint64_t set;
    std::uint32_t tag;
  };
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

  /// The slot that holds a key, or kNone. Does not count as a use.
  Slot find(const Place& p) const { return find_tag(p.set, p.tag); }
  Slot find(std::uint64_t key) const { return find(place(key)); }

  /// Whether a key with the tag of this place is held in any set.
  bool any_with_tag(const Place& p) const {
    for (std::uint64_t set = 0; set < sets_; ++set) {
      if (find_tag(set, p.tag) != kNone) return true;
    }
    return false;
  }

  /// Brings the set of `key` closer to the host's processor: it will be looked up soon.
  void prefetch(std::uint64_t key) const {
    const std::byte* at = block(place(key).set);
    for (std::uint32_t byte = 0; byte < block_bytes_; byte += kHostLine) prefetch_line(at + byte);
  }

  /// Marks a slot as used now.
  void touch(Slot slot) {
    if (replacement_ == Replacement::Lru) {
      make_youngest(slot);
    } else if (replacement_ == Replacement::Design) {
      policy_->used(set_of(slot), way_of(slot));
    }
  }

  /// The slot that a key which is not held would take: the first invalid way, else the policy's victim; kNone where all
  /// ways are reserved.
  Slot victim(const Place& p) {
    const std::uint64_t set = p.set;
    const Slot invalid = find_tag(set, invalid_);
    if (invalid != kNone) return invalid;
    if (reserved_ways_ != 0 || replacement_ == Replacement::Design) return choose_victim(set);
    if (replacement_ == Replacement::Random) return slot_at(set, static_cast<std::uint32_t>(next_random() % ways_));
    return slot_at(set, oldest_way(set));
  }
  Slot victim(std::uint64_t key) { return victim(place(key)); }

  /// Whether victim() changes something, so that it may give another one when it is asked again.
  bool victims_differ() const { return replacement_ == Replacement::Random || replacement_ == Replacement::Design; }

  /// Puts a key into a slot that victim() gave, with state 0, as the youngest, or as a design's policy ranks it.
  void fill(Slot slot, const Place& p) {
    assert(p.tag < reserved_tag() && set_of(slot) == p.set);
    if (reserved_ways_ != 0 && tag(slot) == reserved_tag()) --reserved_ways_;
    set_tag(slot, p.tag);
    state(slot) = 0;
    if (replacement_ == Replacement::Design) {
      policy_->filled(set_of(slot), way_of(slot));
    } else if (replacement_ != Replacement::Random) {
      make_youngest(slot);
    }
  }
  void fill(Slot slot, std::uint64_t key) { fill(slot, place(key)); }

  /// Reserves a slot that victim() gave, whose line has left, for a line that has been asked for: until that fills it,
  /// it holds nothing, and victim() does not give it again.
  void reserve(Slot slot) {
    set_tag(slot, reserved_tag());
    state(slot) = 0;
    ++reserved_ways_;
  }
  /// A slot that is reserved in the set of a key, or kNone. Those of a set are alike: whichever line comes takes one.
  Slot reserved(const Place& p) const { return find_tag(p.set, reserved_tag()); }
  Slot reserved(std::uint64_t key) const { return reserved(place(key)); }
  /// Gives a reserved slot up: the line that it is for will not be kept.
  void unreserve(Slot slot) {
    set_tag(slot, invalid_);
    --reserved_ways_;
  }
  /// Whether some way of the set of `key` is not reserved.
  bool can_reserve(std::uint64_t key) const { return reserved_ways_ < ways_ || unreserved_ways(place(key).set).any(); }

  bool valid(Slot slot) const { return way_of(slot) < ways_ && tag(slot) < reserved_tag(); }
  void invalidate(Slot slot) { set_tag(slot, invalid_); }
  void invalidate_all();

  std::uint8_t& state(Slot slot) { return states(set_of(slot))[way_of(slot)]; }
  std::uint8_t state(Slot slot) const { return const_cast<TagArray*>(this)->state(slot); }

  /// The first slot from `slot` on whose state has any of `bits`, or slots(). The state of a slot outlives its line: a
  /// cache that asks for bits has to clear them when a line leaves.
  Slot find_state(Slot slot, std::uint8_t bits) const;

  /// The key that a valid slot holds.
  std::uint64_t key(Slot slot) const;

  /// Slots are below this; those beyond the last way of a set are never valid.
  Slot slots() const { return static_cast<Slot>(sets_ << way_bits_); }

 private:
  /// Upper bits of a key spread over all sets: without them a stride of `sets` lines would live in one set.
  static std::uint64_t mix(std::uint64_t upper) { return (upper * 0x9e3779b97f4a7c15ULL) >> 40; }

  std::uint64_t set_of(Slot slot) const { return slot >> way_bits_; }
  std::uint32_t way_of(Slot slot) const { return slot & ((1U << way_bits_) - 1); }
  Slot slot_at(std::uint64_t set, std::uint32_t way) const { return static_cast<Slot>(set << way_bits_ | way); }

  const std::byte* block(std::uint64_t set) const { return first_block_ + set * block_bytes_; }
  std::byte* block(std::uint64_t set) { return first_block_ + set * block_bytes_; }
  template <class Tag>
  const Tag* tags(std::uint64_t set) const {
    return reinterpret_cast<const Tag*>(block(set));
  }
  template <class Tag>
  Tag* tags(std::uint64_t set) {
    return reinterpret_cast<Tag*>(block(set));
  }
  /// The tag of a reserved way: no key has it.
  std::uint32_t reserved_tag() const { return invalid_ - 1; }
  bool narrow() const { return invalid_ == std::numeric_limits<std::uint16_t>::max(); }
  std::uint32_t tag(Slot slot) const {
    return narrow() ? tags<std::uint16_t>(set_of(slot))[way_of(slot)] : tags<std::uint32_t>(set_of(slot))[way_of(slot)];
  }
  void set_tag(Slot slot, std::uint32_t tag) {
    if (narrow()) {
      tags<std::uint16_t>(set_of(slot))[way_of(slot)] = static_cast<std::uint16_t>(tag);
    } else {
      tags<std::uint32_t>(set_of(slot))[way_of(slot)] = tag;
    }
  }
  std::uint8_t* ages(std::uint64_t set) { return reinterpret_cast<std::uint8_t*>(block(set)) + ages_at_; }
  std::uint8_t* states(std::uint64_t set) { return reinterpret_cast<std::uint8_t*>(block(set)) + states_at_; }
  const std::uint8_t* states(std::uint64_t set) const { return const_cast<TagArray*>(this)->states(set); }

  Slot find_tag(std::uint64_t set, std::uint32_t tag) const {
#if defined(__SSE2__)
    return narrow() ? find_among_eights(set, tag) : find_among_fours(set, tag);
#else
    for (std::uint32_t way = 0; way < ways_; ++way) {
      if (this->tag(slot_at(set, way)) == tag) return slot_at(set, way);
    }
    return kNone;
#endif
  }

#if defined(__SSE2__)
  Slot find_among_fours(std::uint64_t set, std::uint32_t tag) const {
    const std::uint32_t* at = tags<std::uint32_t>(set);
    const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
    for (std::uint32_t way = 0; way < ways_; way += 4) {
      const __m128i four = _mm_load_si128(reinterpret_cast<const __m128i*>(at + way));
      const int hits = _mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted)));
      if (hits != 0) return first_of(set, way, hits);
    }
    return kNone;
  }
#if defined(__AVX2__)
  /// Sixteen at a time. What is read behind the tags is of the same block, and answers only where no tag does.
  Slot find_among_eights(std::uint64_t set, std::uint32_t tag) const {
    const std::uint16_t* at = tags<std::uint16_t>(set);
    const __m256i wanted = _mm256_set1_epi16(static_cast<short>(tag));
    for (std::uint32_t way = 0; way < ways_; way += 16) {
      const __m256i sixteen = _mm256_load_si256(reinterpret_cast<const __m256i*>(at + way));
      const int hits = _mm256_movemask_epi8(_mm256_cmpeq_epi16(sixteen, wanted));
      if (hits == 0) continue;
      way += static_cast<std::uint32_t>(__builtin_ctz(static_cast<unsigned>(hits))) / 2;
      return way < ways_ ? slot_at(set, way) : kNone;
    }
    return kNone;
  }
#else
  Slot find_among_eights(std::uint64_t set, std::uint32_t tag) const {
    const std::uint16_t* at = tags<std::uint16_t>(set);
    const __m128i wanted = _mm_set1_epi16(static_cast<short>(tag));
    for (std::uint32_t way = 0; way < ways_; way += 8) {
      const __m128i eight = _mm_load_si128(reinterpret_cast<const __m128i*>(at + way));
      const __m128i equal = _mm_cmpeq_epi16(eight, wanted);
      const int hits = _mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128()));
      if (hits != 0) return first_of(set, way, hits);
    }
    return kNone;
  }
#endif
  /// The first of the ways from `way` on that hit. A padding way only ever answers the search for an invalid one.
  Slot first_of(std::uint64_t set, std::uint32_t way, int hits) const {
    way += static_cast<std::uint32_t>(__builtin_ctz(static_cast<unsigned>(hits)));
    return way < ways_ ? slot_at(set, way) : kNone;
  }
#endif

  WaySet unreserved_ways(std::uint64_t set) const;
  Slot choose_victim(std::uint64_t set);

  void make_youngest(Slot slot) {
    std::uint8_t* age = ages(set_of(slot));
    const std::uint32_t way = way_of(slot);
    const std::uint8_t mine = age[way];
    if (mine == 0) return;
#if defined(__SSE2__)
    if (ways_ <= 16) {
      const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(age));
      const __m128i younger = _mm_and_si128(_mm_cmplt_epi8(all, _mm_set1_epi8(static_cast<char>(mine))), way_mask());
      _mm_storeu_si128(reinterpret_cast<__m128i*>(age), _mm_sub_epi8(all, younger));
      age[way] = 0;
      return;
    }
#endif
    for (std::uint32_t w = 0; w < ways_; ++w) age[w] = static_cast<std::uint8_t>(age[w] + (age[w] < mine ? 1 : 0));
    age[way] = 0;
  }

  std::uint32_t oldest_way(std::uint64_t set) {
    const std::uint8_t* age = ages(set);
    const auto oldest = static_cast<std::uint8_t>(ways_ - 1);
#if defined(__SSE2__)
    if (ways_ <= 16) {
      const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(age));
      const int at = _mm_movemask_epi8(_mm_cmpeq_epi8(all, _mm_set1_epi8(static_cast<char>(oldest))));
      return static_cast<std::uint32_t>(__builtin_ctz(static_cast<unsigned>(at)));
    }
#endif
    std::uint32_t way = 0;
    while (age[way] != oldest) ++way;
    return way;
  }

#if defined(__SSE2__)
  /// All ones in the bytes of real ways: what follows the ages of a small set is not theirs.
  __m128i way_mask() const {
    const __m128i index = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm_cmplt_epi8(index, _mm_set1_epi8(static_cast<char>(ways_)));
  }
#endif

  std::uint64_t next_random() {
    random_ ^= random_ << 13;
    random_ ^= random_ >> 7;
    random_ ^= random_ << 17;
    return random_;
  }

  std::uint64_t sets_;
  std::uint32_t ways_;
  std::uint32_t way_bits_;
  int set_shift_;  // log2 of sets, or -1 when that is not whole
  IndexHash hash_;
  Replacement replacement_;
  std::uint32_t invalid_;  // the tag of an invalid way, which no key has: as wide as tags are
  std::uint32_t reserved_ways_ = 0;
  std::uint32_t ages_at_;  // within a set's block
  std::uint32_t states_at_;
  std::uint32_t block_bytes_;
  std::uint64_t random_ = 0x2545f4914f6cdd1dULL;
  std::vector<std::byte> storage_;
  std::byte* first_block_;                    // in storage_, aligned to a host cache line
  std::unique_ptr<CacheReplacement> policy_;  // a design's
};

}  // namespace nearfar
