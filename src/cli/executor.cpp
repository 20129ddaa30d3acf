#include "cli/executor.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "cli/study_view.h"
#include "config/error.h"
#include "config/nearest.h"
#include "config/words.h"
#include "study/slurm.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kMostAtOnce = 4096;
constexpr std::uint64_t kMostSeconds = 365ULL * 24 * 3600;

struct ExecutorNumbers {
  unsigned jobs, chunk;
  double timeout;
};

ExecutorNumbers read_numbers(const ExecutorArguments& arguments) {
  return {static_cast<unsigned>(parse_whole("--jobs", arguments.jobs, 0, kMostAtOnce)),
          static_cast<unsigned>(parse_whole("--chunk", arguments.chunk, 0, kMostAtOnce)),
          static_cast<double>(parse_whole("--timeout", arguments.timeout, 0, kMostSeconds))};
}

RunnerOutcome run_all(const ExecutorArguments& arguments, const std::vector<PlannedRun>& runs, ResultStore& store) {
  const ExecutorNumbers numbers = read_numbers(arguments);
  StudyView view(Terminal::of(STDERR_FILENO));
  const auto on_progress = [&](const StudyProgress& progress) {
    if (!arguments.quiet) view.update(progress);
  };
  RunnerOptions options;
  options.jobs = numbers.jobs;
  options.timeout = numbers.timeout;
  options.on_progress = on_progress;
  if (arguments.executor == "local") return run_missing(runs, store, options);
  SlurmOptions slurm;
  slurm.chunk = numbers.chunk;
  slurm.on_progress = on_progress;
  for (const std::string& word : split(arguments.slurm_options, ' ')) {
    if (!word.empty()) slurm.options.push_back(word);
  }
  return run_on_slurm(runs, store, slurm);
}

}  // namespace

void add_executor_options(CLI::App& app, ExecutorArguments& arguments) {
  using namespace value_kind;
  add_value(app, "--database", arguments.database, kFile, "The store of results; what it has is not run again");
  add_value(app, "--jobs", arguments.jobs, kNumber, "Runs at once; 0 is one for each core, as memory allows");
  add_value(app, "--timeout", arguments.timeout, kNumber, "Seconds that a run may take; 0 is any time");
  add_value(app, "--executor", arguments.executor, kExecutor, "Where runs go: local, or slurm for a cluster");
  add_value(app, "--slurm-options", arguments.slurm_options, kWords,
            "For sbatch, such as \"--partition=long --time=60\"");
  add_value(app, "--chunk", arguments.chunk, kNumber, "Most runs of one Slurm task; 0 is about a minute's worth");
  add_flag(app, "--quiet", arguments.quiet, "No progress, only the tables");
}

void check_executor(const ExecutorArguments& arguments) {
  const std::vector<std::string> executors = {"local", "slurm"};
  if (std::ranges::find(executors, arguments.executor) == executors.end()) {
    throw InputError(fmt::format("--executor is local or slurm, not `{}`.{}", arguments.executor,
                                 did_you_mean(arguments.executor, executors)));
  }
  read_numbers(arguments);
}

RunnerOutcome execute_runs(const ExecutorArguments& arguments, const std::vector<PlannedRun>& runs,
                           ResultStore& store) {
  const RunnerOutcome outcome = run_all(arguments, runs, store);
  if (outcome.interrupted) {
    throw Interrupted(fmt::format("ended early, {} new runs are kept; the same command goes on from there{}",
                                  outcome.done,
                                  arguments.executor == "slurm" ? " (the jobs of Slurm go on meanwhile)" : ""));
  }
  return outcome;
}

}  // namespace nearfar
