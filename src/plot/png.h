// Pictures as pixels.
#pragma once

#include <string>

namespace nearfar::plot {

/// `svg` as PNG, `zoom` pixels for each of its units, by the program rsvg-convert. An InputError says so where that is
/// missing or fails.
std::string png_of(const std::string& svg, double zoom = 2);

/// Throws the InputError of `png_of` where rsvg-convert is missing: to be asked before long work.
void need_png();

}  // namespace nearfar::plot
