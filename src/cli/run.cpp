// `nearfar run`: one run, its summary, and its complete result as JSON or CSV.
#include <unistd.h>

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <stdexcept>
#include <tuple>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/result_csv.h"
#include "cli/result_json.h"
#include "cli/summary.h"
#include "cli/timeline_json.h"
#include "config/error.h"
#include "config/words.h"
#include "study/child.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kMostDescriptors = 1 << 20;

struct RunArguments {
  std::string workload;
  ExperimentArguments experiment;
  std::string system = kDefaultSystem;
  std::vector<std::string> overrides;
  std::string design = "baseline";
  std::string json, csv;
  std::string progress;  ///< number of a descriptor
  std::string timeline, timeline_gpu, timeline_bytes, timeline_cycles;
};

/// "FROM-TO", decimal or hexadecimal, each end included.
std::pair<std::uint64_t, std::uint64_t> parse_range(const std::string& option, const std::string& text) {
  const std::size_t dash = text.find('-');
  try {
    std::size_t first_end = 0;
    std::size_t last_end = 0;
    if (dash == std::string::npos) throw std::invalid_argument(text);
    const std::string to = text.substr(dash + 1);
    const std::uint64_t first = std::stoull(text, &first_end, 0);
    const std::uint64_t last = std::stoull(to, &last_end, 0);
    if (first_end != dash || last_end != to.size() || first > last) throw std::invalid_argument(text);
    return {first, last};
  } catch (const std::logic_error&) {
    throw InputError(fmt::format("{} takes a range such as 1000-2000 or 0x1000-0x1fff, not `{}`.", option, text));
  }
}

TimelineFilter timeline_filter(const RunArguments& arguments, const SystemSpec& system) {
  TimelineFilter filter;
  filter.on = !arguments.timeline.empty();
  if (!arguments.timeline_bytes.empty()) {
    std::tie(filter.first_byte, filter.last_byte) = parse_range("--timeline-addresses", arguments.timeline_bytes);
  }
  if (!arguments.timeline_cycles.empty()) {
    std::tie(filter.from, filter.to) = parse_range("--timeline-cycles", arguments.timeline_cycles);
  }
  if (!arguments.timeline_gpu.empty()) {
    filter.device = parse_range("--timeline-gpu", arguments.timeline_gpu + "-" + arguments.timeline_gpu).first;
    if (filter.device >= system.gpus) {
      throw InputError(fmt::format("--timeline-gpu {}: the system has GPUs 0 to {}.", filter.device, system.gpus - 1));
    }
  }
  const bool filtered =
      !arguments.timeline_bytes.empty() || !arguments.timeline_cycles.empty() || !arguments.timeline_gpu.empty();
  if (filtered && !filter.on)
    throw InputError("--timeline-… choose what goes into a timeline; name its file with --timeline FILE.");
  return filter;
}

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

  const NamedSystem machine = make_machine(arguments.system, arguments.design, arguments.overrides);
  Experiment experiment = arguments.experiment.experiment();
  experiment.timeline = timeline_filter(arguments, machine.loaded.spec);
  std::optional<OutputFile> timeline;
  if (experiment.timeline.on) timeline.emplace(arguments.timeline);
  if (timeline && timeline->is_stdout()) throw InputError("--timeline takes a file, not standard output.");
  std::optional<int> listener;
  if (!arguments.progress.empty()) {
    listener = static_cast<int>(parse_whole(kProgressOption, arguments.progress, 0, kMostDescriptors));
  }
  const auto applications = make_applications(arguments.workload, experiment, {arguments.workload});
  check_fits(arguments.workload, applications, machine);

  const Terminal error_terminal = arguments.experiment.quiet ? Terminal{} : Terminal::of(STDERR_FILENO);
  std::optional<ProgressLine> line(std::in_place, arguments.workload, error_terminal);
  const Report report = perform(arguments.workload, applications, experiment, machine, [&](const Progress& progress) {
    line->update(progress);
    if (listener) write_progress(*listener, progress);
  });
  line.reset();

  if (json) json->write(run_json(report));
  if (csv) csv->write(run_csv(report));
  if (timeline) timeline->write(timeline_json(report));
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
  add_hidden_value(app, kProgressOption, arguments->progress);
  add_value(app, "--timeline", arguments->timeline, kFile,
            "Write the life of translation requests, walkers, queues and migrations as a Chrome trace (Perfetto)");
  add_value(app, "--timeline-gpu", arguments->timeline_gpu, kNumber, "Only what one GPU does");
  add_value(app, "--timeline-addresses", arguments->timeline_bytes, kRange, "Only pages of these virtual addresses");
  add_value(app, "--timeline-cycles", arguments->timeline_cycles, kRange, "Only what happens in these cycles");
  return {&app, [arguments] { perform_run(*arguments); }};
}

}  // namespace nearfar
