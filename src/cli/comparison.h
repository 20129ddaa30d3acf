// What `compare` finds out: every workload on every variant, and how the variants do against the first.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "stats/interval.h"
#include "study/experiment.h"

namespace nearfar {

struct ComparedRun {
  Report report;                ///< of the first draw, where the run was repeated
  std::vector<Cycle> cycles{};  ///< of each draw; empty: of the report alone
  double speedup = 1;           ///< cycles of the first variant over those of this one: the geometric mean over draws
  Interval interval{};          ///< of the speedup, baseline and variant paired by draw

  /// Of one draw.
  Cycle cycles_of(std::size_t draw) const { return cycles.empty() ? report.result.cycles : cycles[draw]; }
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

/// Mean cycles of all draws.
double mean_cycles(const ComparedRun& run);

std::string comparison_table(const Comparison& comparison, const Terminal& terminal);

}  // namespace nearfar
