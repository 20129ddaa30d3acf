// Runs on a cluster: what the store lacks becomes job arrays of Slurm, and the results that appear in the shared folder
// beside the store are collected into it. Ending this program early leaves the jobs at work; the next one collects.
#pragma once

#include <string>
#include <vector>

#include "study/runner.h"

namespace nearfar {

struct SlurmOptions {
  unsigned chunk = 0;                ///< runs of one task, at most; 0: as many as take about a minute together
  std::vector<std::string> options;  ///< for sbatch: --partition=long, --time=2:00:00
  double poll_seconds = 2;
  std::string program;  ///< what the jobs start; empty: this program itself
  std::function<void(const StudyProgress&)> on_progress;
};

RunnerOutcome run_on_slurm(const std::vector<PlannedRun>& runs, ResultStore& store, const SlurmOptions& options);

}  // namespace nearfar
