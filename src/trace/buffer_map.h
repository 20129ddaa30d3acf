// Which buffer an address of a trace lies in. Whole pages count: a program may touch what is behind the last byte of a
// buffer in its last page.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "program/workload.h"

namespace nearfar {

class BufferMap {
 public:
  struct Range {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    const Buffer* buffer = nullptr;
  };

  /// Addresses without a gap, of one buffer or of several.
  struct Mapped {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  /// `buffers` must stay where they are.
  explicit BufferMap(const std::vector<Buffer>& buffers) {
    for (const Buffer& buffer : buffers) ranges_.push_back({buffer.base.value, end_of(buffer), &buffer});
    std::ranges::sort(ranges_, {}, &Range::begin);
    for (const Range& range : ranges_) {
      if (!mapped_.empty() && mapped_.back().end == range.begin) {
        mapped_.back().end = range.end;
      } else {
        mapped_.push_back({range.begin, range.end});
      }
    }
  }

  /// The end of its last page.
  static std::uint64_t end_of(const Buffer& buffer) {
    return (buffer.base.value + buffer.bytes + kPageBytes - 1) & ~(kPageBytes - 1);
  }

  /// By ascending address.
  const std::vector<Range>& ranges() const { return ranges_; }

  /// The one that `address` lies in, or nothing.
  const Range* find(std::uint64_t address) const { return find_in(ranges_, address); }
  const Mapped* find_mapped(std::uint64_t address) const { return find_in(mapped_, address); }

 private:
  template <class Part>
  static const Part* find_in(const std::vector<Part>& parts, std::uint64_t address) {
    const auto after = std::ranges::upper_bound(parts, address, {}, &Part::begin);
    if (after == parts.begin() || address >= (after - 1)->end) return nullptr;
    return &*(after - 1);
  }

  std::vector<Range> ranges_;
  std::vector<Mapped> mapped_;
};

}  // namespace nearfar
