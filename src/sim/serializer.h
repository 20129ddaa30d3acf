// A resource that passes bytes at an exact rate: a DRAM channel's data bus.
// It knows when it is next free in fractions of a cycle, so no rounding accumulates: with q = gcd(bandwidth,
// clock), one byte is clock/q ticks and one cycle is bandwidth/q ticks.
#pragma once

#include <cstdint>
#include <numeric>

#include "sim/divider.h"
#include "sim/types.h"

namespace nearfar {

class Serializer {
 public:
  Serializer() = default;
  Serializer(std::uint64_t bytes_per_second, std::uint64_t clock_hertz)
      : cycle_(bytes_per_second / std::gcd(bytes_per_second, clock_hertz)),
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

  /// First whole cycle at which it is free.
  Cycle free_at() const { return free_cycle_ + (free_part_ != 0 ? 1 : 0); }
  /// Whole cycles that `bytes` occupy, rounded up.
  Cycle duration(std::uint64_t bytes) const { return cycle_.ceiling(bytes * ticks_per_byte_); }
  /// Whole cycles of work done so far.
  Cycle busy_cycles() const {
    return static_cast<Cycle>(static_cast<unsigned __int128>(bytes_) * ticks_per_byte_ / cycle_.divisor());
  }

 private:
  void work(std::uint64_t bytes) {
    const auto [cycles, part] = cycle_.divide(free_part_ + bytes * ticks_per_byte_);
    free_cycle_ += cycles;
    free_part_ = part;
    bytes_ += bytes;
  }

  Divider cycle_;  ///< in ticks
  std::uint64_t ticks_per_byte_ = 0;
  // Cycles and ticks apart: their product would not fit for every rate.
  Cycle free_cycle_ = 0;
  std::uint64_t free_part_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace nearfar
