// Many runs for one command: what is in the store already is taken from there, the rest is run on all cores.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/arguments.h"
#include "study/runner.h"

namespace nearfar {

struct BatchArguments {
  std::string database = kDefaultDatabase;
  std::string jobs = "0";
  bool quiet = false;
};

/// --database and --jobs.
void add_store_options(CLI::App& app, BatchArguments& arguments);
/// The same and --quiet.
void add_batch_options(CLI::App& app, BatchArguments& arguments);

/// The number of --jobs. Read before a store is opened: a mistake in it must not leave an empty one.
unsigned jobs_of(const BatchArguments& arguments);

/// Runs what is missing and shows how far it is; `words` are more words for `nearfar run`. Throws Interrupted when a
/// person ends it.
RunnerOutcome run_batch(const std::vector<PlannedRun>& runs, ResultStore& store, unsigned jobs, bool quiet,
                        const std::vector<std::string>& words = {});
/// Complains of runs that failed.
void refuse_failures(const RunnerOutcome& outcome, std::size_t runs);

/// What is common to the runs of a command that makes them itself.
struct SweepArguments {
  BatchArguments batch;
  std::vector<std::string> workloads;
  std::string size = "medium", seed = "1", repeat = "1", input, system = kDefaultSystem;
  std::vector<std::string> parameters, overrides;
};

void add_sweep_options(CLI::App& app, SweepArguments& arguments);

/// A run of one of the workloads, with these designs and settings on top of the command's.
NamedRun sweep_run(const SweepArguments& arguments, const std::string& workload, const std::string& designs,
                   const std::vector<std::string>& settings);

/// Runs all; the results in the order of `runs`. A run that fails is a SimulationError.
std::vector<StoredResult> run_sweep(const std::vector<NamedRun>& runs, const BatchArguments& arguments);

/// The same, each run as often as --repeat says: the cycles of each run, by draw.
std::vector<std::vector<double>> repeat_sweep(const std::vector<NamedRun>& runs, const SweepArguments& arguments);

/// ", mean and 95 % interval of 5 repeats" for a heading; nothing where each run is made once.
std::string repeats_heading(const SweepArguments& arguments);

}  // namespace nearfar
