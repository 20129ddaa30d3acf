// Quantities that carry a unit in a configuration: sizes, rates, frequencies, and times given in cycles or ns.
#pragma once

#include <cstdint>

#include "sim/types.h"

namespace nearfar {

using Bytes = std::uint64_t;

constexpr Bytes operator""_B(unsigned long long n) { return n; }
constexpr Bytes operator""_KiB(unsigned long long n) { return n << 10; }
constexpr Bytes operator""_MiB(unsigned long long n) { return n << 20; }
constexpr Bytes operator""_GiB(unsigned long long n) { return n << 30; }

struct Frequency {
  std::uint64_t hertz = 0;
};
constexpr Frequency operator""_MHz(unsigned long long n) { return {n * 1'000'000}; }

/// Bytes per second, kept exactly. 1 GB/s = 10^9 B/s, as link and memory vendors count.
struct Bandwidth {
  std::uint64_t bytes_per_second = 0;
};
constexpr Bandwidth operator""_GBps(unsigned long long n) { return {n * 1'000'000'000}; }

}  // namespace nearfar
