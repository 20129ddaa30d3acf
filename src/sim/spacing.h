// How far apart the lines of a group come: the packets of a burst on a link, the lines of a page out of an L1.
#pragma once

#include <cstdint>

#include "sim/divider.h"
#include "sim/types.h"

namespace nearfar {

class Spacing {
 public:
  /// All at once.
  constexpr Spacing() = default;
  /// One every `cycles`.
  static constexpr Spacing every(Cycle cycles) { return Spacing(cycles << kFractionBits); }
  /// One every `ticks`, of which a cycle has so many.
  static constexpr Spacing of_ticks(std::uint64_t ticks, const Divider& cycle) {
    return Spacing(cycle.quotient(ticks << kFractionBits));
  }

  /// Whole cycles from the first line to line `i`.
  constexpr Cycle at(unsigned i) const { return i * step_ >> kFractionBits; }

 private:
  static constexpr unsigned kFractionBits = 16;

  explicit constexpr Spacing(std::uint64_t step) : step_(step) {}

  std::uint64_t step_ = 0;
};

}  // namespace nearfar
