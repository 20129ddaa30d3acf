// Figures as tables of numbers, and as CSV.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "report/figure.h"

namespace nearfar {

/// A line for each category, a column for each series; "-" is not measured.
std::string figure_table(const FigureData& figure, const Terminal& terminal);

/// A line for each value of all figures: figure, series, category, value, unit. Not measured is empty.
std::string figures_csv(const std::vector<FigureData>& figures);

}  // namespace nearfar
