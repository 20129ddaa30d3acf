// A figure as numbers: what is drawn, tabulated, and written as CSV.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "stats/interval.h"

namespace nearfar {

enum class FigureKind { Bars, Lines, Stacked, Cdf, Heat };

struct FigureSeries {
  std::string label;
  std::vector<std::optional<double>> values;  ///< one value per category; nothing: not measured
  /// Of repeated runs, by category: how well each value is known, and the value of each draw. Empty where nothing was
  /// repeated.
  std::vector<Interval> intervals{};
  std::vector<std::vector<std::optional<double>>> draws{};

  /// Of the value of one category; nothing where its spread is not known.
  std::optional<Interval> interval(std::size_t category) const {
    if (category >= intervals.size() || !intervals[category].has_spread()) return std::nullopt;
    return intervals[category];
  }
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
  std::optional<double> neutral{};  ///< the value that means no effect, where the figure is about effects

  /// Whether a value cannot be told from no effect.
  bool within_noise(const FigureSeries& of, std::size_t category) const {
    const std::optional<Interval> interval = of.interval(category);
    return neutral && interval && interval->within_noise_of(*neutral);
  }
};

}  // namespace nearfar
