// Figures as text: values with their units, and CSV.
#pragma once

#include <string>
#include <string_view>

#include "study/figure.h"

namespace nearfar {

/// What is written behind a number of this unit: "×" for x, " %" for %, " cycles" for cycles.
std::string unit_suffix(std::string_view unit);

/// Four significant digits and the unit: 1.538×, 86.10 %.
std::string value_text(double value, std::string_view unit);

/// Half the width of an interval, with as many digits as its mean has: "0.012".
std::string half_width_text(const Interval& interval);

/// A value of a figure with its spread, where that is known: "1.538× ±0.012", "1.010× ±0.020, within noise".
std::string value_text(const FigureData& figure, const FigureSeries& series, std::size_t category);

/// "5,1.21,1.25": measurements, and both ends of the interval. Empty fields where the spread is not known.
std::string interval_csv(const FigureSeries& series, std::size_t category);

/// One line for each value: figure, series, category, value, unit, what was published for it, and of repeated runs
/// their number and the interval of the mean. A value that was not measured is empty.
std::string figure_csv(const FigureData& figure);

}  // namespace nearfar
