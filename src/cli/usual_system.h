// The machine that a design was made for.
#pragma once

#include <string>

namespace nearfar {

struct Design;

/// The system on which a design's paper studied it: what `nearfar cost` takes where the user names none.
std::string usual_system(const Design& design);

}  // namespace nearfar
