// From the words of a command to results in the store.
#include "cli/batch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <limits>
#include <map>

#include "cli/study_view.h"
#include "config/error.h"
#include "config/words.h"
#include "sim/error.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kMostJobs = 4096;

}  // namespace

void add_store_options(CLI::App& app, BatchArguments& arguments) {
  using namespace value_kind;
  add_value(app, "--database", arguments.database, kFile, "The store of results; what it has is not run again");
  add_value(app, "--jobs", arguments.jobs, kNumber, "Runs at once; 0 is one for each core, as memory allows");
}

void add_batch_options(CLI::App& app, BatchArguments& arguments) {
  add_store_options(app, arguments);
  add_flag(app, "--quiet", arguments.quiet, "No progress");
}

unsigned jobs_of(const BatchArguments& arguments) {
  return static_cast<unsigned>(parse_whole("--jobs", arguments.jobs, 0, kMostJobs));
}

RunnerOutcome run_batch(const std::vector<PlannedRun>& runs, ResultStore& store, unsigned jobs, bool quiet,
                        const std::vector<std::string>& words) {
  StudyView view(Terminal::of(STDERR_FILENO));
  RunnerOptions options;
  options.jobs = jobs;
  options.words = words;
  options.on_progress = [&](const StudyProgress& progress) {
    if (!quiet) view.update(progress);
  };
  const RunnerOutcome outcome = run_missing(runs, store, options);
  if (outcome.interrupted) {
    throw Interrupted(
        fmt::format("ended early, {} new runs are kept; the same command goes on from there", outcome.done));
  }
  return outcome;
}

void refuse_failures(const RunnerOutcome& outcome, std::size_t runs) {
  if (outcome.failed == 0) return;
  throw SimulationError(
      fmt::format("{} of {} runs failed; what they said is above and in the store.", outcome.failed, runs));
}

void add_sweep_options(CLI::App& app, SweepArguments& arguments) {
  using namespace value_kind;
  add_words(app, "WORKLOADS", arguments.workloads, kWorkloads, "The workloads, each as `nearfar run` takes it");
  add_value(app, "--system", arguments.system, kSystem, "The machine: a name in systems/ or a file that ends in .yaml");
  add_set_option(app, arguments.overrides);
  add_value(app, "--size", arguments.size, kSize, "Size of the input: small, medium or paper");
  add_values(app, "--param", arguments.parameters, kParameter,
             "Set one parameter of the workload, over its size; may be repeated");
  add_value(app, "--seed", arguments.seed, kNumber, "Seed of the inputs that are drawn at random");
  add_repeat_option(app, arguments.repeat);
  add_input_option(app, arguments.input);
  add_batch_options(app, arguments.batch);
}

NamedRun sweep_run(const SweepArguments& arguments, const std::string& workload, const std::string& designs,
                   const std::vector<std::string>& settings) {
  NamedRun run;
  run.workload = workload;
  run.size = parse_size(arguments.size);
  run.parameters = parameters_for(workload, arguments.parameters, arguments.workloads);
  run.input = input_for_run(workload, arguments.input, arguments.workloads);
  run.system = arguments.system;
  run.designs = designs;
  run.overrides = arguments.overrides;
  run.overrides.insert(run.overrides.end(), settings.begin(), settings.end());
  run.seed = parse_whole("--seed", arguments.seed, 0, std::numeric_limits<std::uint64_t>::max());
  return run;
}

std::vector<StoredResult> run_sweep(const std::vector<NamedRun>& runs, const BatchArguments& arguments) {
  Planner planner;
  std::vector<PlannedRun> planned;
  planned.reserve(runs.size());
  for (const NamedRun& run : runs) planned.push_back(planner.plan(run));
  const unsigned jobs = jobs_of(arguments);
  ResultStore store(arguments.database);
  refuse_failures(run_batch(planned, store, jobs, arguments.quiet), runs.size());
  std::vector<StoredResult> results;
  results.reserve(planned.size());
  for (const PlannedRun& run : planned) results.push_back(*store.find(run.key));
  return results;
}

std::vector<std::vector<double>> repeat_sweep(const std::vector<NamedRun>& runs, const SweepArguments& arguments) {
  const std::uint32_t repeats = read_repeat(arguments.repeat, arguments.overrides);
  std::vector<NamedRun> all;
  for (const NamedRun& run : runs) {
    for (std::uint32_t draw = 0; draw < repeats; ++draw) {
      all.push_back(run);
      if (repeats > 1) all.back().draw = draw;
    }
  }
  const std::vector<StoredResult> results = run_sweep(all, arguments.batch);
  std::vector<std::vector<double>> cycles(runs.size());
  for (std::size_t i = 0; i < results.size(); ++i) {
    cycles[i / repeats].push_back(static_cast<double>(results[i].cycles));
  }
  return cycles;
}

std::string repeats_heading(const SweepArguments& arguments) {
  const std::uint32_t repeats = read_repeat(arguments.repeat, arguments.overrides);
  return repeats == 1 ? "" : fmt::format(", mean and 95 % interval of {} repeats", repeats);
}

}  // namespace nearfar
