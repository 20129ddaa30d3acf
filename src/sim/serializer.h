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
    if (from > free_cycle_) {
      free_cycle_ = from;
      free_part_ = 0;
    }
    work(bytes);
    return free_at();
  }

  /// How many ticks before the end of `cycle`, which pass() has just returned, the last byte was through.
  std::uint32_t ticks_early(Cycle cycle) const {
    return static_cast<std::uint32_t>((cycle - free_cycle_) * ticks_per_cycle_ - free_part_);
  }

  /// Lets a train of `bytes` through whose last byte comes `early` ticks before the end of cycle `end` (cut-through:
  /// it began to arrive before it was complete); returns the cycle by which the last byte is through.
  Cycle pass_ending(Cycle end, std::uint32_t early, std::uint64_t bytes) {
    work(bytes);
    const Cycle end_cycle = early == 0 ? end : end - 1;
    const std::uint64_t end_part = early == 0 ? 0 : ticks_per_cycle_ - early;
    if (end_cycle > free_cycle_ || (end_cycle == free_cycle_ && end_part > free_part_)) {
      free_cycle_ = end_cycle;
      free_part_ = end_part;
    }
    return free_at();
  }

  /// First whole cycle at which it is free.
  Cycle free_at() const { return free_cycle_ + (free_part_ != 0 ? 1 : 0); }
  /// Whole cycles that `bytes` occupy, rounded up.
  Cycle duration(std::uint64_t bytes) const {
    return (bytes * ticks_per_byte_ + ticks_per_cycle_ - 1) / ticks_per_cycle_;
  }
  /// Whole cycles of work done so far.
  Cycle busy_cycles() const {
    return static_cast<Cycle>(static_cast<unsigned __int128>(bytes_) * ticks_per_byte_ / ticks_per_cycle_);
  }

 private:
  void work(std::uint64_t bytes) {
    const std::uint64_t ticks = free_part_ + bytes * ticks_per_byte_;
    free_cycle_ += ticks / ticks_per_cycle_;
    free_part_ = ticks % ticks_per_cycle_;
    bytes_ += bytes;
  }

  std::uint64_t ticks_per_cycle_ = 1;
  std::uint64_t ticks_per_byte_ = 0;
  // Cycles and ticks apart: their product would not fit for every rate.
  Cycle free_cycle_ = 0;
  std::uint64_t free_part_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace nearfar
