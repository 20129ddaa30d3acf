// The parameters of the disaggregated page table.
#pragma once

#include <cstdint>

namespace nearfar {

class Section;

/// Which GPU a leaf table begins on: that of the first page mapped in it, or one that follows from its address.
enum class TableHome : std::uint8_t { FirstTouch, Hash };

struct DptSpec {
  TableHome home = TableHome::FirstTouch;
  bool migrate = true;
  std::uint32_t threshold = 64;
  std::uint32_t access_bits = 11;

  void describe(Section& section);
};

}  // namespace nearfar
