// A figure as numbers: what is drawn, tabulated, and written as CSV.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace nearfar {

enum class FigureKind { Bars, Lines, Stacked, Cdf, Heat };

struct FigureSeries {
  std::string label;
  std::vector<std::optional<double>> values;  ///< one value per category; nothing: not measured
};

/// A line or mark in the figure.
struct PublishedValue {
  std::string claim;
  std::string series;    ///< empty: of all series
  std::string category;  ///< empty: of all categories
  double low = 0, high = 0;
  std::string text;
};

/// One value that the figure points out.
struct FigureMark {
  std::string series;
  std::size_t category = 0;
  std::string text;  ///< a word
};

struct FigureData {
  std::string id, title, study;
  FigureKind kind = FigureKind::Bars;
  std::string x_label, y_label, unit;
  std::vector<std::string> categories;
  std::vector<FigureSeries> series;
  std::vector<PublishedValue> published;
  std::vector<std::string> notes;
  std::vector<FigureMark> marks{};
};

}  // namespace nearfar
