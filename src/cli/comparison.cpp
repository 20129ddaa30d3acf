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
  comparison.mean_intervals.clear();
  const std::size_t draws = comparison.repeats;
  // By variant and draw: the speedups of all workloads.
  std::vector<std::vector<std::vector<double>>> by_draw(comparison.variants.size(),
                                                        std::vector<std::vector<double>>(draws));
  for (auto& row : comparison.runs) {
    for (std::size_t v = 0; v < row.size(); ++v) {
      std::vector<double> speedups;
      for (std::size_t draw = 0; draw < draws; ++draw) {
        speedups.push_back(static_cast<double>(row.front().cycles_of(draw)) /
                           static_cast<double>(row[v].cycles_of(draw)));
        by_draw[v][draw].push_back(speedups.back());
      }
      row[v].interval = geometric_interval_of(speedups);
      row[v].speedup = row[v].interval.mean;
    }
  }
  for (const auto& draws_of_variant : by_draw) {
    std::vector<double> means;
    for (const std::vector<double>& speedups : draws_of_variant) means.push_back(geometric_mean(speedups));
    comparison.mean_intervals.push_back(geometric_interval_of(means));
    comparison.geometric_means.push_back(comparison.mean_intervals.back().mean);
  }
}

double mean_cycles(const ComparedRun& run) {
  if (run.cycles.empty()) return static_cast<double>(run.report.result.cycles);
  double sum = 0;
  for (const Cycle cycles : run.cycles) sum += static_cast<double>(cycles);
  return sum / static_cast<double>(run.cycles.size());
}

std::string speedup_text(double speedup, const Interval& interval) {
  const std::string text = fixed(speedup, 3);
  return interval.has_spread() ? fmt::format("{} ±{}", text, fixed(interval.half_width(), 3)) : text;
}

std::string noise_text(const Interval& interval) { return interval.within_noise_of(1) ? "within noise" : ""; }

std::string comparison_table(const Comparison& comparison, const Terminal& terminal) {
  double largest = 0;
  for (const auto& row : comparison.runs) {
    for (const ComparedRun& run : row) largest = std::max({largest, run.speedup, run.interval.high});
  }
  const bool repeated = comparison.repeats > 1;
  std::vector<Table::Column> columns = {{"workload"}, {""}, {"cycles", Align::Right}, {"speedup", Align::Right}};
  if (repeated) columns.push_back({"", Align::Left, Tint::Dim});
  columns.push_back({"", Align::Left, Tint::Cyan});
  Table table(columns);
  // What the others are measured against has no noise of its own to be within.
  const auto row = [&](const std::string& workload, std::size_t variant, const std::string& cycles, double speedup,
                       const Interval& interval) {
    std::vector<std::string> cells = {workload, comparison.variants[variant], cycles};
    cells.push_back(variant == 0 ? fixed(speedup, 3) : speedup_text(speedup, interval));
    if (repeated) cells.push_back(variant == 0 ? "" : noise_text(interval));
    cells.push_back(bar_with_whisker(speedup, interval.high, largest, kWideBarWidth));
    table.row(cells);
  };
  for (std::size_t w = 0; w < comparison.workloads.size(); ++w) {
    for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
      const ComparedRun& run = comparison.runs[w][v];
      row(v == 0 ? comparison.workloads[w] : "", v, grouped(static_cast<std::uint64_t>(std::llround(mean_cycles(run)))),
          run.speedup, run.interval);
    }
    table.blank_line();
  }
  for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
    row(v == 0 ? "geometric mean" : "", v, "", comparison.geometric_means[v], comparison.mean_intervals[v]);
  }
  return table.text(terminal);
}

}  // namespace nearfar
