#include "cli/study_table.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/table.h"
#include "report/figure_text.h"
#include "stats/csv.h"

namespace nearfar {
namespace {

/// Enough digits to tell a percent apart, and no more: as many as a number of this size needs.
std::string number(double value, double size) {
  if (size >= 1e7) return fmt::format("{:.3e}", value);
  return fmt::format("{:.{}f}", value, size < 10 ? 3 : size < 1000 ? 1 : 0);
}

std::string cell(const FigureData& figure, const FigureSeries& series, std::size_t category) {
  if (!series.values[category]) return "-";
  const double value = *series.values[category], size = std::abs(value);
  std::string text = number(value, size);
  const auto interval = series.interval(category);
  if (!interval) return text;
  // The mark has its place, so that numbers stand in line.
  text += " ±" + number(interval->half_width(), size);
  if (figure.neutral) text += figure.within_noise(series, category) ? " ~" : "  ";
  return text;
}

/// What the marks mean, where there are any.
std::string noise_note(const FigureData& figure) {
  for (const FigureSeries& series : figure.series) {
    for (std::size_t i = 0; i < figure.categories.size(); ++i) {
      if (figure.within_noise(series, i))
        return fmt::format("~ within noise: the 95 % interval holds {:g}", *figure.neutral);
    }
  }
  return "";
}

}  // namespace

std::string figure_table(const FigureData& figure, const Terminal& terminal) {
  std::string out = terminal.paint(Tint::Bold, fmt::format("{}  {}", figure.id, figure.title));
  if (!figure.unit.empty()) out += terminal.paint(Tint::Dim, fmt::format("  [{}]", figure.unit));
  std::vector<Table::Column> columns = {{""}};
  for (const FigureSeries& series : figure.series) columns.push_back({series.label, Align::Right});
  Table table(columns, 2);
  for (std::size_t i = 0; i < figure.categories.size(); ++i) {
    std::vector<std::string> cells = {figure.categories[i]};
    for (const FigureSeries& series : figure.series) cells.push_back(cell(figure, series, i));
    table.row(cells);
  }
  out += "\n" + table.text(terminal);
  if (const std::string note = noise_note(figure); !note.empty()) out += "  " + terminal.paint(Tint::Dim, note) + "\n";
  for (const std::string& note : figure.notes) out += "  " + terminal.paint(Tint::Dim, note) + "\n";
  return out;
}

std::string figures_csv(const std::vector<FigureData>& figures) {
  std::string out = "figure,series,category,value,unit,repeats,low,high\n";
  for (const FigureData& figure : figures) {
    for (const FigureSeries& series : figure.series) {
      for (std::size_t i = 0; i < figure.categories.size(); ++i) {
        out +=
            fmt::format("{},{},{},{},{},{}\n", csv_field(figure.id), csv_field(series.label),
                        csv_field(figure.categories[i]), series.values[i] ? fmt::format("{}", *series.values[i]) : "",
                        csv_field(figure.unit), interval_csv(series, i));
      }
    }
  }
  return out;
}

}  // namespace nearfar
