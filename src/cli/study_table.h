// Figures as tables of numbers, and as CSV.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "study/figure.h"

namespace nearfar {

/// A line for each category, a column for each series; "-" is not measured. Of repeated runs "1.230 ±0.012", with a "~"
/// where that cannot be told from no effect.
std::string figure_table(const FigureData& figure, const Terminal& terminal);

/// A line for each value of all figures: figure, series, category, value, unit, and of repeated runs their number and
/// the interval of the mean. Not measured is empty.
std::string figures_csv(const std::vector<FigureData>& figures);

}  // namespace nearfar
