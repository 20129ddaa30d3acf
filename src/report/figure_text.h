// Figures as text: values with their units, and CSV.
#pragma once

#include <string>
#include <string_view>

#include "report/figure.h"

namespace nearfar {

/// What is written behind a number of this unit: "×" for x, " %" for %, " cycles" for cycles.
std::string unit_suffix(std::string_view unit);

/// Four significant digits and the unit: 1.538×, 86.10 %.
std::string value_text(double value, std::string_view unit);

/// One line for each value: figure, series, category, value, unit, and what was published for it. A value that was not
/// measured is empty.
std::string figure_csv(const FigureData& figure);

}  // namespace nearfar
