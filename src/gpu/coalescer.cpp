#include "gpu/coalescer.h"

#include <algorithm>
#include <cassert>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace nearfar {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Bits first..last.
constexpr std::uint64_t bits(std::uint64_t first, std::uint64_t last) { return kAll << first & kAll >> (63 - last); }

/// Calls `touch(address)` for every active lane, in order.
template <class Touch>
void for_each_lane(const LaneAddresses& lanes, Touch touch) {
  std::uint64_t active = lanes.active;
  while (active != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(active));
    const unsigned stop = first + static_cast<unsigned>(std::countr_one(active >> first));
    for (unsigned lane = first; lane < stop; ++lane) touch(lanes.address[lane]);
    active = stop < kMaxLanes ? active & kAll << stop : 0;
  }
}

/// Joins the bytes of consecutive active lanes as far as each lane follows the one before it, or repeats it.
template <class Emit>
void for_each_run(const LaneAddresses& lanes, unsigned bytes, Emit emit) {
  if (lanes.active == 0) return;
  std::uint64_t begin = lanes.address[static_cast<unsigned>(std::countr_zero(lanes.active))];
  std::uint64_t end = begin;
  for_each_lane(lanes, [&](std::uint64_t address) {
    if (address == end) {
      end += bytes;
    } else if (address + bytes != end) {
      emit(begin, end);
      begin = address;
      end = address + bytes;
    }
  });
  emit(begin, end);
}

/// What the lanes of a row touch.
struct Span {
  std::uint64_t begin;
  std::uint32_t lanes;
  std::uint32_t step;

  std::uint64_t end(unsigned bytes) const { return begin + std::uint64_t{lanes - 1} * step + bytes; }
};

/// The rows one by one; rows of one place each, at most `reach` bytes apart, are a column that is taken as a row.
template <class Emit>
void for_each_row(const Rows& rows, std::uint64_t reach, Emit emit) {
  const std::uint64_t first = rows.first.value;
  if (rows.pitch <= reach && (rows.step == 0 || rows.lanes == 1)) {
    emit(Span{first, rows.rows, static_cast<std::uint32_t>(rows.pitch)});
    return;
  }
  for (std::uint32_t r = 0; r < (rows.pitch == 0 ? 1 : rows.rows); ++r) {
    emit(Span{first + r * rows.pitch, rows.lanes, rows.step});
  }
}

/// The lanes of a full wavefront as seen from the page of the first.
struct FromPage {
  std::uint64_t distance = 0;  ///< bits that are set in the distance of any lane from the begin of the page
  std::uint64_t lines = 0;     ///< where their first bytes lie, if all are in the page
};

FromPage from_page(const LaneAddresses& lanes, unsigned line_shift) {
  const std::uint64_t page = lanes.address[0] & ~(kPageBytes - 1);
#if defined(__AVX2__)  // g++ 12 does not make vectors of shifts by vectors here
  const __m256i base = _mm256_set1_epi64x(static_cast<long long>(page)), one = _mm256_set1_epi64x(1);
  const __m128i shift = _mm_cvtsi32_si128(static_cast<int>(line_shift));
  __m256i distance = _mm256_setzero_si256(), lines = distance;
#pragma GCC unroll 4
  for (unsigned lane = 0; lane < kMaxLanes; lane += 4) {
    const __m256i at = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(&lanes.address[lane]));
    const __m256i beyond = _mm256_sub_epi64(at, base);
    distance = _mm256_or_si256(distance, beyond);
    lines = _mm256_or_si256(lines, _mm256_sllv_epi64(one, _mm256_srl_epi64(beyond, shift)));
  }
  const auto any = [](__m256i all) {
    const __m128i half = _mm_or_si128(_mm256_castsi256_si128(all), _mm256_extracti128_si256(all, 1));
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(_mm_or_si128(half, _mm_unpackhi_epi64(half, half))));
  };
  return {any(distance), any(lines)};
#else
  FromPage seen;
  for (const std::uint64_t begin : lanes.address) {
    seen.distance |= begin - page;
    seen.lines |= std::uint64_t{1} << ((begin & (kPageBytes - 1)) >> line_shift);
  }
  return seen;
#endif
}

/// Guesses by the first three lanes whether most lanes follow each other: a matter of speed, not of the answer.
bool begins_as_run(const LaneAddresses& lanes, unsigned bytes) {
  if ((lanes.active & 7) != 7) return false;
  const auto follows = [&](unsigned lane) {
    const std::uint64_t step = lanes.address[lane] - lanes.address[lane - 1];
    return step == bytes || step == 0;
  };
  return follows(1) && follows(2);
}

}  // namespace

Coalescer::Coalescer(unsigned line_bytes) : line_shift_(static_cast<unsigned>(std::countr_zero(line_bytes))) {
  assert(line_bytes == 64 || line_bytes == 128);
}

std::span<const PageGroup> Coalescer::loads(const LaneAddresses& lanes, unsigned bytes) {
  count_ = 0;
  if (lanes.in_rows()) {
    const std::uint64_t line = std::uint64_t{1} << line_shift_;
    for_each_row(lanes.rows, line, [&](const Span& row) {
      if (row.step <= line) return load_run(row.begin, row.end(bytes));  // no line between the lanes is left out
      for (std::uint32_t i = 0; i < row.lanes; ++i) {
        const std::uint64_t begin = row.begin + std::uint64_t{i} * row.step;
        load_run(begin, begin + bytes);
      }
    });
  } else if (begins_as_run(lanes, bytes)) {
    for_each_run(lanes, bytes, [this](std::uint64_t begin, std::uint64_t end) { load_run(begin, end); });
  } else {
    load_lanes(lanes, bytes);
  }
  return {loads_.data(), count_};
}

Stores Coalescer::stores(const LaneAddresses& lanes, unsigned bytes) {
  count_ = 0;
  partial_count_ = 0;
  in_order_ = true;
  if (lanes.in_rows()) {
    for_each_row(lanes.rows, bytes, [&](const Span& row) {
      if (row.step <= bytes) return store_run(row.begin, row.end(bytes));
      for (std::uint32_t i = 0; i < row.lanes;) {
        i += store_strided(row.begin + std::uint64_t{i} * row.step, row.lanes - i, row.step, bytes);
      }
    });
  } else if (begins_as_run(lanes, bytes)) {
    for_each_run(lanes, bytes, [this](std::uint64_t begin, std::uint64_t end) { store_run(begin, end); });
  } else {
    store_lanes(lanes, bytes);
  }
  if (!in_order_) order_partial();
  return {{stores_.data(), count_}, {partial_.data(), partial_count_}};
}

template <class Group>
inline Group& Coalescer::group_of(std::array<Group, kMaxGroups>& groups, VirtPage page) {
  // What is remembered may be of another instruction: the page itself has the last word.
  current_ = recent_[page.value % recent_.size()];
  if (current_ < count_ && groups[current_].page == page) return groups[current_];
  return find_group(groups, page);
}

template <class Group>
Group& Coalescer::find_group(std::array<Group, kMaxGroups>& groups, VirtPage page) {
  current_ = look_up(groups, page);
  recent_[page.value % recent_.size()] = static_cast<std::uint8_t>(current_);
  if (current_ == count_) {
    assert(count_ < kMaxGroups);
    ++count_;
    groups[current_] = Group{};
    groups[current_].page = page;
  }
  return groups[current_];
}

/// The page's group, or `count_` if it has none. The few pages of an orderly instruction are compared one by one.
template <class Group>
std::uint32_t Coalescer::look_up(const std::array<Group, kMaxGroups>& groups, VirtPage page) {
  if (count_ < kSearched) {
    std::uint32_t i = 0;
    while (i < count_ && groups[i].page != page) ++i;
    return i;
  }
  if (count_ == kSearched) {
    slots_.fill(0);
    for (std::uint32_t i = 0; i < count_; ++i) *slot_of(groups, groups[i].page) = static_cast<std::uint8_t>(i + 1);
  }
  std::uint8_t& slot = *slot_of(groups, page);
  if (slot == 0) {
    slot = static_cast<std::uint8_t>(count_ + 1);
    return count_;
  }
  return slot - 1U;
}

template <class Group>
std::uint8_t* Coalescer::slot_of(const std::array<Group, kMaxGroups>& groups, VirtPage page) {
  auto slot = static_cast<std::uint8_t>(page.value * 0x9e37'79b9'7f4a'7c15 >> 56);
  while (slots_[slot] != 0 && groups[slots_[slot] - 1U].page != page) ++slot;
  return &slots_[slot];
}

/// Lanes that do not follow each other: all at once if a whole wavefront is in one page and each lane in one line,
/// which those at multiples of their size are.
void Coalescer::load_lanes(const LaneAddresses& lanes, unsigned bytes) {
  if (lanes.active == kAll && std::has_single_bit(bytes)) {
    const FromPage seen = from_page(lanes, line_shift_);
    const std::uint64_t allowed = (kPageBytes - 1) & ~std::uint64_t{bytes - 1};
    if ((seen.distance & ~allowed) == 0) {
      loads_[0] = {page_of(VirtAddr{lanes.address[0]}), seen.lines};
      count_ = 1;
      return;
    }
  }
  load_each(lanes, bytes);
}

/// One by one: most only add a line to the mask of their page.
void Coalescer::load_each(const LaneAddresses& lanes, unsigned bytes) {
  for_each_lane(lanes, [&](std::uint64_t begin) {
    const std::uint64_t last = begin + bytes - 1;
    if ((begin ^ last) >> line_shift_ == 0) {
      const std::uint64_t line = (begin & (kPageBytes - 1)) >> line_shift_;
      group_of(loads_, page_of(VirtAddr{begin})).lines |= std::uint64_t{1} << line;
    } else {
      load_run(begin, last + 1);
    }
  });
}

void Coalescer::load_run(std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    const VirtPage page = page_of(VirtAddr{begin});
    const std::uint64_t stop = std::min(end, (page.value + 1) << kPageShift);
    group_of(loads_, page).lines |= lines_of(begin, stop);
    begin = stop;
  }
}

void Coalescer::store_run(std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t in_line = (std::uint64_t{1} << line_shift_) - 1;
  while (begin < end) {
    const VirtPage page = page_of(VirtAddr{begin});
    const std::uint64_t stop = std::min(end, (page.value + 1) << kPageShift);
    StoreGroup& group = group_of(stores_, page);
    const std::uint64_t whole_from = (begin + in_line) & ~in_line;
    const std::uint64_t whole_to = stop & ~in_line;
    if (whole_from < whole_to) {
      const std::uint64_t whole = lines_of(whole_from, whole_to);
      if ((group.partial() & whole) != 0) in_order_ = false;
      group.lines |= whole;
      group.full |= whole;
    }
    if (begin < whole_from) store_part(group, begin, std::min(whole_from, stop));
    if (whole_from <= whole_to && whole_to < stop) store_part(group, whole_to, stop);
    begin = stop;
  }
}

/// The first of `lanes` lanes that lie `step` bytes apart, and those after it that write the same part of other lines
/// of its page. Answers how many that are.
std::uint32_t Coalescer::store_strided(std::uint64_t begin, std::uint32_t lanes, std::uint32_t step, unsigned bytes) {
  const std::uint64_t in_line = (std::uint64_t{1} << line_shift_) - 1;
  const bool same_part = (step & in_line) == 0 && (begin & in_line) + bytes <= in_line;
  StoreGroup& group = group_of(stores_, page_of(VirtAddr{begin}));
  if (!same_part || group.lines != 0) {  // else the group is new, and all it has comes behind what the others have
    store_run(begin, begin + bytes);
    return 1;
  }
  const std::uint64_t room = kPageBytes - 1 - (begin & (kPageBytes - 1));
  const auto count = std::min(lanes, static_cast<std::uint32_t>(room / step) + 1);
  const PartialLine part = part_of_line(begin, begin + bytes - 1);
  const std::uint32_t page_key = current_ << kLineIndexBits;
  group.first_partial = partial_count_;
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t line = ((begin & (kPageBytes - 1)) + std::uint64_t{i} * step) >> line_shift_;
    group.lines |= std::uint64_t{1} << line;
    keys_[partial_count_ + i] = page_key | static_cast<std::uint32_t>(line);
    partial_[partial_count_ + i] = part;
  }
  partial_count_ += count;
  return count;
}

/// Lanes that do not follow each other, one by one: most write a part of a line.
void Coalescer::store_lanes(const LaneAddresses& lanes, unsigned bytes) {
  const std::uint64_t in_line = (std::uint64_t{1} << line_shift_) - 1;
  for_each_lane(lanes, [&](std::uint64_t begin) {
    if ((begin & in_line) + bytes <= in_line) {
      store_part(group_of(stores_, page_of(VirtAddr{begin})), begin, begin + bytes);
    } else {
      store_run(begin, begin + bytes);
    }
  });
}

/// Writes bytes [begin, end) of one line.
void Coalescer::store_part(StoreGroup& group, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t line = (begin & (kPageBytes - 1)) >> line_shift_;
  const std::uint64_t bit = std::uint64_t{1} << line;
  const std::uint32_t key = current_ << kLineIndexBits | static_cast<std::uint32_t>(line);
  const PartialLine part = part_of_line(begin, end - 1);
  if ((group.lines & bit) == 0) {
    if (group.partial() == 0) group.first_partial = partial_count_;
    if (partial_count_ != 0 && keys_[partial_count_ - 1] > key) in_order_ = false;
    group.lines |= bit;
    keys_[partial_count_] = key;
    partial_[partial_count_] = part;
    ++partial_count_;
  } else if ((group.full & bit) == 0) {
    std::uint32_t at = partial_count_;
    do --at;
    while (keys_[at] != key);
    PartialLine& written = partial_[at];
    written.bytes[0] |= part.bytes[0];
    written.bytes[1] |= part.bytes[1];
    if (written.bytes[0] == kAll && (line_shift_ == 6 || written.bytes[1] == kAll)) {
      group.full |= bit;
      in_order_ = false;
    }
  }
}

/// Bytes begin..last, all in one line.
PartialLine Coalescer::part_of_line(std::uint64_t begin, std::uint64_t last) const {
  if ((begin ^ last) >> 6 != 0) return {{bits(begin & 63, 63), bits(0, last & 63)}};
  const std::uint64_t mask = bits(begin & 63, last & 63);
  const bool second = (begin >> 6 & (line_shift_ - 6)) != 0;  // word, of the two of a line of 128 B
  return {{second ? 0 : mask, second ? mask : 0}};
}

/// Puts the byte masks in order of group and line, without those of lines that have become whole.
void Coalescer::order_partial() {
  const auto order = std::span(order_).first(partial_count_);
  for (std::uint32_t i = 0; i < partial_count_; ++i) order[i] = {keys_[i], partial_[i]};
  std::ranges::sort(order, {}, &Keyed::key);
  partial_count_ = 0;
  std::uint32_t previous = kMaxGroups;
  for (const Keyed& each : order) {
    const std::uint32_t index = each.key >> kLineIndexBits;
    StoreGroup& group = stores_[index];
    if ((group.full >> (each.key & ((1U << kLineIndexBits) - 1)) & 1) != 0) continue;
    if (index != previous) group.first_partial = partial_count_;
    previous = index;
    partial_[partial_count_++] = each.line;
  }
}

std::uint64_t Coalescer::lines_of(std::uint64_t begin, std::uint64_t end) const {
  return bits((begin & (kPageBytes - 1)) >> line_shift_, ((end - 1) & (kPageBytes - 1)) >> line_shift_);
}

}  // namespace nearfar
