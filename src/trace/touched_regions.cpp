#include "trace/touched_regions.h"

#include <fmt/format.h>

#include <algorithm>

#include "trace/format.h"

namespace nearfar {

void TouchedRegions::touch(std::uint64_t begin, std::uint64_t bytes) {
  std::uint64_t first = begin >> kPageShift, end = ((begin + bytes - 1) >> kPageShift) + 1;
  if (first >= last_begin_ && end <= last_end_) return;
  // Joins the runs that it overlaps or meets.
  auto next = pages_.upper_bound(first);
  if (next != pages_.begin() && std::prev(next)->second >= first) --next;
  while (next != pages_.end() && next->first <= end) {
    first = std::min(first, next->first);
    end = std::max(end, next->second);
    next = pages_.erase(next);
  }
  pages_[first] = end;
  last_begin_ = first;
  last_end_ = end;
}

void TouchedRegions::settle() {
  for (const auto& [first, end] : pages_) {
    const std::uint64_t from = first << kPageShift, to = end << kPageShift;
    if (!regions_.empty() && from - regions_.back().end <= kGap) {
      regions_.back().end = to;
    } else {
      regions_.push_back({from, to, from});
    }
  }
  if (regions_.empty()) return;
  moved_ =
      regions_.back().end - regions_.front().begin > TraceLimits{}.span_bytes || regions_.back().end > kTraceAddresses;
  std::uint64_t next = kFirstBuffer.value;
  for (Region& region : regions_) {
    if (moved_) {
      // As far from a large page as it was.
      region.base = ((next + kGap - 1) & ~(kGap - 1)) + (region.begin & (kGap - 1));
      next = region.base + (region.end - region.begin);
    }
    buffers_.push_back({fmt::format("region{}", buffers_.size()), VirtAddr{region.base}, region.end - region.begin,
                        Placement::Distribute});
  }
}

std::uint64_t TouchedRegions::address(std::uint64_t recorded) const {
  const auto after = std::ranges::upper_bound(regions_, recorded, {}, &Region::begin);
  const Region& region = *std::prev(after);
  return recorded - region.begin + region.base;
}

}  // namespace nearfar
