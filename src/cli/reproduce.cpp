// `nearfar reproduce`: every claim of a paper, published beside measured. Runs what its studies need.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "calibrate/claim_readings.h"
#include "cli/batch.h"
#include "cli/claims_table.h"
#include "cli/command.h"
#include "cli/opposite.h"
#include "cli/output_file.h"
#include "cli/plan.h"
#include "cli/report_json.h"
#include "cli/version.h"
#include "config/words.h"
#include "report/claims_file.h"
#include "report/collect.h"
#include "sim/error.h"

namespace nearfar {
namespace {

struct ReproduceArguments {
  BatchArguments batch;
  std::vector<std::string> papers;
  std::string json, report, repeat;
  bool quick = false, dry_run = false, all_readings = false;
};

std::vector<Study> studies_of(const std::vector<Paper>& papers, const ReproduceArguments& arguments) {
  StudyChanges changes;
  if (arguments.quick) changes.size = SizeClass::Small;
  changes.repeat = read_study_repeat(arguments.repeat, arguments.quick);
  std::vector<Study> studies;
  for (const std::string& name : claimed_studies(papers)) studies.push_back(read_study(name, changes));
  return studies;
}

/// The runs of all studies, and `more`, each once.
Planned planned_runs(const std::vector<Study>& studies, std::vector<NamedRun> more) {
  std::vector<NamedRun> runs = std::move(more);
  for (const Study& study : studies) {
    for (NamedRun& run : study_runs(study)) runs.push_back(std::move(run));
  }
  std::ranges::sort(runs);
  runs.erase(std::unique(runs.begin(), runs.end()), runs.end());
  return plan_runs(runs);
}

void refuse_opposite(const std::vector<MeasuredClaim>& claims) {
  std::vector<std::string> opposite;
  for (const MeasuredClaim& measured : claims) {
    if (measured.verdict == Verdict::Opposite)
      opposite.push_back(fmt::format("{} ({})", measured.claim->sentence, measured.claim->id));
  }
  if (opposite.empty()) return;
  throw OppositeFound(fmt::format("{} claim{} the opposite of what was published: {}", opposite.size(),
                                  opposite.size() == 1 ? " is" : "s are", join(opposite, "; ")));
}

void perform_reproduce(const ReproduceArguments& arguments) {
  refuse_repeated("paper", arguments.papers);
  const unsigned jobs = jobs_of(arguments.batch);
  std::vector<Paper> papers = read_papers(arguments.papers);
  const std::vector<Study> studies = studies_of(papers, arguments);
  const std::vector<Frozen> frozen = read_frozen();
  const std::vector<Study> on_chosen = on_frozen(studies, papers, frozen);
  std::vector<NamedRun> on_others;
  if (arguments.all_readings) on_others = runs_on_readings(studies, papers, frozen);
  const Planned planned = planned_runs(on_chosen, std::move(on_others));
  if (arguments.dry_run && studies.empty()) return write_stdout("No study measures any of these claims yet.\n");
  if (arguments.dry_run) return show_plan(planned, ResultStore::to_look_at(arguments.batch.database));
  const std::vector<PlannedRun>& runs = planned.runs;
  std::optional<OutputFile> json, report;
  if (!arguments.json.empty()) json.emplace(arguments.json);
  if (!arguments.report.empty()) report.emplace(arguments.report);
  const bool to_stdout = check_outputs({&json, &report});
  ResultStore store(arguments.batch.database);
  const RunnerOutcome outcome = run_batch(runs, store, jobs, arguments.batch.quiet);
  ReportContent content = collect(std::move(papers), on_chosen, store);
  add_readings(content.claims, studies, content.papers, frozen, store);
  content.version = version();
  content.asked = !arguments.papers.empty();
  if (json) json->write(claims_json(content.claims));
  if (report) report->write(report_html(content));
  if (!to_stdout) {
    const std::string sizes =
        arguments.quick ? "Small inputs: what holds here may not hold at the papers' sizes.\n\n" : "";
    write_stdout(sizes + claims_table(content.papers, content.claims, Terminal::of(STDOUT_FILENO)));
  }
  if (outcome.failed > 0) {
    throw SimulationError(
        fmt::format("{} of {} runs failed; what they said is above and in the store.", outcome.failed, runs.size()));
  }
  refuse_opposite(content.claims);
}

}  // namespace

Command add_reproduce_command(CLI::App& program) {
  auto arguments = std::make_shared<ReproduceArguments>();
  CLI::App& app = add_command(program, "reproduce",
                              "Measure what papers claim: published, measured, verdict (exit code 1: opposite)");
  using namespace value_kind;
  add_words(app, "PAPERS", arguments->papers, kPapers, "Names in claims/; none is all of them");
  add_flag(app, "--quick", arguments->quick, "Small inputs, each run once: minutes instead of hours");
  add_study_repeat_option(app, arguments->repeat);
  add_flag(app, "--all-readings", arguments->all_readings,
           "Run results on every reading that the baseline's facts do not rule out, not on the frozen one alone");
  add_flag(app, "--dry-run", arguments->dry_run, "Only show what would be run");
  add_batch_options(app, arguments->batch);
  add_value(app, "--json", arguments->json, kFile, "Write the claims as JSON; - is standard output");
  add_value(app, "--report", arguments->report, kFile, "Write the page of `nearfar report` too; - is standard output");
  return {&app, [arguments] { perform_reproduce(*arguments); }};
}

}  // namespace nearfar
