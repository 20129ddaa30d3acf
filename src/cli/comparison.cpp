// Speedups, their geometric mean, and the table with bars that shows them.
#include "cli/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/bars.h"
#include "cli/numbers.h"
#include "cli/table.h"

namespace nearfar {

double geometric_mean(const std::vector<double>& values) {
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return values.empty() ? 0 : std::exp(logarithms / static_cast<double>(values.size()));
}

void measure(Comparison& comparison) {
  comparison.geometric_means.clear();
  for (auto& row : comparison.runs) {
    const auto first = static_cast<double>(row.front().report.result.cycles);
    for (ComparedRun& run : row) run.speedup = first / static_cast<double>(run.report.result.cycles);
  }
  for (std::size_t variant = 0; variant < comparison.variants.size(); ++variant) {
    std::vector<double> speedups;
    for (const auto& row : comparison.runs) speedups.push_back(row[variant].speedup);
    comparison.geometric_means.push_back(geometric_mean(speedups));
  }
}

std::string comparison_table(const Comparison& comparison, const Terminal& terminal) {
  double largest = 0;
  for (const auto& row : comparison.runs) {
    for (const ComparedRun& run : row) largest = std::max(largest, run.speedup);
  }
  Table table({{"workload"}, {""}, {"cycles", Align::Right}, {"speedup", Align::Right}, {"", Align::Left, Tint::Cyan}});
  for (std::size_t w = 0; w < comparison.workloads.size(); ++w) {
    for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
      const ComparedRun& run = comparison.runs[w][v];
      table.row({v == 0 ? comparison.workloads[w] : "", comparison.variants[v], grouped(run.report.result.cycles),
                 fixed(run.speedup, 3), bar(run.speedup, largest, kWideBarWidth)});
    }
    table.blank_line();
  }
  for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
    const double mean = comparison.geometric_means[v];
    table.row({v == 0 ? "geometric mean" : "", comparison.variants[v], "", fixed(mean, 3),
               bar(mean, largest, kWideBarWidth)});
  }
  return table.text(terminal);
}

}  // namespace nearfar
