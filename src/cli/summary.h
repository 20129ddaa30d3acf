// What a person sees after a run: what ran on what, how long it took and where the time went.
#pragma once

#include <string>

#include "cli/terminal.h"
#include "study/experiment.h"

namespace nearfar {

/// A page of text. A statistic that the result does not have leaves its line out.
std::string summary(const Report& report, const Terminal& terminal);

}  // namespace nearfar
