// Designs: named changes to the machine. Each claims seams of the baseline; two that claim the same one are refused,
// unless the seam is a chain. What a design changes is written as settings, so that `explain` and every result show it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/system_spec.h"

namespace nearfar {

struct Design {
  std::string name;
  std::string sentence;
  std::vector<std::string> seams;
  std::vector<TranslationKind> systems;  ///< where its seams exist
  std::vector<std::string> settings;     ///< key=value
};

/// All designs, by name.
const std::vector<Design>& all_designs();

/// The designs with these names, which must exist. Throws InputError where two of them claim one seam.
std::vector<const Design*> choose_designs(std::span<const std::string> names);

/// Throws InputError where a design's seams do not exist in a system.
void check_designs(std::span<const Design* const> designs, const SystemSpec& system);

}  // namespace nearfar
