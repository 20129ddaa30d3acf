#include "cli/study_table.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/table.h"
#include "stats/csv.h"

namespace nearfar {
namespace {

/// Enough digits to tell a percent apart, and no more.
std::string number(double value) {
  const double size = std::abs(value);
  if (size >= 1e7) return fmt::format("{:.3e}", value);
  return fmt::format("{:.{}f}", value, size < 10 ? 3 : size < 1000 ? 1 : 0);
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
    for (const FigureSeries& series : figure.series)
      cells.push_back(series.values[i] ? number(*series.values[i]) : "-");
    table.row(cells);
  }
  out += "\n" + table.text(terminal);
  for (const std::string& note : figure.notes) out += "  " + terminal.paint(Tint::Dim, note) + "\n";
  return out;
}

std::string figures_csv(const std::vector<FigureData>& figures) {
  std::string out = "figure,series,category,value,unit\n";
  for (const FigureData& figure : figures) {
    for (const FigureSeries& series : figure.series) {
      for (std::size_t i = 0; i < figure.categories.size(); ++i) {
        out += fmt::format("{},{},{},{},{}\n", csv_field(figure.id), csv_field(series.label),
                           csv_field(figure.categories[i]),
                           series.values[i] ? fmt::format("{}", *series.values[i]) : "", csv_field(figure.unit));
      }
    }
  }
  return out;
}

}  // namespace nearfar
