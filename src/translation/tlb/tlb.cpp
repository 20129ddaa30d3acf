#include "translation/tlb/tlb.h"

#include <bit>
#include <cassert>
#include <cstring>

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace nearfar {

Tlb::Tlb(std::uint32_t entries, std::uint32_t ways, TlbReplacementKind replacement)
    : sets_(entries == 0 ? 1 : entries / ways), of_ways_(entries == 0 ? 1 : ways), ways_(entries == 0 ? 0 : ways) {
  assert(entries == 0 || (entries % ways == 0 && ways <= 256));
  tags_.assign(entries, kInvalid);
  ages_.resize(entries);
  entries_.resize(entries);
  held_in_.assign(sets_.divisor(), 0);
  for (std::uint32_t slot = 0; slot < entries; ++slot) ages_[slot] = static_cast<std::uint8_t>(slot % ways);
  if (entries != 0) policy_ = make_replacement(replacement, entries / ways, ways);
}

std::uint32_t Tlb::find(PageKey page) const {
  if (infinite()) {
    const auto found = index_.find(page.value);
    return found == index_.end() ? kNone : found->second;
  }
  const std::uint32_t tag = tag_of(page);
  if (tags_[last_] == tag && entries_[last_].page == page) return last_;
  if (page == absent_) return kNone;
  const auto first = static_cast<std::uint32_t>(set_of(page) * ways_);
  const std::uint32_t* tags = &tags_[first];
  const auto is_here = [&](std::uint32_t way) { return tags[way] == tag && entries_[first + way].page == page; };
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
#if defined(__SSE2__)
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
  absent_ = page;
  return kNone;
}

/// Everything younger than the slot ages by one.
void Tlb::make_youngest(std::uint32_t slot) {
  const std::uint8_t mine = ages_[slot];
  if (mine == 0) return;
  std::uint8_t* ages = &ages_[of_ways_.quotient(slot) * ways_];
  std::uint32_t way = 0;
#if defined(__SSE2__)
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

void Tlb::note_use(std::uint32_t slot) {
  if (policy_ == nullptr) {
    make_youngest(slot);
    return;
  }
  const std::uint64_t set = of_ways_.quotient(slot);
  policy_->used(set, static_cast<std::uint32_t>(slot - set * ways_));
}

void Tlb::note_fill(std::uint32_t slot) {
  if (policy_ == nullptr) {
    make_youngest(slot);
    return;
  }
  const std::uint64_t set = of_ways_.quotient(slot);
  policy_->filled(set, static_cast<std::uint32_t>(slot - set * ways_));
}

/// The slot of a full set whose mapping leaves.
std::uint32_t Tlb::victim_in(std::uint64_t set) {
  const auto first = static_cast<std::uint32_t>(set * ways_);
  if (policy_ != nullptr) return first + policy_->victim(set);
  const void* oldest = std::memchr(&ages_[first], static_cast<int>(ways_ - 1), ways_);
  return static_cast<std::uint32_t>(static_cast<const std::uint8_t*>(oldest) - ages_.data());
}

const Mapping* Tlb::use(PageKey page) {
  const std::uint32_t slot = find(page);
  if (slot == kNone) return nullptr;
  if (infinite()) return &all_[slot].mapping;
  note_use(slot);
  return &entries_[slot].mapping;
}

const Tlb::Entry* Tlb::entry(PageKey page) const {
  const std::uint32_t slot = find(page);
  if (slot == kNone) return nullptr;
  return infinite() ? &all_[slot] : &entries_[slot];
}

const Mapping* Tlb::peek(PageKey page) const {
  const Entry* held = entry(page);
  return held == nullptr ? nullptr : &held->mapping;
}

std::optional<Tlb::Entry> Tlb::insert(PageKey page, const Mapping& mapping, std::uint32_t note) {
  std::uint32_t slot = find(page);
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
    const std::uint64_t set = set_of(page);
    if (held_in_[set] < ways_) {
      slot = static_cast<std::uint32_t>(set * ways_);
      while (tags_[slot] != kInvalid) ++slot;
      ++held_in_[set];
      ++held_;
    } else {
      slot = victim_in(set);
      victim = entries_[slot];
    }
  }
  tags_[slot] = tag_of(page);
  entries_[slot] = {page, mapping, note};
  held ? note_use(slot) : note_fill(slot);
  return victim;
}

bool Tlb::erase(PageKey page) {
  const std::uint32_t slot = find(page);
  if (slot == kNone) return false;
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
