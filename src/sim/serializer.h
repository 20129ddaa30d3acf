// A resource that passes bytes at an exact rate: a direction of a link, a DRAM channel's data bus.
// It knows when it is next free in fractions of a cycle, so no rounding accumulates: with q = gcd(bandwidth, clock),
// one byte is clock/q ticks and one cycle is bandwidth/q ticks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "sim/types.h"

namespace nearfar {

class Serializer {
 public:
  Serializer() = default;
  Serializer(std::uint64_t bytes_per_second, std::uint64_t clock_hertz)
      : ticks_per_cycle_(bytes_per_second / std::gcd(bytes_per_second, clock_hertz)),
        ticks_per_byte_(clock_hertz / std::gcd(bytes_per_second, clock_hertz)) {}

  /// Passes `bytes` as soon as it is free, at or after `from`; returns the cycle by which the last byte is through.
  Cycle pass(Cycle from, std::uint64_t bytes) {
    const std::uint64_t start = std::max(from * ticks_per_cycle_, free_);
    free_ = start + bytes * ticks_per_byte_;
    busy_ += bytes * ticks_per_byte_;
    return ceil(free_);
  }

  /// How many ticks before the end of `cycle`, which pass() has just returned, the last byte was through.
  std::uint32_t ticks_early(Cycle cycle) const { return static_cast<std::uint32_t>(cycle * ticks_per_cycle_ - free_); }

  /// Lets a train of `bytes` through whose last byte comes `early` ticks before the end of cycle `end` (cut-through:
  /// it began to arrive before it was complete); returns the cycle by which the last byte is through.
  Cycle pass_ending(Cycle end, std::uint32_t early, std::uint64_t bytes) {
    const std::uint64_t ticks = bytes * ticks_per_byte_;
    free_ = std::max(end * ticks_per_cycle_ - early, free_ + ticks);
    busy_ += ticks;
    return ceil(free_);
  }

  /// First whole cycle at which it is free.
  Cycle free_at() const { return ceil(free_); }
  /// Whole cycles that `bytes` occupy, rounded up.
  Cycle duration(std::uint64_t bytes) const { return ceil(bytes * ticks_per_byte_); }
  /// Whole cycles of work done so far.
  Cycle busy_cycles() const { return busy_ / ticks_per_cycle_; }

 private:
  Cycle ceil(std::uint64_t ticks) const { return (ticks + ticks_per_cycle_ - 1) / ticks_per_cycle_; }

  std::uint64_t ticks_per_cycle_ = 1;
  std::uint64_t ticks_per_byte_ = 0;
  std::uint64_t free_ = 0;
  std::uint64_t busy_ = 0;
};

}  // namespace nearfar
