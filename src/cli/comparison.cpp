// Speedups, their geometric mean, and the table with bars that shows them.
#include "cli/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/bars.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "stats/csv.h"

namespace nearfar {

double geometric_mean(const std::vector<double>& values) {
  double logarithms = 0;
  for (const double value : values) logarithms += std::log(value);
  return values.empty() ? 0 : std::exp(logarithms / static_cast<double>(values.size()));
}

double ComparedCycles::mean() const {
  double sum = 0;
  for (const Cycle each : cycles) sum += static_cast<double>(each);
  return sum / static_cast<double>(cycles.size());
}

namespace {

/// The speedups of `run` over `base`, by draw, and what they come to.
std::vector<double> measure_run(const ComparedCycles& base, ComparedCycles& run) {
  std::vector<double> speedups;
  for (std::size_t draw = 0; draw < run.cycles.size(); ++draw) {
    speedups.push_back(static_cast<double>(base.cycles[draw]) / static_cast<double>(run.cycles[draw]));
  }
  run.interval = geometric_interval_of(speedups);
  run.speedup = run.interval.mean;
  return speedups;
}

}  // namespace

void measure(Comparison& comparison) {
  comparison.geometric_means.clear();
  comparison.mean_intervals.clear();
  // By variant and draw: the speedups of all workloads.
  std::vector<std::vector<std::vector<double>>> by_draw(comparison.variants.size(),
                                                        std::vector<std::vector<double>>(comparison.repeats));
  for (auto& row : comparison.runs) {
    for (std::size_t v = 0; v < row.size(); ++v) {
      const std::vector<double> speedups = measure_run(row.front(), row[v]);
      for (std::size_t draw = 0; draw < speedups.size(); ++draw) by_draw[v][draw].push_back(speedups[draw]);
      for (std::size_t i = 0; i < row[v].applications.size(); ++i) {
        measure_run(row.front().applications[i], row[v].applications[i]);
      }
    }
  }
  for (const auto& draws_of_variant : by_draw) {
    std::vector<double> means;
    for (const std::vector<double>& speedups : draws_of_variant) means.push_back(geometric_mean(speedups));
    comparison.mean_intervals.push_back(geometric_interval_of(means));
    comparison.geometric_means.push_back(comparison.mean_intervals.back().mean);
  }
}

std::string speedup_text(double speedup, const Interval& interval) {
  const std::string text = fixed(speedup, 3);
  return interval.has_spread() ? fmt::format("{} ±{}", text, fixed(interval.half_width(), 3)) : text;
}

std::string noise_text(const Interval& interval) { return interval.within_noise_of(1) ? "within noise" : ""; }

namespace {

/// Rows of cycles and speedups, with bars, which share their scale.
class SpeedupTable {
 public:
  SpeedupTable(const Comparison& comparison, const std::string& what) : comparison_(comparison), table_(columns(what)) {
    for (const auto& row : comparison.runs) {
      for (const ComparedRun& run : row) {
        see(run);
        for (const ComparedApplication& application : run.applications) see(application);
      }
    }
  }

  void row(const std::string& title, std::size_t variant, const ComparedCycles& run) {
    row(title, variant, grouped(static_cast<std::uint64_t>(std::llround(run.mean()))), run.speedup, run.interval);
  }
  /// What the others are measured against has no noise of its own to be within.
  void row(const std::string& title, std::size_t variant, const std::string& cycles, double speedup,
           const Interval& interval) {
    std::vector<std::string> cells = {variant == 0 ? title : "", comparison_.variants[variant], cycles};
    cells.push_back(variant == 0 ? fixed(speedup, 3) : speedup_text(speedup, interval));
    if (repeated()) cells.push_back(variant == 0 ? "" : noise_text(interval));
    cells.push_back(bar_with_whisker(speedup, interval.high, largest_, kWideBarWidth));
    table_.row(cells);
  }
  void blank_line() { table_.blank_line(); }
  std::string text(const Terminal& terminal) const { return table_.text(terminal); }

 private:
  std::vector<Table::Column> columns(const std::string& what) const {
    std::vector<Table::Column> columns = {{what}, {""}, {"cycles", Align::Right}, {"speedup", Align::Right}};
    if (repeated()) columns.push_back({"", Align::Left, Tint::Dim});
    columns.push_back({"", Align::Left, Tint::Cyan});
    return columns;
  }
  bool repeated() const { return comparison_.repeats > 1; }
  void see(const ComparedCycles& run) { largest_ = std::max({largest_, run.speedup, run.interval.high}); }

  const Comparison& comparison_;
  Table table_;
  double largest_ = 0;
};

/// The applications of the workloads that are several; nothing where none is.
std::string compared_applications(const Comparison& comparison, const Terminal& terminal) {
  SpeedupTable table(comparison, "application");
  bool any = false;
  for (std::size_t w = 0; w < comparison.workloads.size(); ++w) {
    const auto& row = comparison.runs[w];
    for (std::size_t i = 0; i < row.front().applications.size(); ++i) {
      if (any) table.blank_line();
      any = true;
      for (std::size_t v = 0; v < row.size(); ++v) {
        const ComparedApplication& application = row[v].applications[i];
        table.row(fmt::format("{}, GPU {}: {}", comparison.workloads[w], i, application.name), v, application);
      }
    }
  }
  return any ? "\n" + table.text(terminal) : "";
}

}  // namespace

std::string comparison_table(const Comparison& comparison, const Terminal& terminal) {
  SpeedupTable table(comparison, "workload");
  for (std::size_t w = 0; w < comparison.workloads.size(); ++w) {
    for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
      table.row(comparison.workloads[w], v, comparison.runs[w][v]);
    }
    table.blank_line();
  }
  for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
    table.row("geometric mean", v, "", comparison.geometric_means[v], comparison.mean_intervals[v]);
  }
  return table.text(terminal) + compared_applications(comparison, terminal);
}

std::string comparison_csv(const Comparison& comparison) {
  std::string out = "workload,gpu,application,variant,cycles,speedup,low,high,repeats\n";
  const auto line = [&](std::size_t workload, const std::string& place, std::size_t variant,
                        const ComparedCycles& run) {
    out += fmt::format("{},{},{},{},{},{},{},{}\n", csv_field(comparison.workloads[workload]), place,
                       csv_field(comparison.variants[variant]), run.mean(), run.speedup, run.interval.low,
                       run.interval.high, comparison.repeats);
  };
  for (std::size_t w = 0; w < comparison.workloads.size(); ++w) {
    for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
      const ComparedRun& run = comparison.runs[w][v];
      line(w, ",", v, run);
      for (std::size_t i = 0; i < run.applications.size(); ++i) {
        line(w, fmt::format("{},{}", i, csv_field(run.applications[i].name)), v, run.applications[i]);
      }
    }
  }
  return out;
}

}  // namespace nearfar
