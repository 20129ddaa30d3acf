// `nearfar run`: one run, its summary, and its complete result as JSON or CSV.
#include <unistd.h>

#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/result_csv.h"
#include "cli/result_json.h"
#include "cli/summary.h"
#include "config/error.h"

namespace nearfar {
namespace {

struct RunArguments {
  std::string workload;
  ExperimentArguments experiment;
  std::string system = kDefaultSystem;
  std::vector<std::string> overrides;
  std::string design = "baseline";
  std::string json, csv;
};

void perform_run(const RunArguments& arguments) {
  if (arguments.workload.empty()) {
    throw InputError(
        "`nearfar run` needs a WORKLOAD, as in `nearfar run MT`; `nearfar list workloads` shows them all.");
  }
  std::optional<OutputFile> json, csv;
  if (!arguments.json.empty()) json.emplace(arguments.json);
  if (!arguments.csv.empty()) csv.emplace(arguments.csv);
  const bool stdout_taken = (json && json->is_stdout()) || (csv && csv->is_stdout());
  if (json && csv && json->is_stdout() && csv->is_stdout()) {
    throw InputError("--json - and --csv - cannot both go to standard output; give one of them a file.");
  }

  const Experiment experiment = arguments.experiment.experiment();
  const NamedSystem machine = make_machine(arguments.system, arguments.design, arguments.overrides);
  const auto applications = make_applications(arguments.workload, experiment, {arguments.workload});
  check_fits(arguments.workload, applications, machine);

  const Terminal error_terminal = arguments.experiment.quiet ? Terminal{} : Terminal::of(STDERR_FILENO);
  std::optional<ProgressLine> line(std::in_place, arguments.workload, error_terminal);
  const Report report = perform(arguments.workload, applications, experiment, machine,
                                [&](const Progress& progress) { line->update(progress); });
  line.reset();

  if (json) json->write(run_json(report));
  if (csv) csv->write(run_csv(report));
  if (!arguments.experiment.quiet && !stdout_taken) write_stdout(summary(report, Terminal::of(STDOUT_FILENO)));
}

}  // namespace

Command add_run_command(CLI::App& program) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App& app = add_command(program, "run", "Run one workload on one system and sum up what happened");
  using namespace value_kind;
  add_value(app, "WORKLOAD", arguments->workload, kWorkload,
            "A workload; several as FIR+KM+MT, or a mix as W1: one for each GPU");
  add_value(app, "--system", arguments->system, kSystem,
            "The machine: a name in systems/ or a file that ends in .yaml");
  add_set_option(app, arguments->overrides);
  add_value(app, "--design", arguments->design, kDesign, "What is changed in the machine; several as a+b");
  add_experiment_options(app, arguments->experiment);
  add_value(app, "--json", arguments->json, kFile, "Write the complete result as JSON; - is standard output");
  add_value(app, "--csv", arguments->csv, kFile, "Write the statistics as CSV; - is standard output");
  return {&app, [arguments] { perform_run(*arguments); }};
}

}  // namespace nearfar
