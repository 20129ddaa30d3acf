// Pictures as pixels, and as pages of vectors.
#pragma once

#include <string>

namespace nearfar::plot {

/// `svg` as PNG, `zoom` pixels for each of its units, by the program rsvg-convert. An InputError says so where that is
/// missing or fails.
std::string png_of(const std::string& svg, double zoom = 2);

/// The same as PDF: vectors with the letters' font, a unit being a 96th of an inch. It says no time of its making.
std::string pdf_of(const std::string& svg);

/// Throws the InputError of both where rsvg-convert is missing: to be asked before long work.
void need_png();

}  // namespace nearfar::plot
