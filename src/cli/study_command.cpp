// `nearfar study`: many runs on all cores or on a cluster, resumed where they ended, and the tables made of them.
#include <fmt/format.h>
#include <unistd.h>

#include <memory>
#include <optional>

#include "cli/command.h"
#include "cli/executor.h"
#include "cli/output_file.h"
#include "cli/plan.h"
#include "cli/study_table.h"
#include "config/error.h"
#include "sim/error.h"
#include "study/derive.h"

namespace nearfar {
namespace {

struct StudyArguments {
  std::string study, size, csv, repeat;
  ExecutorArguments executor;
  bool quick = false, whole = false, dry_run = false;
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

std::string closing(const Study& study, const RunnerOutcome& outcome, const Planned& planned) {
  std::string out = fmt::format("{}: {} runs, {} of them new", study.id, outcome.present + outcome.done, outcome.done);
  if (outcome.failed > 0) out += fmt::format("; {} failed", outcome.failed);
  if (!planned.unmeasurable.empty()) out += fmt::format("; {} not measurable yet", planned.unmeasurable.size());
  return out + "\n";
}

void perform_study(const StudyArguments& arguments) {
  const Study study = read(arguments);
  check_executor(arguments.executor);
  std::optional<OutputFile> csv;
  if (!arguments.csv.empty()) csv.emplace(arguments.csv);
  const std::vector<NamedRun> runs = study_runs(study);
  const Planned planned = plan_runs(runs);
  if (arguments.dry_run) return show_plan(planned, ResultStore::to_look_at(arguments.executor.database));
  ResultStore store(arguments.executor.database);
  const RunnerOutcome outcome = execute_runs(arguments.executor, planned.runs, store);
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
  add_value(app, "--size", arguments->size, kSize, "Size of all workloads, whatever the study says");
  add_flag(app, "--quick", arguments->quick, "The same as --size small --repeat 1");
  add_flag(app, "--whole", arguments->whole, "Whole inputs, where the study runs a window of them");
  add_study_repeat_option(app, arguments->repeat);
  add_flag(app, "--dry-run", arguments->dry_run, "Only show what would be run");
  add_value(app, "--csv", arguments->csv, kFile, "Write all values as CSV; - is standard output");
  add_executor_options(app, arguments->executor);
  return {&app, [arguments] { perform_study(*arguments); }};
}

}  // namespace nearfar
