// The words of translation: a page of a process, and where it is mapped.
//
// A page number counts pages of the size in force (4 KiB, 64 KiB or 2 MiB); a mapping names the first 4 KiB frame of
// the page.
#pragma once

#include <cstdint>

#include "sim/types.h"

namespace nearfar {

/// The process a page belongs to: its application's number.
using Pid = std::uint8_t;

/// A page of a process, as TLBs, walkers and the driver know it.
struct PageKey {
  std::uint64_t value = ~std::uint64_t{0};

  constexpr PageKey() = default;
  constexpr explicit PageKey(std::uint64_t v) : value(v) {}
  constexpr PageKey(Pid pid, std::uint64_t number) : value(number << 8 | pid) {}
  constexpr Pid pid() const { return static_cast<Pid>(value & 0xff); }
  constexpr std::uint64_t number() const { return value >> 8; }
  constexpr auto operator<=>(const PageKey&) const = default;
};

/// Pages of one process in a row.
struct PageRange {
  PageKey first;
  std::uint64_t pages = 0;

  constexpr bool holds(PageKey page) const {
    return page.pid() == first.pid() && page.number() - first.number() < pages;
  }
};

/// How often the old mappings of a page have been invalidated. It wraps: at most one change of a page is in progress.
using Epoch = std::uint16_t;
constexpr bool older(Epoch a, Epoch b) { return static_cast<std::int16_t>(a - b) < 0; }

struct Mapping {
  PhysPage page;
  bool writable = true;
  Epoch epoch = 0;

  constexpr bool operator==(const Mapping&) const = default;
};

}  // namespace nearfar
