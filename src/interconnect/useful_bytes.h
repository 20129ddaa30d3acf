// Which of the bytes that stores of other GPUs bring are of use: read by a lane here before they are brought again or
// overwritten. Simulator only: it looks on, and changes nothing.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>

#include "memory/byte_masks.h"
#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

struct UsefulStats {
  std::uint64_t useful_bytes = 0;
  std::uint64_t wasted_bytes = 0;

  void describe(StatVisitor& visitor) {
    visitor.counter("useful_bytes", "bytes",
                    "Bytes that stores of other GPUs brought and that a lane of this GPU read, each once.",
                    useful_bytes);
    visitor.counter("wasted_bytes", "bytes",
                    "Bytes that stores of other GPUs brought and that nobody here read before they were overwritten.",
                    wasted_bytes);
  }
};

class UsefulBytes {
 public:
  /// Stores have brought bytes of a line at home here.
  void delivered(PhysLine line, const ByteMask& bytes) {
    ByteMask& fresh = fresh_[line.value];
    stats_.wasted_bytes += (fresh & bytes).count();
    fresh = fresh | bytes;
  }
  /// Lanes of this GPU load, or store, bytes of a line.
  void loaded(PhysLine line, const ByteMask& bytes) { stats_.useful_bytes += take(line, bytes); }
  void stored(PhysLine line, const ByteMask& bytes) { stats_.wasted_bytes += take(line, bytes); }

  /// As if the run ended now: what has not been read is wasted.
  UsefulStats stats() const {
    UsefulStats all = stats_;
    for (const auto& [line, fresh] : fresh_) all.wasted_bytes += fresh.count();
    return all;
  }

 private:
  unsigned take(PhysLine line, const ByteMask& bytes) {
    const auto found = fresh_.find(line.value);
    if (found == fresh_.end()) return 0;
    const ByteMask used = found->second & bytes;
    found->second = found->second.without(used);
    return used.count();
  }

  boost::unordered_flat_map<std::uint64_t, ByteMask> fresh_;  ///< by line: brought and neither read nor overwritten
  UsefulStats stats_;
};

}  // namespace nearfar
