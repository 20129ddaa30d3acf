// Designs that are one piece of code with another number, such as directories of two and of three times the entries.
#pragma once

#include <algorithm>
#include <string>

#include "designs/design.h"

namespace nearfar {

/// A design comes before it by name that is the same code and sets the same parameter. Where every pair of designs is
/// tried, the first of them stands for all.
inline bool has_elder_sibling(const Design& design) {
  const auto key = [](const std::string& setting) { return setting.substr(0, setting.find('=')); };
  const auto* elder = std::ranges::find_if(all_designs().data(), &design, [&](const Design& other) {
    return other.make != nullptr && other.make == design.make && !other.settings.empty() &&
           std::ranges::equal(other.settings, design.settings, {}, key, key);
  });
  return elder != &design;
}

}  // namespace nearfar
