// A data bus behind banks that are busy for different times: a transfer takes it when its bank is ready, and those that
// are ready earlier go first, whichever was asked for first. Between two that are far apart there is room for others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <numeric>

#include "sim/types.h"

namespace nearfar {

class SharedBus {
 public:
  SharedBus(std::uint64_t bytes_per_second, std::uint64_t clock_hertz)
      : cycle_(bytes_per_second / std::gcd(bytes_per_second, clock_hertz)),
        byte_(clock_hertz / std::gcd(bytes_per_second, clock_hertz)) {
    // Ticks of a run's time have 64 bits. A rate that needs more than these for a cycle is rounded down.
    for (; cycle_ >> kTickBits != 0; cycle_ >>= 1) byte_ = (byte_ + 1) / 2;
  }

  /// The cycle by which `bytes` that are ready in cycle `from` are through. Nobody asks for what has been before `now`.
  Cycle pass(Cycle now, Cycle from, std::uint64_t bytes) {
    while (!taken_.empty() && taken_.front().end <= now * cycle_) taken_.pop_front();
    const std::uint64_t length = bytes * byte_;
    std::uint64_t start = from * cycle_;
    auto next = std::ranges::upper_bound(taken_, start, {}, &Interval::end);
    for (; next != taken_.end() && next->start < start + length; ++next) start = next->end;
    taken_from(next, start, start + length);
    bytes_ += bytes;
    return (start + length + cycle_ - 1) / cycle_;
  }

  /// Whole cycles of transfers so far.
  Cycle busy_cycles() const { return static_cast<Cycle>(static_cast<unsigned __int128>(bytes_) * byte_ / cycle_); }

 private:
  struct Interval {
    std::uint64_t start = 0;  // ticks
    std::uint64_t end = 0;
  };
  static constexpr unsigned kTickBits = 24;

  /// Takes the bus before `next`; neighbours without a gap become one.
  void taken_from(std::deque<Interval>::iterator next, std::uint64_t start, std::uint64_t end) {
    const bool behind = next != taken_.begin() && std::prev(next)->end == start;
    const bool before = next != taken_.end() && next->start == end;
    if (behind && before) {
      std::prev(next)->end = next->end;
      taken_.erase(next);
    } else if (behind) {
      std::prev(next)->end = end;
    } else if (before) {
      next->start = start;
    } else {
      taken_.insert(next, {start, end});
    }
  }

  std::uint64_t cycle_;  ///< in ticks
  std::uint64_t byte_;
  std::uint64_t bytes_ = 0;
  std::deque<Interval> taken_;  ///< in order, and apart
};

}  // namespace nearfar
