// Looks everything up once: results of all studies, then what follows from them.
#include "report/collect.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "config/words.h"
#include "designs/names.h"
#include "study/derive.h"
#include "study/run_key.h"
#include "study/runner.h"

namespace nearfar {
namespace {

using MachineName = std::tuple<std::string, std::string, std::vector<std::string>>;  // system, designs, overrides

MachineName machine_name(const NamedRun& run) { return {run.system, run.designs, run.overrides}; }

std::string text_of(const MachineName& name) {
  const auto& [system, designs, overrides] = name;
  std::string out = system;
  if (designs != kBaseline) out += " " + designs;
  return overrides.empty() ? out : out + " " + join(overrides, " ");
}

/// The first result of each machine, by its key.
using Witnesses = std::map<MachineName, std::string>;

std::vector<ReportedMachine> machines_of(const Witnesses& witnesses, const ResultStore& store) {
  std::vector<ReportedMachine> machines;
  std::map<std::string, std::vector<MachineValue>> plain;  // by system: the one that others are told against
  std::map<std::string, std::string> plain_name;
  for (const auto& [name, key] : witnesses) {
    const auto& system = std::get<0>(name);
    auto values = stored_machine(store.json(key));
    if (values.empty()) continue;
    const auto base = plain.find(system);
    // A system's own machine sorts before those with designs or overrides unless it was not measured.
    if (base == plain.end()) {
      machines.push_back({text_of(name), "", values});
      plain_name[system] = text_of(name);
      plain[system] = std::move(values);
    } else {
      machines.push_back({text_of(name), plain_name[system], differences(base->second, values)});
    }
  }
  return machines;
}

ReportedRun reported(const NamedRun& run, const StoredResult& result) {
  return {run_label(run),      result.version,  result.model,          run.seed,           result.cycles,
          result.instructions, result.accesses, result.peak_rss_bytes, result.host_seconds};
}

/// What is measured on inputs of another size is shown, and not held against what was published.
void withhold_verdicts(ReportContent& content) {
  for (MeasuredClaim& claim : content.claims) {
    const auto study = std::ranges::find(content.studies, claim.claim->study, &ReportedStudy::id);
    if (study == content.studies.end() || study->other_size.empty() || claim.values.empty()) continue;
    if (claim.verdict != Verdict::NotMeasured) claim.verdict = Verdict::NotJudged;
    claim.note += fmt::format("{}{} inputs", claim.note.empty() ? "" : "; ", study->other_size);
  }
  for (ReportedStudy& study : content.studies) {
    if (study.other_size.empty()) continue;
    for (FigureData& figure : study.figures) {
      figure.notes.insert(figure.notes.begin(), fmt::format("{} inputs, not those of the study", study.other_size));
    }
  }
}

std::string sizes_text(const Study& study) {
  std::set<SizeClass> sizes;
  for (const StudyVariant& variant : study.variants) sizes.insert(variant.size);
  std::vector<std::string> names;
  for (const SizeClass size : sizes) names.emplace_back(size_name(size));
  return join(names, ", ");
}

/// Says of each figure which mean its means are, and of what.
void note_means(const Study& study, std::vector<FigureData>& figures) {
  for (FigureData& figure : figures) {
    const auto declared = std::ranges::find(study.figures, figure.id, &StudyFigure::id);
    if (declared == study.figures.end() || declared->means.size() != 1 || declared->kind == FigureKind::Cdf) continue;
    const char* kind = declared->means.front() == Mean::Geometric ? "geometric" : "arithmetic";
    std::string note = fmt::format("means are {} means over the workloads", kind);
    for (const WorkloadGroup& group : declared->groups) {
      note += fmt::format("; {}: of {}", group.label, join(group.workloads, ", "));
    }
    figure.notes.push_back(std::move(note));
  }
}

/// The share of a study's runs that have a result.
double measured_share(const Study& study, const ResultStore& store) {
  const std::vector<NamedRun> runs = study_runs(study);
  const std::vector<PlannedRun> planned = plan_runs(runs).runs;
  const auto there = std::ranges::count_if(planned, [&](const PlannedRun& run) { return store.contains(run.key); });
  return runs.empty() ? 0 : static_cast<double>(there) / static_cast<double>(runs.size());
}

}  // namespace

Study most_measured(Study study, const ResultStore& store) {
  double most = measured_share(study, store);
  Study best = study;
  for (const SizeClass size : {SizeClass::Medium, SizeClass::Small}) {
    if (most == 1) break;
    Study other = study;
    for (StudyVariant& variant : other.variants) {
      if (variant.size != size) other.other_size = size;
      variant.size = size;
    }
    if (!other.other_size) continue;
    const double share = measured_share(other, store);
    if (share > most) most = share, best = std::move(other);
  }
  return best;
}

std::vector<std::string> claimed_studies(const std::vector<Paper>& papers) {
  std::set<std::string> claimed;
  for (const Paper& paper : papers) {
    for (const Claim& claim : paper.claims) claimed.insert(claim.study);
  }
  std::vector<std::string> names;
  for (const StudySummary& study : need_studies()) {
    if (claimed.contains(study.name)) names.push_back(study.name);
  }
  return names;
}

ReportContent collect(std::vector<Paper> papers, const std::vector<Study>& studies, const ResultStore& store) {
  ReportContent content;
  content.papers = std::move(papers);
  // Papers that nobody measures yet come last.
  std::stable_partition(content.papers.begin(), content.papers.end(), [](const Paper& paper) {
    return std::ranges::any_of(paper.claims, [](const Claim& claim) { return !claim.study.empty(); });
  });
  content.model = model_version();
  content.database = store.path();
  Witnesses witnesses;
  std::set<std::string> seen;  // keys: studies share runs
  std::vector<FigureData> figures;
  for (const Study& study : studies) {
    const std::vector<NamedRun> runs = study_runs(study);
    const StudyResults results(runs, store);
    ReportedStudy& reported_study = content.studies.emplace_back();
    reported_study.id = study.id, reported_study.title = study.title, reported_study.description = study.description;
    if (study.other_size) reported_study.other_size = size_name(*study.other_size);
    reported_study.size = sizes_text(study);
    reported_study.runs = runs.size();
    for (const NamedRun& run : runs) {
      const StoredResult* result = results.find(run);
      if (result == nullptr) {
        ++reported_study.missing[results.reason(run)];
        continue;
      }
      ++reported_study.measured;
      witnesses.try_emplace(machine_name(run), result->key);
      if (seen.insert(result->key).second) content.runs.push_back(reported(run, *result));
    }
    reported_study.figures = derive(study, results);
    note_means(study, reported_study.figures);
    mark_published(reported_study.figures, content.papers);
    figures.insert(figures.end(), reported_study.figures.begin(), reported_study.figures.end());
  }
  std::vector<std::string> names;
  for (const StudySummary& study : list_studies()) names.push_back(study.name);
  content.claims = measure_claims(content.papers, figures, names);
  withhold_verdicts(content);
  content.machines = machines_of(witnesses, store);
  return content;
}

std::vector<FigureData> all_figures(const ReportContent& content) {
  std::vector<FigureData> figures;
  for (const ReportedStudy& study : content.studies) {
    for (const FigureData& figure : study.figures) {
      if (has_values(figure)) figures.push_back(figure);
    }
  }
  return figures;
}

}  // namespace nearfar
