// Counts what streams hold, as a trace says of itself: instructions, and the lines that vector memory instructions
// touch.
#pragma once

#include <cstdint>
#include <span>

#include "gpu/coalescer.h"
#include "trace/format.h"

namespace nearfar {

class StreamCounter {
 public:
  explicit StreamCounter(const TraceHeader& header) : lanes_(header.lanes), coalescer_(header.line == 128 ? 128 : 64) {}

  /// A stream that has been checked.
  void add(std::span<const std::uint8_t> stream);
  const TraceCounts& counts() const { return counts_; }

 private:
  unsigned lanes_;
  Coalescer coalescer_;
  TraceCounts counts_;
};

}  // namespace nearfar
