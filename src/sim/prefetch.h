// Memory of the host that is fetched before it is needed.
#pragma once

#include <cstddef>

namespace nearfar {

inline constexpr std::size_t kHostLine = 64;

/// Brings the line of the host's cache that holds `address` closer. GCC takes a function that does nothing else for one
/// without effect, and drops calls of it: the empty assembly is an effect.
inline void prefetch_line(const void* address) {
  __builtin_prefetch(address);
  asm volatile("");
}

/// The same for that line and those behind it.
inline void prefetch_lines(const void* address, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) prefetch_line(static_cast<const std::byte*>(address) + i * kHostLine);
}

}  // namespace nearfar
