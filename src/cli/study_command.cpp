// `nearfar study`: many runs on all cores or on a cluster, resumed where they ended, and the tables made of them.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/plan.h"
#include "cli/study_table.h"
#include "cli/study_view.h"
#include "config/error.h"
#include "config/nearest.h"
#include "config/words.h"
#include "sim/error.h"
#include "study/derive.h"
#include "study/slurm.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kMostJobs = 4096;
constexpr std::uint64_t kMostSeconds = 365ULL * 24 * 3600;

struct StudyArguments {
  std::string study;
  std::string database = kDefaultDatabase;
  std::string jobs = "0", size, timeout = "0", csv, repeat;
  std::string executor = "local";
  std::string slurm_options, chunk = "0";
  bool quick = false, whole = false, dry_run = false, quiet = false;
};

Study read(const StudyArguments& arguments) {
  if (arguments.study.empty()) {
    throw InputError(
        "`nearfar study` needs a STUDY, as in `nearfar study least-tlb-fig4`; `nearfar list studies` shows them all.");
  }
  StudyChanges changes;
  if (!arguments.size.empty()) changes.size = parse_size(arguments.size);
  if (arguments.quick) {
    if (changes.size && *changes.size != SizeClass::Small)
      throw InputError("--quick is --size small; give one of them.");
    changes.size = SizeClass::Small;
  }
  changes.whole = arguments.whole;
  changes.repeat = read_study_repeat(arguments.repeat, arguments.quick);
  return read_study(arguments.study, changes);
}

struct StudyNumbers {
  unsigned jobs, chunk;
  double timeout;
};

/// Read before the store is opened: a mistake in one of them must not leave an empty store.
StudyNumbers read_numbers(const StudyArguments& arguments) {
  return {static_cast<unsigned>(parse_whole("--jobs", arguments.jobs, 0, kMostJobs)),
          static_cast<unsigned>(parse_whole("--chunk", arguments.chunk, 0, kMostJobs)),
          static_cast<double>(parse_whole("--timeout", arguments.timeout, 0, kMostSeconds))};
}

RunnerOutcome execute(const StudyArguments& arguments, const StudyNumbers& numbers, const Planned& planned,
                      ResultStore& store) {
  StudyView view(Terminal::of(STDERR_FILENO));
  const auto on_progress = [&](const StudyProgress& progress) {
    if (!arguments.quiet) view.update(progress);
  };
  RunnerOptions options;
  options.jobs = numbers.jobs;
  options.timeout = numbers.timeout;
  options.on_progress = on_progress;
  if (arguments.executor == "local") return run_missing(planned.runs, store, options);
  SlurmOptions slurm;
  slurm.chunk = numbers.chunk;
  slurm.on_progress = on_progress;
  for (const std::string& word : split(arguments.slurm_options, ' ')) {
    if (!word.empty()) slurm.options.push_back(word);
  }
  return run_on_slurm(planned.runs, store, slurm);
}

void check_executor(const std::string& executor) {
  const std::vector<std::string> executors = {"local", "slurm"};
  if (std::ranges::find(executors, executor) == executors.end()) {
    throw InputError(
        fmt::format("--executor is local or slurm, not `{}`.{}", executor, did_you_mean(executor, executors)));
  }
}

std::string closing(const Study& study, const RunnerOutcome& outcome, const Planned& planned) {
  std::string out = fmt::format("{}: {} runs, {} of them new", study.id, outcome.present + outcome.done, outcome.done);
  if (outcome.failed > 0) out += fmt::format("; {} failed", outcome.failed);
  if (!planned.unmeasurable.empty()) out += fmt::format("; {} not measurable yet", planned.unmeasurable.size());
  return out + "\n";
}

void perform_study(const StudyArguments& arguments) {
  const Study study = read(arguments);
  check_executor(arguments.executor);
  const StudyNumbers numbers = read_numbers(arguments);
  std::optional<OutputFile> csv;
  if (!arguments.csv.empty()) csv.emplace(arguments.csv);
  const std::vector<NamedRun> runs = study_runs(study);
  const Planned planned = plan_runs(runs);
  if (arguments.dry_run) return show_plan(planned, ResultStore::to_look_at(arguments.database));
  ResultStore store(arguments.database);
  const RunnerOutcome outcome = execute(arguments, numbers, planned, store);
  if (outcome.interrupted) {
    throw Interrupted(fmt::format("ended early, {} new runs are kept; the same command goes on from there{}",
                                  outcome.done,
                                  arguments.executor == "slurm" ? " (the jobs of Slurm go on meanwhile)" : ""));
  }
  const std::vector<FigureData> figures = derive(study, StudyResults(runs, store));
  if (csv) csv->write(figures_csv(figures));
  if (!(csv && csv->is_stdout())) {
    const Terminal terminal = Terminal::of(STDOUT_FILENO);
    std::string text;
    for (const FigureData& figure : figures) text += figure_table(figure, terminal) + "\n";
    write_stdout(text + closing(study, outcome, planned));
  }
  if (outcome.failed > 0) {
    throw SimulationError(fmt::format("{} of {} runs failed; what they said is above and in the store.", outcome.failed,
                                      planned.runs.size()));
  }
}

}  // namespace

Command add_study_command(CLI::App& program) {
  auto arguments = std::make_shared<StudyArguments>();
  CLI::App& app = add_command(program, "study", "Run a study: many runs, on all cores, and the tables made of them");
  using namespace value_kind;
  add_value(app, "STUDY", arguments->study, kStudy, "A name in studies/, or a file that ends in .yaml");
  add_value(app, "--database", arguments->database, kFile, "The store of results; what it has is not run again");
  add_value(app, "--size", arguments->size, kSize, "Size of all workloads, whatever the study says");
  add_flag(app, "--quick", arguments->quick, "The same as --size small --repeat 1");
  add_flag(app, "--whole", arguments->whole, "Whole inputs, where the study runs a window of them");
  add_study_repeat_option(app, arguments->repeat);
  add_value(app, "--jobs", arguments->jobs, kNumber, "Runs at once; 0 is one for each core, as memory allows");
  add_value(app, "--timeout", arguments->timeout, kNumber, "Seconds that a run may take; 0 is any time");
  add_flag(app, "--dry-run", arguments->dry_run, "Only show what would be run");
  add_value(app, "--csv", arguments->csv, kFile, "Write all values as CSV; - is standard output");
  add_value(app, "--executor", arguments->executor, kExecutor, "Where runs go: local, or slurm for a cluster");
  add_value(app, "--slurm-options", arguments->slurm_options, kWords,
            "For sbatch, such as \"--partition=long --time=60\"");
  add_value(app, "--chunk", arguments->chunk, kNumber, "Most runs of one Slurm task; 0 is about a minute's worth");
  add_flag(app, "--quiet", arguments->quiet, "No progress, only the tables");
  return {&app, [arguments] { perform_study(*arguments); }};
}

}  // namespace nearfar
