// How far apart the lines of a group come: the packets of a train on a link, the lines of a page out of an L1.
#pragma once

#include <cstdint>

#include "sim/divider.h"
#include "sim/types.h"

namespace nearfar {

class Pace {
 public:
  /// All at once.
  constexpr Pace() = default;
  /// One every `cycles`.
  static constexpr Pace every(Cycle cycles) { return Pace(cycles << kFractionBits); }
  /// One every `ticks`, of which a cycle has so many.
  static constexpr Pace of_ticks(std::uint64_t ticks, const Divider& cycle) {
    return Pace(cycle.quotient(ticks << kFractionBits));
  }

  /// Whole cycles from the first line to line `i`.
  constexpr Cycle at(unsigned i) const { return i * step_ >> kFractionBits; }

 private:
  static constexpr unsigned kFractionBits = 16;

  explicit constexpr Pace(std::uint64_t step) : step_(step) {}

  std::uint64_t step_ = 0;
};

}  // namespace nearfar
