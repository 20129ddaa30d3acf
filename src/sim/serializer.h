// Resources that pass bytes at an exact rate: a DRAM channel's data bus, a direction of a link.
// They know when they are next free in fractions of a cycle, so no rounding accumulates: with q = gcd(bandwidth,
// clock), one byte is clock/q ticks and one cycle is bandwidth/q ticks.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "sim/divider.h"
#include "sim/pace.h"
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

/// A link that two classes of packets share. Each class is served in order; where both have packets waiting they take
/// turns, so that neither waits for the other's backlog: a packet whose own class is idle waits for at most the packet
/// in service, and what it takes is added to the other class's backlog.
class SharedSerializer {
 public:
  SharedSerializer() = default;
  SharedSerializer(std::uint64_t bytes_per_second, std::uint64_t clock_hertz, std::uint64_t largest_packet)
      : cycle_(bytes_per_second / std::gcd(bytes_per_second, clock_hertz)),
        ticks_per_byte_(clock_hertz / std::gcd(bytes_per_second, clock_hertz)),
        largest_(largest_packet * ticks_per_byte_) {}

  /// When a packet is through: the cycle, and by how many ticks its last byte was before that cycle's end; and the
  /// cycle in which the last of those that came with it is.
  struct Through {
    Cycle cycle;
    std::uint32_t early;
    Cycle last;
  };

  /// Passes a packet that is there at cycle `from`, and `behind` bytes of packets that follow it without a gap.
  Through pass(unsigned cls, Cycle from, std::uint64_t bytes, std::uint64_t behind = 0) {
    return book(cls, from * cycle_.divisor(), bytes * ticks_per_byte_, behind * ticks_per_byte_);
  }

  /// Passes a packet whose last byte comes `early` ticks before the end of cycle `end` (cut-through: it began to
  /// arrive before it was complete), and those behind it.
  Through pass_ending(unsigned cls, Cycle end, std::uint32_t early, std::uint64_t bytes, std::uint64_t behind = 0) {
    const std::uint64_t ticks = bytes * ticks_per_byte_;
    return book(cls, end * cycle_.divisor() - early - ticks, ticks, behind * ticks_per_byte_);
  }

  /// When `behind` bytes that follow a packet have come, which came `early` ticks before the end of cycle `end`.
  Cycle after(Cycle end, std::uint32_t early, std::uint64_t behind) const {
    return behind == 0 ? end : cycle_.ceiling(end * cycle_.divisor() - early + behind * ticks_per_byte_);
  }
  /// How far apart `packets` are that have `bytes` in all.
  Pace pace(std::uint64_t bytes, std::uint64_t packets) const {
    return Pace::of_ticks(bytes * ticks_per_byte_ / packets, cycle_);
  }

  /// First whole cycle at which all packets of a class so far are through.
  Cycle free_at(unsigned cls) const { return cycle_.ceiling(free_[cls]); }
  /// Whole cycles of work done so far.
  Cycle busy_cycles() const { return cycle_.quotient(busy_); }

 private:
  Through book(unsigned cls, std::uint64_t from, std::uint64_t ticks, std::uint64_t behind) {
    std::uint64_t& mine = free_[cls];
    std::uint64_t& other = free_[1 - cls];
    std::uint64_t start = std::max(from, mine);
    if (mine <= from && other > from) start += std::min(other - from, largest_);
    if (other > start) other += ticks + behind;
    const std::uint64_t first = start + ticks;
    mine = first + behind;
    busy_ += ticks + behind;
    const Cycle cycle = cycle_.ceiling(first);
    return {cycle, static_cast<std::uint32_t>(cycle * cycle_.divisor() - first),
            behind == 0 ? cycle : cycle_.ceiling(mine)};
  }

  Divider cycle_;  ///< in ticks
  std::uint64_t ticks_per_byte_ = 0;
  std::uint64_t largest_ = 0;
  std::uint64_t free_[2] = {0, 0};
  std::uint64_t busy_ = 0;
};

}  // namespace nearfar
