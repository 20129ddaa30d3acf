// A characterization as tables for a terminal: `characterize` and `trace info` show it.
#pragma once

#include <string>

#include "characterize/characterization.h"
#include "cli/terminal.h"

namespace nearfar {

std::string characterization_text(const Characterization& result, const Terminal& terminal);

}  // namespace nearfar
