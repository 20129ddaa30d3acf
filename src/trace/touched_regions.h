// Buffers for a trace that names none: the pages that its accesses touch, joined where little is between them. Recorded
// addresses stay as they are, unless they lie so far apart that no address space could hold them all.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "program/workload.h"

namespace nearfar {

class TouchedRegions {
 public:
  /// Pages no further apart belong to one buffer.
  static constexpr std::uint64_t kGap = std::uint64_t{2} << 20;

  void touch(std::uint64_t begin, std::uint64_t bytes);
  /// No more will be touched: makes the buffers.
  void settle();

  const std::vector<Buffer>& buffers() const { return buffers_; }
  /// Where a touched address lies in the trace.
  std::uint64_t address(std::uint64_t recorded) const;
  /// Whether addresses had to be changed.
  bool moved() const { return moved_; }

 private:
  struct Region {
    std::uint64_t begin = 0, end = 0;
    std::uint64_t base = 0;  ///< in the trace
  };

  std::map<std::uint64_t, std::uint64_t> pages_;  ///< runs of pages, begin to end
  std::uint64_t last_begin_ = 1, last_end_ = 0;   ///< the run that was touched last
  std::vector<Region> regions_;
  std::vector<Buffer> buffers_;
  bool moved_ = false;
};

}  // namespace nearfar
