// A characterization as one page of plots.
#pragma once

#include <string>

#include "characterize/characterization.h"

namespace nearfar {

/// `title` and `subtitle` are plain text.
std::string characterization_svg(const Characterization& result, const std::string& title, const std::string& subtitle);

}  // namespace nearfar
