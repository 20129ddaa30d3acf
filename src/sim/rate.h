// A rate of bytes as ticks: how many a cycle has, and how many a byte takes, so that no rounding accumulates.
//
// With q = gcd(bandwidth, clock) one byte is clock/q ticks and one cycle is bandwidth/q. Where these are too large for
// long runs (an odd clock), the nearest ratio of smaller numbers is taken: the best one by continued fractions, which
// is off by less than one part in 2^24.
#pragma once

#include <cstdint>
#include <numeric>

namespace nearfar {

struct Rate {
  std::uint64_t ticks_per_cycle = 1;
  std::uint64_t ticks_per_byte = 1;

  static constexpr std::uint64_t kMost = std::uint64_t{1} << 24;

  static constexpr Rate of(std::uint64_t bytes_per_second, std::uint64_t clock_hertz) {
    const std::uint64_t q = std::gcd(bytes_per_second, clock_hertz);
    const Rate exact{bytes_per_second / q, clock_hertz / q};
    if (exact.ticks_per_cycle <= kMost && exact.ticks_per_byte <= kMost) return exact;
    // Convergents of bandwidth / clock, the last of which is exact; one that is 0 is no rate.
    Rate last{1, 0};
    Rate found{exact.ticks_per_cycle / exact.ticks_per_byte, 1};
    std::uint64_t a = exact.ticks_per_byte;
    std::uint64_t b = exact.ticks_per_cycle % exact.ticks_per_byte;
    while (b != 0) {
      const std::uint64_t whole = a / b;
      const Rate next{whole * found.ticks_per_cycle + last.ticks_per_cycle,
                      whole * found.ticks_per_byte + last.ticks_per_byte};
      const bool fits = next.ticks_per_cycle <= kMost && next.ticks_per_byte <= kMost;
      if (!fits && found.ticks_per_cycle != 0) break;
      last = found;
      found = next;
      const std::uint64_t rest = a % b;
      a = b;
      b = rest;
    }
    return found;
  }
};

}  // namespace nearfar
