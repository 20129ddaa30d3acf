// CSV as RFC 4180 has it, with plain line feeds.
#include "report/figure_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "stats/csv.h"

namespace nearfar {
namespace {

const PublishedValue* published_for(const FigureData& figure, const std::string& series, const std::string& category) {
  const auto found = std::ranges::find_if(figure.published, [&](const PublishedValue& value) {
    return (value.series.empty() || value.series == series) && (value.category.empty() || value.category == category);
  });
  return found == figure.published.end() ? nullptr : &*found;
}

/// Digits behind the point of four significant ones.
int digits_of(double size) { return size < 10 ? 3 : size < 100 ? 2 : size < 1000 ? 1 : 0; }

}  // namespace

std::string unit_suffix(std::string_view unit) {
  if (unit.empty()) return "";
  return unit == "x" ? "×" : fmt::format(" {}", unit);
}

std::string value_text(double value, std::string_view unit) {
  const double size = std::abs(value);
  if (size >= 1e7 || (size > 0 && size < 1e-3)) return fmt::format("{:.3e}{}", value, unit_suffix(unit));
  return fmt::format("{:.{}f}{}", value, digits_of(size), unit_suffix(unit));
}

std::string value_text(const FigureData& figure, const FigureSeries& series, std::size_t category) {
  const double value = *series.values[category];
  const std::string text = value_text(value, figure.unit);
  const std::optional<Interval> interval = series.interval(category);
  if (!interval) return text;
  return fmt::format("{} ±{}{}", text, half_width_text(*interval),
                     figure.within_noise(series, category) ? ", within noise" : "");
}

std::string half_width_text(const Interval& interval) {
  const double size = std::abs(interval.mean), half = interval.half_width();
  if (size >= 1e7 || (size > 0 && size < 1e-3)) return fmt::format("{:.3e}", half);
  return fmt::format("{:.{}f}", half, digits_of(size));
}

std::string interval_csv(const FigureSeries& series, std::size_t category) {
  const std::optional<Interval> interval = series.interval(category);
  return interval ? fmt::format("{},{},{}", interval->count, interval->low, interval->high) : ",,";
}

std::string figure_csv(const FigureData& figure) {
  std::string out = "figure,series,category,value,unit,published_low,published_high,claim,repeats,low,high\n";
  for (const FigureSeries& series : figure.series) {
    for (std::size_t k = 0; k < figure.categories.size(); ++k) {
      const std::string& category = figure.categories[k];
      fmt::format_to(std::back_inserter(out), "{},{},{},{},{},", csv_field(figure.id), csv_field(series.label),
                     csv_field(category), series.values[k] ? fmt::format("{}", *series.values[k]) : "",
                     csv_field(figure.unit));
      if (const PublishedValue* value = published_for(figure, series.label, category)) {
        fmt::format_to(std::back_inserter(out), "{},{},{},", value->low, value->high, csv_field(value->claim));
      } else {
        out += ",,,";
      }
      out += interval_csv(series, k) + "\n";
    }
  }
  return out;
}

}  // namespace nearfar
