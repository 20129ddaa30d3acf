// `nearfar run`: one run, its summary, and its complete result as JSON or CSV.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/numbers.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/result_csv.h"
#include "cli/result_json.h"
#include "cli/summary.h"
#include "cli/timeline_json.h"
#include "cli/timeline_options.h"
#include "config/error.h"
#include "config/words.h"
#include "stats/interval.h"
#include "study/child.h"
#include "study/named_run.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kMostDescriptors = 1 << 20;

struct RunArguments {
  std::string workload;
  ExperimentArguments experiment;
  std::string system = kDefaultSystem;
  std::string instances;
  std::vector<std::string> overrides;
  std::string design = "baseline";
  std::string repeat = "1";
  std::string json, csv;
  std::string progress;  ///< number of a descriptor
  TimelineArguments timeline;
};

/// A file holds one result; which of several it should be nobody has said.
void refuse_files(const RunArguments& arguments) {
  for (const auto& [option, file] : {std::pair{"--json", &arguments.json}, std::pair{"--csv", &arguments.csv},
                                     std::pair{"--timeline", &arguments.timeline.file}}) {
    if (file->empty()) continue;
    throw InputError(fmt::format(
        "{0} holds one result, and --repeat makes several; run each with --set {1}=0, {1}=1, … and its own {0}.",
        option, kDrawKey));
  }
}

/// What repeats say about the cycles of a run.
std::string repeats_text(const std::vector<Cycle>& cycles) {
  const std::vector<double> values(cycles.begin(), cycles.end());
  const Interval interval = interval_of(values);
  return fmt::format("\nof {} repeats  cycles {} ±{} ({} %), 95 % interval of the mean; smallest {}, largest {}\n",
                     cycles.size(), grouped(static_cast<std::uint64_t>(std::llround(interval.mean))),
                     grouped(static_cast<std::uint64_t>(std::llround(interval.half_width()))),
                     fixed(100 * interval.half_width() / interval.mean, 2), grouped(std::ranges::min(cycles)),
                     grouped(std::ranges::max(cycles)));
}

void perform_run(RunArguments arguments) {
  arguments.overrides = with_instances(arguments.overrides, arguments.instances);
  if (arguments.workload.empty()) {
    throw InputError(
        "`nearfar run` needs a WORKLOAD, as in `nearfar run MT`; `nearfar list workloads` shows them all.");
  }
  std::optional<OutputFile> json, csv, timeline;
  if (!arguments.json.empty()) json.emplace(arguments.json);
  if (!arguments.csv.empty()) csv.emplace(arguments.csv);
  if (!arguments.timeline.file.empty()) timeline.emplace(arguments.timeline.file);
  if (timeline && timeline->is_stdout()) throw InputError("--timeline takes a file, not standard output.");
  const bool to_stdout = check_outputs({&json, &csv, &timeline});

  const std::uint32_t repeats = read_repeat(arguments.repeat, arguments.overrides);
  if (repeats > 1) refuse_files(arguments);
  const std::vector<NamedSystem> machines =
      repeated_machine(arguments.system, arguments.design, arguments.overrides, repeats);
  const NamedSystem& machine = machines.front();
  Experiment experiment = arguments.experiment.experiment({arguments.workload});
  experiment.timeline = timeline_filter(arguments.timeline, machine.loaded.spec);
  std::optional<int> listener;
  if (!arguments.progress.empty()) {
    listener = static_cast<int>(parse_whole(kProgressOption, arguments.progress, 0, kMostDescriptors));
  }
  const auto applications = make_applications(arguments.workload, experiment, {arguments.workload});
  check_fits(arguments.workload, applications, machine);
  experiment.timeline.ranges = timeline_ranges(arguments.timeline, applications);

  const Terminal error_terminal = arguments.experiment.quiet ? Terminal{} : Terminal::of(STDERR_FILENO);
  const auto one_run = [&](const NamedSystem& on, const std::string& title) {
    ProgressLine line(title, error_terminal);
    return perform(arguments.workload, applications, experiment, on, [&](const Progress& progress) {
      line.update(progress);
      if (listener) write_progress(*listener, progress);
    });
  };
  Report report = one_run(machine, arguments.workload);
  std::vector<Cycle> cycles = {report.result.cycles};
  while (cycles.size() < machines.size()) {
    const std::string title = fmt::format("[{}/{}] {}", cycles.size() + 1, machines.size(), arguments.workload);
    cycles.push_back(one_run(machines[cycles.size()], title).result.cycles);
  }

  if (json) json->write(run_json(report));
  if (csv) csv->write(run_csv(report));
  if (timeline) timeline->write(timeline_json(report, timeline_limit(arguments.timeline)));
  if (const std::string note = timeline_note(report); !note.empty()) fmt::print(stderr, "nearfar: {}\n", note);
  if (arguments.experiment.quiet || to_stdout) return;
  write_stdout(summary(report, Terminal::of(STDOUT_FILENO)) + (repeats > 1 ? repeats_text(cycles) : ""));
}

void add_timeline_options(CLI::App& app, TimelineArguments& timeline) {
  using namespace value_kind;
  add_value(app, "--timeline", timeline.file, kFile,
            "Write what happened when as a Chrome trace (Perfetto); --timeline-of says what");
  add_value(app, "--timeline-of", timeline.of, kTimelineSubject,
            fmt::format("What it shows: translation, data, links, dram, launches, or all ({} when not given)",
                        kUsualTimelineSubjects));
  add_value(app, "--timeline-address", timeline.address, kAddresses,
            "Only these virtual addresses: FROM-TO or buffer:NAME+OFFSET:LENGTH, or several as A,B");
  add_value(app, "--timeline-cycles", timeline.cycles, kRange, "Only what happens in these cycles");
  add_value(app, "--timeline-gpu", timeline.gpu, kNumber, "Only what one GPU does");
  add_value(app, "--timeline-limit", timeline.limit, kFileSize,
            fmt::format("Most that the file may have ({} when not given); what comes later is left out",
                        kUsualTimelineLimit));
}

void add_run_options(CLI::App& app, RunArguments& arguments) {
  using namespace value_kind;
  add_value(app, "--system", arguments.system, kSystem, "The machine: a name in systems/ or a file that ends in .yaml");
  add_instances_option(app, arguments.instances);
  add_set_option(app, arguments.overrides);
  add_value(app, "--design", arguments.design, kDesign, "What is changed in the machine; several as a+b");
  add_repeat_option(app, arguments.repeat);
  add_experiment_options(app, arguments.experiment);
  add_value(app, "--json", arguments.json, kFile, "Write the complete result as JSON; - is standard output");
  add_value(app, "--csv", arguments.csv, kFile, "Write the statistics as CSV; - is standard output");
  add_hidden_value(app, kProgressOption, arguments.progress);
  add_timeline_options(app, arguments.timeline);
}

}  // namespace

Command add_run_command(CLI::App& program) {
  auto arguments = std::make_shared<RunArguments>();
  CLI::App& app = add_command(program, "run", "Run one workload on one system and sum up what happened");
  add_value(app, "WORKLOAD", arguments->workload, value_kind::kWorkload,
            "A workload; several as FIR+KM+MT, or a mix as W1: one for each GPU; a trace as trace:FILE");
  add_run_options(app, *arguments);
  return {&app, [arguments] { perform_run(*arguments); }};
}

Command add_replay_command(CLI::App& trace) {
  auto arguments = std::make_shared<RunArguments>();
  auto file = std::make_shared<std::string>();
  CLI::App& app = add_command(trace, "replay", "Run a trace: the same as `nearfar run trace:FILE`");
  add_value(app, "FILE", *file, value_kind::kFile, "The trace");
  add_run_options(app, *arguments);
  return {&app, [arguments, file] {
            if (file->empty()) throw InputError("`nearfar trace replay` needs the FILE of a trace.");
            arguments->workload = std::string(kTracePrefix) + *file;
            perform_run(*arguments);
          }};
}

}  // namespace nearfar
