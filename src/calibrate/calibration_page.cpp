#include "calibrate/calibration_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "plot/svg.h"
#include "report/page.h"

namespace nearfar {
namespace {

using plot::escaped;

constexpr std::size_t kShownReadings = 40;
constexpr std::size_t kDrawnReadings = 20;

std::string list_html(const std::vector<std::string>& sentences) {
  std::string out = "<ul>\n";
  for (const std::string& sentence : sentences) out += "<li>" + escaped(sentence) + "</li>\n";
  return out + "</ul>\n";
}

std::string state_html(const std::string& state, bool good) {
  return fmt::format("<span class=\"verdict {}\">{}</span>", good ? "met" : "missed", escaped(state));
}

std::string facts_html(const Calibration& calibration, const CalibrationSummary& summary) {
  std::vector<std::vector<std::string>> rows;
  std::string said;  // a fact of several numbers says its sentence once
  for (const FactRow& row : summary.facts) {
    std::string name = escaped(row.fact);
    if (row.sentence != said) {
      name += fmt::format("<br><small>{}{}{}</small>", escaped(row.sentence), row.figure.empty() ? "" : " ",
                          escaped(row.figure));
    }
    said = row.sentence;
    rows.push_back({std::move(name), row.chosen.empty() ? "" : state_html(row.met ? "met" : "missed", row.met),
                    escaped(row.published), escaped(row.chosen),
                    row.chosen.empty() ? "" : fmt::format("{:.2f}", row.implausibility), escaped(row.own),
                    escaped(row.readings), escaped(row.met_by), escaped(row.uncertainty)});
  }
  return table_html({"fact", "chosen reading", "published", "chosen reading", "implausibility", "system as it is",
                     "all readings", "met by", "σ"},
                    rows, 2) +
         fmt::format(
             "<p class=\"pale\">Implausibility is the distance of the simulated mean from the published number, over "
             "the "
             "root of the squared uncertainty of the published number, the variance of the simulated mean and, where "
             "one "
             "is declared, the squared discrepancy of the model. A reading is ruled out above {:g} in any "
             "number.</p>\n",
             calibration.cutoff);
}

std::string readings_html(const CalibrationSummary& summary, std::size_t all) {
  std::vector<std::vector<std::string>> rows;
  for (const ReadingRow& row : summary.readings) {
    rows.push_back({escaped(row.name), state_html(row.state, row.remains), escaped(row.differs), escaped(row.worst),
                    escaped(row.max), escaped(row.mean), escaped(row.draws)});
  }
  std::string out = fmt::format("<p class=\"pale\">{} of {} readings, the lowest mean implausibility first.</p>\n",
                                summary.readings.size(), all);
  out += table_html(
      {"reading", "", "what differs from the system as it is", "worst number", "largest", "mean", "draws"}, rows, 4);
  if (!summary.not_judged.empty())
    out += "<details><summary>readings that could not be judged</summary>\n" + list_html(summary.not_judged) +
           "</details>\n";
  return out;
}

std::string parameters_html(const Calibration& calibration, const CalibrationSummary& summary,
                            const FigureData& figure) {
  std::vector<std::vector<std::string>> rows;
  for (const ParameterRow& row : summary.parameters) {
    rows.push_back({escaped(row.name), escaped(row.strongest), escaped(row.remaining), escaped(row.effect)});
  }
  std::string out = table_html(
      {"open parameter", "explains most of", "values of the readings that remain", "of the mean implausibility"}, rows,
      3);
  out +=
      "<p class=\"pale\">A share is the variance of the means at each value of the parameter alone, over the variance "
      "of "
      "all readings, less what chance would give as many groups.</p>\n";
  out += figure_html(figure);
  std::vector<std::vector<std::string>> sources;
  for (const OpenParameter& parameter : calibration.open) {
    if (parameter.range) {
      sources.push_back(
          {escaped(parameter.name),
           fmt::format("{:g} to {:g}{}", parameter.range->low, parameter.range->high, escaped(parameter.range->unit)),
           escaped(parameter.source)});
    }
    for (const OpenValue& value : parameter.values)
      sources.push_back({escaped(parameter.name), escaped(value.label), escaped(value.source)});
  }
  return out + "<details><summary>plausible values and their sources</summary>\n" +
         table_html({"open parameter", "value", "source"}, sources, 3) + "</details>\n";
}

}  // namespace

FigureData implausibility_figure(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                                 const CalibrationAnalysis& analysis) {
  FigureData figure;
  figure.id = "implausibility", figure.title = "Implausibility of the best readings, by fact",
  figure.study = calibration.id;
  figure.kind = FigureKind::Heat;
  figure.y_label = "implausibility";
  for (const Fact& fact : calibration.facts) figure.categories.push_back(fact.id);
  for (std::size_t rank = 0; rank < std::min(kDrawnReadings, analysis.order.size()); ++rank) {
    const ReadingOutcome& outcome = outcomes[analysis.order[rank]];
    FigureSeries series{outcome.reading.name, {}};
    for (std::size_t fact = 0; fact < calibration.facts.size(); ++fact)
      series.values.push_back(fact_implausibility(calibration, outcome, fact));
    figure.series.push_back(std::move(series));
  }
  return figure;
}

FigureData sensitivity_figure(const Calibration& calibration, const CalibrationAnalysis& analysis) {
  FigureData figure;
  figure.id = "sensitivity", figure.title = "What each open parameter explains alone", figure.study = calibration.id;
  figure.kind = FigureKind::Heat;
  figure.unit = "%";
  const std::vector<TargetRef> targets = calibration.targets();
  const bool by_fact = targets.size() > 16;  // else each number has a column of its own
  if (by_fact) {
    for (const Fact& fact : calibration.facts) figure.categories.push_back(fact.id);
  } else {
    for (const TargetRef& ref : targets) figure.categories.push_back(target_name(calibration, ref));
  }
  figure.categories.emplace_back("mean implausibility");
  for (std::size_t i = 0; i < calibration.open.size(); ++i) {
    FigureSeries series{calibration.open[i].name, {}};
    std::vector<double> shares(figure.categories.size(), 0);
    for (std::size_t t = 0; t < targets.size(); ++t) {
      double& share = shares[by_fact ? targets[t].fact : t];
      share = std::max(share, 100 * analysis.sensitivity[i][t]);
    }
    shares.back() = 100 * analysis.sensitivity[i].back();
    series.values.assign(shares.begin(), shares.end());
    figure.series.push_back(std::move(series));
  }
  if (by_fact) figure.notes.emplace_back("of a fact with several numbers, the one that the parameter explains most of");
  return figure;
}

std::string calibration_html(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                             const CalibrationAnalysis& analysis, const PageOrigin& origin) {
  const CalibrationSummary summary = summarize(calibration, outcomes, analysis, kShownReadings);
  std::vector<PageSection> sections;
  sections.push_back({"facts", "Facts of the baseline", facts_html(calibration, summary)});
  sections.push_back({"readings", "Readings",
                      readings_html(summary, analysis.order.size()) +
                          figure_html(implausibility_figure(calibration, outcomes, analysis))});
  sections.push_back(
      {"parameters", "What matters", parameters_html(calibration, summary, sensitivity_figure(calibration, analysis))});
  sections.push_back({"contradictions", "What contradicts what",
                      summary.contradictions.empty()
                          ? "<p>Every fact, and every two of them, are met by some reading.</p>\n"
                          : list_html(summary.contradictions)});
  if (!summary.left_out.empty()) sections.push_back({"left-out", "Not here", list_html(summary.left_out)});
  const std::string lead = fmt::format(
      "<p>{}</p>\n<p class=\"pale\">The baseline alone was run: no design is measured, nor looked at, before a reading "
      "is "
      "frozen. calibrations/{}.yaml {}; nearfar {}, model {}; results of {}.</p>",
      escaped(summary.heading), escaped(calibration.id), escaped(calibration.hash.substr(0, 12)),
      escaped(origin.version), escaped(origin.model.substr(0, 12)), escaped(origin.database));
  return page_html(fmt::format("Calibration of {}", calibration.title), lead, sections);
}

}  // namespace nearfar
