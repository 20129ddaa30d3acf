// What `compare` finds out: every workload on every variant, and how the variants do against the first.
#pragma once

#include <string>
#include <vector>

#include "cli/terminal.h"
#include "study/experiment.h"

namespace nearfar {

struct ComparedRun {
  Report report;
  double speedup = 1;  ///< cycles of the first variant over those of this one
};

struct Comparison {
  std::vector<std::string> workloads;
  std::vector<std::string> variants;           ///< labels; the first is what the others are measured against
  std::vector<std::vector<ComparedRun>> runs;  ///< by workload, then by variant
  std::vector<double> geometric_means;         ///< of the speedups, by variant
};

double geometric_mean(const std::vector<double>& values);

/// Fills in speedups and means.
void measure(Comparison& comparison);

std::string comparison_table(const Comparison& comparison, const Terminal& terminal);

}  // namespace nearfar
