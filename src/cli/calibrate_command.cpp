// `nearfar calibrate`: readings of a paper's baseline against its published facts. Runs the baseline alone.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "calibrate/calibration_file.h"
#include "calibrate/calibration_page.h"
#include "calibrate/fact_runs.h"
#include "calibrate/frozen.h"
#include "calibrate/under_test.h"
#include "cli/calibration_table.h"
#include "cli/command.h"
#include "cli/executor.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/version.h"
#include "config/error.h"
#include "config/folder.h"
#include "config/words.h"
#include "sim/error.h"
#include "study/cost.h"
#include "study/run_key.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kMostReadings = 100'000;
constexpr std::uint64_t kMostWaves = 100;
constexpr std::size_t kQuickReadings = 8;
constexpr std::size_t kListedReadings = 10;

struct CalibrateArguments {
  std::string paper;
  std::string wave = "1", readings, repeat, html, csv, output;
  ExecutorArguments executor;
  bool quick = false, dry_run = false, freeze = false;
};

CampaignOptions options_of(const CalibrateArguments& arguments, const Calibration& calibration) {
  CampaignOptions options;
  options.waves = static_cast<unsigned>(parse_whole("--wave", arguments.wave, 1, kMostWaves));
  if (arguments.quick) options.readings = kQuickReadings;
  if (!arguments.readings.empty()) options.readings = parse_whole("--readings", arguments.readings, 1, kMostReadings);
  options.repeat = arguments.quick ? 1 : calibration.repeat;
  if (!arguments.repeat.empty())
    options.repeat = static_cast<std::uint32_t>(parse_whole("--repeat", arguments.repeat, 1, kMostRepeats));
  return options;
}

/// What the store's journal has readings of this calibration under.
std::string journal_subject(const Calibration& calibration) {
  return fmt::format("readings of {} {} {}", calibration.id, calibration.hash.substr(0, 16),
                     size_name(calibration.size));
}

/// The runs of trials. A trial whose machine cannot be made has none, and a reason.
struct PlannedTrials {
  std::vector<PlannedRun> runs;      ///< each once
  std::vector<NamedRun> names;       ///< of all that could be planned
  std::vector<std::string> refused;  ///< by trial; empty where it can run
};

PlannedTrials plan_trials(const Calibration& calibration, const std::vector<Trial>& trials) {
  PlannedTrials planned;
  Planner planner;
  std::set<std::string> keys;
  for (const Trial& trial : trials) {
    planned.refused.emplace_back();
    try {
      std::vector<PlannedRun> own;
      for (const NamedRun& run : runs_of(calibration, trial)) own.push_back(planner.plan(run));
      for (PlannedRun& run : own) {
        planned.names.push_back(run.run);
        if (keys.insert(run.key).second) planned.runs.push_back(std::move(run));
      }
    } catch (const InputError& error) {
      const std::string message = error.what();
      planned.refused.back() = "it cannot be made: " + message.substr(0, message.find('\n'));
    }
  }
  return planned;
}

std::vector<TrialOutcome> outcomes_of(const Calibration& calibration, const std::vector<Trial>& trials,
                                      const PlannedTrials& planned, const ResultStore& store) {
  const StudyResults results(planned.names, store);
  std::vector<TrialOutcome> outcomes;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (planned.refused[i].empty()) {
      outcomes.push_back(outcome_of(calibration, trials[i], results));
    } else {
      outcomes.push_back({std::vector<std::optional<double>>(calibration.targets().size()), planned.refused[i]});
    }
  }
  return outcomes;
}

/// Runs what the store lacks of some trials.
class Machines {
 public:
  Machines(const Calibration& calibration, const ExecutorArguments& executor, ResultStore& store)
      : calibration_(calibration), executor_(executor), store_(store) {}

  std::vector<TrialOutcome> operator()(const std::vector<Trial>& trials) {
    const PlannedTrials planned = plan_trials(calibration_, trials);
    for (const Trial& trial : trials) {
      if (trial.draw == 0)
        store_.note(journal_subject(calibration_), settings_text(settings_of(calibration_, trial.reading)));
    }
    const RunnerOutcome outcome = execute_runs(executor_, planned.runs, store_);
    new_runs_ += outcome.done, failed_ += outcome.failed, all_runs_ += outcome.done + outcome.present;
    return outcomes_of(calibration_, trials, planned, store_);
  }

  std::string closing() const {
    std::string out = fmt::format("{}: {} runs, {} of them new", calibration_.id, all_runs_, new_runs_);
    return out + (failed_ > 0 ? fmt::format("; {} failed\n", failed_) : "\n");
  }

 private:
  const Calibration& calibration_;
  const ExecutorArguments& executor_;
  ResultStore& store_;
  std::size_t all_runs_ = 0, new_runs_ = 0, failed_ = 0;
};

/// What the waves would run, as far as that can be said: a later wave follows from the results of those before it.
void show_calibration_plan(const Calibration& calibration, const CampaignOptions& options, const ResultStore& store) {
  const CostModel costs(store.known_costs());
  std::vector<ReadingOutcome> known;
  std::string text;
  for (unsigned wave = 1; wave <= options.waves; ++wave) {
    std::vector<Trial> trials;
    for (Reading& reading : wave_readings(calibration, wave, options.readings, known))
      trials.push_back({std::move(reading), 0});
    if (trials.empty()) {
      text += fmt::format("wave {}: follows from results that are still missing\n", wave);
      break;
    }
    const PlannedTrials planned = plan_trials(calibration, trials);
    std::size_t missing = 0;
    double seconds = 0;
    for (const PlannedRun& run : planned.runs) {
      if (store.contains(run.key)) continue;
      ++missing;
      seconds += costs.seconds(run);
    }
    text += fmt::format("wave {}: {} readings, {} runs of the baseline, {} missing", wave, trials.size(),
                        planned.runs.size(), missing);
    if (missing > 0) text += fmt::format(", about {} on one core", duration_text(seconds));
    text += "\n";
    const auto refused = std::ranges::count_if(planned.refused, [](const std::string& why) { return !why.empty(); });
    if (refused > 0) text += fmt::format("  {} of the readings cannot be made\n", refused);
    const std::vector<TrialOutcome> given = outcomes_of(calibration, trials, planned, store);
    for (std::size_t i = 0; i < trials.size(); ++i) {
      ReadingOutcome outcome;
      outcome.reading = trials[i].reading, outcome.problem = given[i].problem;
      for (const auto& value : given[i].values)
        outcome.draws.push_back(value ? std::vector<double>{*value} : std::vector<double>{});
      known.push_back(std::move(outcome));
    }
    judge(calibration, known);
  }
  if (options.repeat > 1)
    text += fmt::format("Readings near the facts run {} times; those runs come on top.\n", options.repeat);
  for (const LeftOut& each : calibration.open_left_out)
    text += fmt::format("Open, and not drawn: {}: {}\n", each.name, each.reason);
  for (const LeftOut& each : calibration.facts_left_out)
    text += fmt::format("Published, and not measured: {}: {}\n", each.name, each.reason);
  write_stdout(text);
}

/// Where a frozen reading goes: beside the other systems, once.
std::string frozen_path(const CalibrateArguments& arguments, const Calibration& calibration) {
  const std::string path =
      !arguments.output.empty()
          ? arguments.output
          : (SearchPath("systems", "NEARFAR_SYSTEMS").first() / (calibration.id + "-frozen.yaml")).string();
  if (std::filesystem::exists(path)) {
    throw InputError(
        fmt::format("`{}` is there already: a reading is frozen once. Whoever wants to choose anew removes "
                    "it first, and says so where claims are reported.",
                    path));
  }
  return path;
}

std::string freeze(const OutputFile& file, const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                   const CalibrationAnalysis& analysis, const ResultStore& store) {
  if (!analysis.chosen) throw SimulationError("No reading could be judged, so none is frozen.");
  using namespace std::chrono;
  const auto now = duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
  file.write(frozen_text(calibration, outcomes, analysis, store.journal(journal_subject(calibration)).size(), now));
  return fmt::format("{}: reading {} is frozen, with {} beside it that {}.\n", file.name(),
                     outcomes[*analysis.chosen].reading.name, analysis.remaining.size() - 1,
                     analysis.all_ruled_out ? "are comparable (all are ruled out)" : "are not ruled out");
}

void perform_calibrate(const CalibrateArguments& arguments) {
  if (arguments.paper.empty()) {
    throw InputError(fmt::format("`nearfar calibrate` needs a PAPER, as in `nearfar calibrate trans-fw`; there are {}.",
                                 join(calibration_names(), ", ")));
  }
  const Calibration calibration =
      read_calibration(arguments.paper, arguments.quick ? std::optional(SizeClass::Small) : std::nullopt);
  refuse_designs_under_test(calibration);
  const CampaignOptions options = options_of(arguments, calibration);
  check_executor(arguments.executor);
  if (arguments.quick && arguments.freeze)
    throw InputError("--freeze needs the calibration's own inputs; --quick only shows that everything works.");
  if (arguments.dry_run)
    return show_calibration_plan(calibration, options, ResultStore::to_look_at(arguments.executor.database));
  std::optional<OutputFile> html, csv, frozen;
  if (!arguments.html.empty()) html.emplace(arguments.html);
  if (!arguments.csv.empty()) csv.emplace(arguments.csv);
  if (arguments.freeze) frozen.emplace(frozen_path(arguments, calibration));
  const bool to_stdout = check_outputs({&html, &csv, &frozen});
  ResultStore store(arguments.executor.database);
  Machines machines(calibration, arguments.executor, store);
  const std::vector<ReadingOutcome> outcomes =
      run_campaign(calibration, options, [&](const std::vector<Trial>& trials) { return machines(trials); });
  const CalibrationAnalysis analysis = analyse(calibration, outcomes);
  if (html)
    html->write(calibration_html(calibration, outcomes, analysis,
                                 {std::string(version()), std::string(model_version()), store.path()}));
  if (csv) csv->write(outcomes_csv(calibration, outcomes));
  std::string text = calibration_table(calibration, summarize(calibration, outcomes, analysis, kListedReadings),
                                       Terminal::of(STDOUT_FILENO)) +
                     "\n" + machines.closing();
  if (frozen) text += freeze(*frozen, calibration, outcomes, analysis, store);
  if (!to_stdout) write_stdout(text);
  if (!analysis.chosen) throw SimulationError("No reading could be judged; why is said above.");
}

}  // namespace

Command add_calibrate_command(CLI::App& program) {
  auto arguments = std::make_shared<CalibrateArguments>();
  CLI::App& app = add_command(
      program, "calibrate", "Choose what a paper leaves open by the published facts of its baseline, which alone runs");
  using namespace value_kind;
  add_value(app, "PAPER", arguments->paper, kCalibration, "A name in calibrations/, or a file that ends in .yaml");
  add_value(app, "--wave", arguments->wave, kNumber,
            "Waves of readings; later ones refine where the facts rule nothing out");
  add_value(app, "--readings", arguments->readings, kNumber, "Readings of each wave; 50 unless given");
  add_value(app, "--repeat", arguments->repeat, kNumber, "Draws of readings near the facts, over what the file says");
  add_flag(app, "--quick", arguments->quick, "Small inputs, 8 readings, each run once");
  add_flag(app, "--dry-run", arguments->dry_run, "Only show what would be run");
  add_executor_options(app, arguments->executor);
  add_value(app, "--html", arguments->html, kFile, "Write a page: facts, readings, what matters; - is standard output");
  add_value(app, "--csv", arguments->csv, kFile, "Write every number of every reading as CSV; - is standard output");
  add_flag(app, "--freeze", arguments->freeze, "Write the chosen reading as a system file with its provenance");
  add_value(app, "-o,--output", arguments->output, kFile, "That file; systems/PAPER-frozen.yaml unless given");
  return {&app, [arguments] { perform_calibrate(*arguments); }};
}

}  // namespace nearfar
