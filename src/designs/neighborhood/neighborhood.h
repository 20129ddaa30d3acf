// A neighborhood: the pages whose page-table entries of a level lie in one line. Eight entries of eight bytes make a
// line, so at the leaf these are eight pages in a row, aligned, and 512 times as many at each level above.
#pragma once

#include <cstdint>

#include "translation/page.h"

namespace nearfar {

/// The bits of a page's key in which all pages of a neighborhood of `level` agree, the process among them.
constexpr std::uint64_t neighborhood_mask(unsigned level, unsigned leaf) {
  constexpr unsigned kPidBits = 8;
  const unsigned within = kPidBits + 3 + 9 * (level - leaf);
  return ~((std::uint64_t{1} << within) - 1) | ((1U << kPidBits) - 1);
}

constexpr bool same_neighborhood(PageKey a, PageKey b, unsigned level, unsigned leaf) {
  return ((a.value ^ b.value) & neighborhood_mask(level, leaf)) == 0;
}

}  // namespace nearfar
