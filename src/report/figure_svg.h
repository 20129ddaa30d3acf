// Figures as pictures.
#pragma once

#include <string>

#include "study/figure.h"

namespace nearfar {

/// To stand alone in a file, with title and notes.
std::string figure_svg(const FigureData& figure);

/// Only the plot, to stand in a page that has the style sheet (plot/theme.h) and says the rest itself. What belongs to
/// series i is in groups with `data-series="i"`, its entry of the legend in one with `data-key="i"`.
std::string figure_element(const FigureData& figure);

}  // namespace nearfar
