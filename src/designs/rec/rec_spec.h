// The parameters of REC.
#pragma once

#include <cstdint>

#include "coherence/coherence_spec.h"
#include "config/quantity.h"

namespace nearfar {

struct RecSpec {
  Bytes range = 0;  // 0 until it is filled in: 16 lines
  DirectoryReplacement replacement = DirectoryReplacement::Lru;

  void fill_in(Bytes line) {
    if (range == 0) range = 16 * line;
  }
  /// Lines of a range.
  std::uint32_t positions(Bytes line) const { return static_cast<std::uint32_t>(range / line); }
  void describe(Section& section);
};

}  // namespace nearfar
