// Figures as pictures.
#pragma once

#include <string>

#include "study/figure.h"

namespace nearfar {

/// In units of SVG: as wide as a page, and as a column of a paper or the screen of a phone, with letters of one size.
inline constexpr double kFigureWidth = 860, kColumnWidth = 420;

/// To stand alone in a file, with title and notes.
std::string figure_svg(const FigureData& figure);

/// The same as wide as a column of a paper, whose caption has the title.
std::string column_svg(const FigureData& figure);

/// Only the plot, to stand in a page that has the style sheet (plot/theme.h) and says the rest itself. What belongs to
/// series i is in groups with `data-series="i"`, its entry of the legend in one with `data-key="i"`.
std::string figure_element(const FigureData& figure, double width = kFigureWidth);

}  // namespace nearfar
