// What `compare` finds out: every workload on every variant, and how the variants do against the first.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "sim/types.h"
#include "stats/interval.h"

namespace nearfar {

/// How a run, or one application of it, does on a variant.
struct ComparedCycles {
  std::vector<Cycle> cycles{};  ///< of each draw
  double speedup = 1;           ///< cycles of the first variant over those of this one: the geometric mean over draws
  Interval interval{};          ///< of the speedup, baseline and variant paired by draw

  /// Of all draws.
  double mean() const;
};

struct ComparedApplication : ComparedCycles {
  std::string name;
};

struct ComparedRun : ComparedCycles {
  std::vector<ComparedApplication> applications{};  ///< where it is several: the one of GPU 0, 1, …
  std::string result{};                             ///< the complete JSON of the first draw
};

struct Comparison {
  std::vector<std::string> workloads;
  std::vector<std::string> variants;           ///< labels; the first is what the others are measured against
  std::vector<std::vector<ComparedRun>> runs;  ///< by workload, then by variant
  std::vector<double> geometric_means;         ///< of the speedups, by variant
  std::vector<Interval> mean_intervals{};      ///< of these: over draws, of the geometric mean of each draw
  std::size_t repeats = 1;                     ///< draws of each run
};

double geometric_mean(const std::vector<double>& values);

/// Fills in speedups and means.
void measure(Comparison& comparison);

/// "1.230 ±0.012", or "1.230" where the spread is not known.
std::string speedup_text(double speedup, const Interval& interval);
/// "within noise" where a speedup cannot be told from none.
std::string noise_text(const Interval& interval);

/// A row for each workload on each variant, and behind them one for each application of those that are several.
std::string comparison_table(const Comparison& comparison, const Terminal& terminal);

/// The same as CSV, with both ends of intervals.
std::string comparison_csv(const Comparison& comparison);

}  // namespace nearfar
