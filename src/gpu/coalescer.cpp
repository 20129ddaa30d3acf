#include "gpu/coalescer.h"

#include <algorithm>
#include <cassert>

namespace nearfar {
namespace {

constexpr std::uint64_t kAll = ~std::uint64_t{0};

/// Bits first..last.
constexpr std::uint64_t bits(std::uint64_t first, std::uint64_t last) { return kAll << first & kAll >> (63 - last); }

/// Joins the bytes of consecutive active lanes as far as each lane follows the one before it, or repeats it.
template <class Emit>
void for_each_run(const LaneAddresses& lanes, unsigned bytes, Emit emit) {
  std::uint64_t active = lanes.active;
  if (active == 0) return;
  std::uint64_t begin = lanes.address[static_cast<unsigned>(std::countr_zero(active))];
  std::uint64_t end = begin;
  while (active != 0) {
    const auto first = static_cast<unsigned>(std::countr_zero(active));
    const unsigned stop = first + static_cast<unsigned>(std::countr_one(active >> first));
    for (unsigned lane = first; lane < stop; ++lane) {
      const std::uint64_t address = lanes.address[lane];
      if (address == end) {
        end += bytes;
      } else if (address + bytes != end) {
        emit(begin, end);
        begin = address;
        end = address + bytes;
      }
    }
    active = stop < kMaxLanes ? active & kAll << stop : 0;
  }
  emit(begin, end);
}

}  // namespace

Coalescer::Coalescer(unsigned line_bytes) : line_shift_(static_cast<unsigned>(std::countr_zero(line_bytes))) {
  assert(line_bytes == 64 || line_bytes == 128);
}

std::span<const PageGroup> Coalescer::loads(const LaneAddresses& lanes, unsigned bytes) {
  count_ = 0;
  if (lanes.row_lanes != 0) {
    load_run(lanes.row_begin, lanes.row_begin + std::uint64_t{lanes.row_lanes} * bytes);
  } else {
    for_each_run(lanes, bytes, [this](std::uint64_t begin, std::uint64_t end) { load_run(begin, end); });
  }
  return {loads_.data(), count_};
}

Stores Coalescer::stores(const LaneAddresses& lanes, unsigned bytes) {
  count_ = 0;
  pending_count_ = 0;
  if (lanes.row_lanes != 0) {
    store_run(lanes.row_begin, lanes.row_begin + std::uint64_t{lanes.row_lanes} * bytes);
  } else {
    for_each_run(lanes, bytes, [this](std::uint64_t begin, std::uint64_t end) { store_run(begin, end); });
  }
  return {{stores_.data(), count_}, {partial_.data(), order_pending()}};
}

template <class Group>
Group& Coalescer::group_of(std::array<Group, kMaxGroups>& groups, VirtPage page) {
  if (count_ == 0 || groups[current_].page != page) {
    current_ = look_up(groups, page);
    if (current_ == count_) {
      assert(count_ < kMaxGroups);
      ++count_;
      groups[current_] = Group{};
      groups[current_].page = page;
    }
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
      group.lines |= whole;
      group.full |= whole;
    }
    if (begin < whole_from) store_part(group, begin, std::min(whole_from, stop));
    if (whole_from <= whole_to && whole_to < stop) store_part(group, whole_to, stop);
    begin = stop;
  }
}

/// Writes bytes [begin, end) of one line.
void Coalescer::store_part(StoreGroup& group, std::uint64_t begin, std::uint64_t end) {
  const std::uint64_t line = (begin & (kPageBytes - 1)) >> line_shift_;
  const std::uint64_t bit = std::uint64_t{1} << line;
  if ((group.full & bit) != 0) return;

  const std::uint32_t key = current_ << kLineIndexBits | static_cast<std::uint32_t>(line);
  std::uint32_t at = pending_count_;
  if ((group.lines & bit) == 0) {
    group.lines |= bit;
    pending_[pending_count_++] = {key, {}};
  } else {
    do --at;
    while (pending_[at].key != key);
  }

  PartialLine& written = pending_[at].line;
  const unsigned words = 1U << (line_shift_ - 6);
  for (std::uint64_t byte = begin; byte < end;) {
    const std::uint64_t stop = std::min(end, (byte | 63) + 1);
    written.bytes[byte >> 6 & (words - 1)] |= bits(byte & 63, (stop - 1) & 63);
    byte = stop;
  }
  if (written.bytes[0] == kAll && (words == 1 || written.bytes[1] == kAll)) group.full |= bit;
}

/// Hands out the byte masks of lines that have stayed partial, by group and line; answers how many.
std::uint32_t Coalescer::order_pending() {
  const auto pending = std::span(pending_).first(pending_count_);
  if (!std::ranges::is_sorted(pending, {}, &Pending::key)) std::ranges::sort(pending, {}, &Pending::key);
  std::uint32_t kept = 0;
  std::uint32_t previous = kMaxGroups;
  for (const Pending& each : pending) {
    const std::uint32_t index = each.key >> kLineIndexBits;
    StoreGroup& group = stores_[index];
    if ((group.full >> (each.key & ((1U << kLineIndexBits) - 1)) & 1) != 0) continue;
    if (index != previous) group.first_partial = kept;
    previous = index;
    partial_[kept++] = each.line;
  }
  return kept;
}

std::uint64_t Coalescer::lines_of(std::uint64_t begin, std::uint64_t end) const {
  return bits((begin & (kPageBytes - 1)) >> line_shift_, ((end - 1) & (kPageBytes - 1)) >> line_shift_);
}

}  // namespace nearfar
