// Designs: named changes to the machine. Each claims seams of the baseline; two that claim the same one are refused.
// What a design changes are settings, so that `explain` and every result show it, and parts that it plugs in.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/plug_in.h"
#include "config/system_spec.h"
#include "machine/system_file.h"

namespace nearfar {

/// Another design that one cannot be combined with although they share no seam, and why.
struct Refusal {
  std::string design;
  std::string reason;  ///< a clause
};

struct Design {
  std::string name;
  std::string sentence;
  std::vector<std::string> seams{};             ///< the places of a chain are seams of their own
  std::vector<TranslationKind> systems{};       ///< where its seams exist, that of its study first
  std::vector<std::string> needs{};             ///< key=value that a system must have, or its seams do not exist
  std::string system{};                         ///< that of its study, where it is not the usual one of its kind
  std::vector<std::string> settings{};          ///< key=value
  std::shared_ptr<PlugIn> (*make)() = nullptr;  ///< its parameters, components and statistics
  std::vector<std::string> parts{};             ///< of a design that is several others together
  std::string readme{};                         ///< what it is and which paper it is from: a file
  std::string paper{};                          ///< that it is from, as in config/bibliography.h, where there is one
  std::vector<Refusal> refuses{};               ///< beside those with a seam of its own
};

/// All designs, by name.
const std::vector<Design>& all_designs();

/// The designs with these names, which must exist, each taken apart into its parts. Throws InputError where two of them
/// claim one seam.
std::vector<const Design*> choose_designs(std::span<const std::string> names);

/// Throws InputError where a design's seams do not exist in a system.
void check_designs(std::span<const Design* const> designs, const LoadedSystem& system);

/// A system with designs in it. What the overrides set overrules what a design sets.
LoadedSystem load_system_with(std::span<const std::string> designs, const std::string& system,
                              std::span<const std::string> overrides);

/// What the designs' structures cost on a system.
struct DesignCost {
  const Design* design;
  std::vector<StorageItem> items;
};
std::vector<DesignCost> cost_of(std::span<const std::string> designs, const std::string& system,
                                std::span<const std::string> overrides);

/// Every statistic that a run can report, those of all designs too, sorted by name.
std::vector<StatInfo> list_all_statistics();

}  // namespace nearfar
