// The parameters that the fuzzer may draw, taken from their own declarations: those of every system, and those that
// designs bring with them.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/schema.h"

namespace nearfar::fuzz {

struct Declared {
  std::string path;
  std::vector<std::string> choices;    ///< all values, where they are few
  std::optional<NumberDomain> number;  ///< of a number; its value is the default

  bool is_choice() const { return !choices.empty(); }
};

/// What a system with these designs declares. `watchdog.cycles` is left out: it says when a run is given up, so a small
/// value ends runs that nothing is wrong with.
std::vector<Declared> declared_parameters(std::span<const std::string> designs);

/// Of all designs together.
std::vector<Declared> all_declared_parameters();

}  // namespace nearfar::fuzz
