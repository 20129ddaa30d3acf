#include "translation/tlb/tlb.h"

#include <array>
#include <bit>
#include <cassert>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#endif
#if defined(__SSE2__) && !defined(NEARFAR_SCALAR)
#define NEARFAR_SSE2
#include <emmintrin.h>
#endif

namespace nearfar {

Tlb::Tlb(std::uint32_t entries, std::uint32_t ways, TlbReplacementKind replacement, std::uint32_t sub_entries)
    : sets_(entries == 0 ? 1 : entries / ways), of_ways_(entries == 0 ? 1 : ways), ways_(entries == 0 ? 0 : ways) {
  assert(entries == 0 || (entries % ways == 0 && ways <= 256));
  tags_.assign(entries, kInvalid);
  ages_.resize(entries);
  if (entries != 0) shift_ = static_cast<unsigned>(std::countr_zero(sub_entries));
  entries_.resize(std::size_t{entries} << shift_);
  if (shift_ != 0) {
    ranges_.resize(entries);
    filled_.assign(entries, 0);
  }
  held_in_.assign(sets_.divisor(), 0);
  for (std::uint32_t slot = 0; slot < entries; ++slot) ages_[slot] = static_cast<std::uint8_t>(slot % ways);
  if (entries != 0) policy_ = make_replacement(replacement, entries / ways, ways);
}

std::uint32_t Tlb::find(PageKey range) const {
  if (infinite()) {
    const auto found = index_.find(range.value);
    return found == index_.end() ? kNone : found->second;
  }
  const std::uint32_t tag = tag_of(range);
  if (tags_[last_] == tag && name_of(last_) == range) return last_;
  if (range == absent_) return kNone;
  const auto first = static_cast<std::uint32_t>(set_of(range) * ways_);
  const std::uint32_t* tags = &tags_[first];
  const auto is_here = [&](std::uint32_t way) { return tags[way] == tag && name_of(first + way) == range; };
  std::uint32_t way = 0;
#if defined(__AVX2__)
  const __m256i eight_wanted = _mm256_set1_epi32(static_cast<int>(tag));
  for (; way + 8 <= ways_; way += 8) {
    const __m256i eight = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(tags + way));
    auto hits = static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(eight, eight_wanted))));
    for (; hits != 0; hits &= hits - 1) {
      const std::uint32_t hit = way + static_cast<std::uint32_t>(std::countr_zero(hits));
      if (is_here(hit)) return last_ = first + hit;
    }
  }
#endif
#if defined(NEARFAR_SSE2)
  const __m128i wanted = _mm_set1_epi32(static_cast<int>(tag));
  for (; way + 4 <= ways_; way += 4) {
    const __m128i four = _mm_loadu_si128(reinterpret_cast<const __m128i*>(tags + way));
    auto hits = static_cast<unsigned>(_mm_movemask_ps(_mm_castsi128_ps(_mm_cmpeq_epi32(four, wanted))));
    for (; hits != 0; hits &= hits - 1) {
      const std::uint32_t hit = way + static_cast<std::uint32_t>(std::countr_zero(hits));
      if (is_here(hit)) return last_ = first + hit;
    }
  }
#endif
  for (; way < ways_; ++way) {
    if (is_here(way)) return last_ = first + way;
  }
  absent_ = range;
  return kNone;
}

/// What a slot with the range of a page holds of the page itself.
const Tlb::Entry* Tlb::held_in_slot(std::uint32_t slot, PageKey page) const {
  if (shift_ == 0) return &entries_[slot];
  const std::uint32_t index = index_in_range(page);
  if ((filled_[slot] >> index & 1U) == 0) return nullptr;
  const Entry& held = entries_[std::size_t{slot} << shift_ | index];
  return held.page == page ? &held : nullptr;  // another process may have the sub-entry
}

/// Everything younger than the slot ages by one.
void Tlb::make_youngest(std::uint32_t slot) {
  const std::uint8_t mine = ages_[slot];
  if (mine == 0) return;
  std::uint8_t* ages = &ages_[of_ways_.quotient(slot) * ways_];
  std::uint32_t way = 0;
#if defined(NEARFAR_SSE2)
  const __m128i limit = _mm_set1_epi8(static_cast<char>(mine));
  for (; way + 16 <= ways_; way += 16) {
    const __m128i all = _mm_loadu_si128(reinterpret_cast<const __m128i*>(ages + way));
    const __m128i older = _mm_cmpeq_epi8(_mm_subs_epu8(limit, all), _mm_setzero_si128());  // -1 where nothing changes
    _mm_storeu_si128(reinterpret_cast<__m128i*>(ages + way), _mm_add_epi8(all, _mm_add_epi8(older, _mm_set1_epi8(1))));
  }
#endif
  for (; way < ways_; ++way) ages[way] = static_cast<std::uint8_t>(ages[way] + (ages[way] < mine));
  ages_[slot] = 0;
}

void Tlb::note_use(std::uint32_t slot, PageKey page) {
  if (policy_ == nullptr) {
    make_youngest(slot);
    return;
  }
  const std::uint64_t set = of_ways_.quotient(slot);
  policy_->used(set, static_cast<std::uint32_t>(slot - set * ways_), page);
}

void Tlb::note_fill(std::uint32_t slot, PageKey page) {
  if (policy_ == nullptr) {
    make_youngest(slot);
    return;
  }
  const std::uint64_t set = of_ways_.quotient(slot);
  policy_->filled(set, static_cast<std::uint32_t>(slot - set * ways_), page);
}

/// The slot of a full set that is given up for a page.
std::uint32_t Tlb::victim_in(std::uint64_t set, PageKey page) {
  const auto first = static_cast<std::uint32_t>(set * ways_);
  if (policy_ != nullptr) return first + policy_->victim(set, page);
  const void* oldest = std::memchr(&ages_[first], static_cast<int>(ways_ - 1), ways_);
  return static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(oldest) - ages_.data());
}

const Mapping* Tlb::use(PageKey page) {
  const std::uint32_t slot = find(range_of(page));
  if (slot == kNone) return nullptr;
  if (infinite()) return &all_[slot].mapping;
  const Entry* held = held_in_slot(slot, page);
  if (held == nullptr) return nullptr;
  note_use(slot, page);
  return &held->mapping;
}

const Tlb::Entry* Tlb::entry(PageKey page) const {
  const std::uint32_t slot = find(range_of(page));
  if (slot == kNone) return nullptr;
  return infinite() ? &all_[slot] : held_in_slot(slot, page);
}

const Mapping* Tlb::peek(PageKey page) const {
  const Entry* held = entry(page);
  return held == nullptr ? nullptr : &held->mapping;
}

/// Fills an entry, or the sub-entry of a page in it.
void Tlb::put(std::uint32_t slot, bool had_range, const Entry& entry) {
  const PageKey range = range_of(entry.page);
  tags_[slot] = tag_of(range);
  if (shift_ == 0) {
    entries_[slot] = entry;
    return;
  }
  if (!had_range) {
    ranges_[slot] = range;
    filled_[slot] = 0;
  }
  const std::uint32_t index = index_in_range(entry.page);
  Entry& place = entries_[std::size_t{slot} << shift_ | index];
  const std::uint32_t bit = 1U << index;
  if (observer_ != nullptr && (filled_[slot] & bit) != 0 && place.page != entry.page) observer_->displaced(entry.page);
  place = entry;
  filled_[slot] = static_cast<std::uint16_t>(filled_[slot] | bit);
}

/// Gives an entry up.
Tlb::Entry Tlb::leave(std::uint32_t slot) {
  if (shift_ == 0) return entries_[slot];
  const Entry first = sub_entry(slot, filled_[slot]);
  if (observer_ != nullptr) {
    std::array<Entry, kMostSubEntries> pages;
    std::size_t count = 0;
    for (std::uint32_t mask = filled_[slot]; mask != 0; mask &= mask - 1) pages[count++] = sub_entry(slot, mask);
    observer_->evicted({pages.data(), count});
  }
  return first;
}

std::optional<Tlb::Entry> Tlb::insert(PageKey page, const Mapping& mapping, std::uint32_t note) {
  const PageKey range = range_of(page);
  std::uint32_t slot = find(range);
  if (infinite()) {
    if (slot == kNone) {
      index_.emplace(page.value, static_cast<std::uint32_t>(all_.size()));
      all_.push_back({page, mapping, note});
      ++held_;
    } else {
      all_[slot] = {page, mapping, note};
    }
    return std::nullopt;
  }
  std::optional<Entry> victim;
  const bool held = slot != kNone;
  if (!held) {
    absent_ = {};
    const std::uint64_t set = set_of(range);
    if (held_in_[set] < ways_) {
      slot = static_cast<std::uint32_t>(set * ways_);
      while (tags_[slot] != kInvalid) ++slot;
      ++held_in_[set];
      ++held_;
    } else {
      slot = victim_in(set, page);
      victim = leave(slot);
    }
  }
  put(slot, held, {page, mapping, note});
  held ? note_use(slot, page) : note_fill(slot, page);
  return victim;
}

bool Tlb::erase(PageKey page) {
  const std::uint32_t slot = find(range_of(page));
  if (slot == kNone) return false;
  if (shift_ != 0) {
    if (held_in_slot(slot, page) == nullptr) return false;
    filled_[slot] = static_cast<std::uint16_t>(filled_[slot] & ~(1U << index_in_range(page)));
    if (filled_[slot] != 0) return true;
  }
  --held_;
  if (!infinite()) {
    tags_[slot] = kInvalid;
    --held_in_[of_ways_.quotient(slot)];
    return true;
  }
  index_.erase(page.value);
  all_[slot] = all_.back();
  if (slot + 1 != all_.size()) index_[all_[slot].page.value] = slot;
  all_.pop_back();
  return true;
}

}  // namespace nearfar
