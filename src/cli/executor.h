// Where many runs go: the cores of this machine, or a cluster. What `study` and `calibrate` share.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "study/runner.h"

namespace nearfar {

struct ExecutorArguments {
  std::string database = kDefaultDatabase;
  std::string jobs = "0", timeout = "0";
  std::string executor = "local";
  std::string slurm_options, chunk = "0";
  bool quiet = false;
};

void add_executor_options(CLI::App& app, ExecutorArguments& arguments);

/// Refuses what makes no sense. To be done before a store is opened: a mistake must not leave an empty one.
void check_executor(const ExecutorArguments& arguments);

/// Runs what the store lacks and shows how far it is. Throws Interrupted when a person ends it.
RunnerOutcome execute_runs(const ExecutorArguments& arguments, const std::vector<PlannedRun>& runs, ResultStore& store);

}  // namespace nearfar
