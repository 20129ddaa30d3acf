#include "calibrate/summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "stats/csv.h"

namespace nearfar {
namespace {

std::string short_number(double value) { return fmt::format("{:.4g}", value); }

const ReadingOutcome* own_outcome(const std::vector<ReadingOutcome>& outcomes) {
  const auto found = std::ranges::find_if(outcomes, [](const auto& outcome) { return outcome.reading.own; });
  return found == outcomes.end() || !found->is_complete() ? nullptr : &*found;
}

class Summarizer {
 public:
  Summarizer(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
             const CalibrationAnalysis& analysis)
      : calibration_(calibration), outcomes_(outcomes), analysis_(analysis), targets_(calibration.targets()) {}

  CalibrationSummary summary(std::size_t most_readings) {
    summary_.heading = heading();
    for (std::size_t i = 0; i < targets_.size(); ++i) summary_.facts.push_back(fact_row(i));
    add_readings(most_readings);
    for (std::size_t i = 0; i < calibration_.open.size(); ++i) summary_.parameters.push_back(parameter_row(i));
    add_contradictions();
    add_left_out();
    return std::move(summary_);
  }

 private:
  std::string heading() const {
    unsigned waves = 0;
    for (const ReadingOutcome& outcome : outcomes_) waves = std::max(waves, outcome.reading.wave);
    const std::size_t judged = analysis_.order.size();
    std::string out = fmt::format("{} reading{} in {} wave{}, {} published number{} of {} fact{}, inputs {}: ", judged,
                                  judged == 1 ? "" : "s", waves, waves == 1 ? "" : "s", targets_.size(),
                                  targets_.size() == 1 ? "" : "s", calibration_.facts.size(),
                                  calibration_.facts.size() == 1 ? "" : "s", size_name(calibration_.size));
    if (!analysis_.chosen) return out + "none could be judged.";
    if (!analysis_.all_ruled_out)
      return out + fmt::format("{} not ruled out (every number within {:g} standard deviations).",
                               analysis_.remaining.size(), calibration_.cutoff);
    return out + fmt::format(
                     "all are ruled out (some number is more than {:g} standard deviations off); {} within {:g} times "
                     "the lowest mean implausibility.",
                     calibration_.cutoff, analysis_.remaining.size(), kComparable);
  }

  FactRow fact_row(std::size_t i) const {
    const Fact& fact = calibration_.fact_of(targets_[i]);
    const Target& target = calibration_.target_of(targets_[i]);
    FactRow row;
    row.fact = target_name(calibration_, targets_[i]);
    row.sentence = fact.sentence, row.figure = fact.figure;
    row.published = target.published.text;
    row.uncertainty = fmt::format("{:g} ({})", target.sigma, uncertainty_name(fact.uncertainty));
    if (fact.discrepancy > 0) row.uncertainty += fmt::format(", model {:g}", fact.discrepancy);
    if (const ReadingOutcome* own = own_outcome(outcomes_)) row.own = short_number(own->values[i].mean);
    if (analysis_.chosen) {
      const ReadingOutcome& chosen = outcomes_[*analysis_.chosen];
      row.chosen = short_number(chosen.values[i].mean);
      row.implausibility = chosen.implausibility[i];
      row.met = row.implausibility <= calibration_.cutoff;
    }
    double low = 0, high = 0;
    std::size_t met = 0;
    for (std::size_t rank = 0; rank < analysis_.order.size(); ++rank) {
      const ReadingOutcome& outcome = outcomes_[analysis_.order[rank]];
      const double value = outcome.values[i].mean;
      low = rank == 0 ? value : std::min(low, value), high = rank == 0 ? value : std::max(high, value);
      met += outcome.implausibility[i] <= calibration_.cutoff ? 1 : 0;
    }
    if (!analysis_.order.empty()) row.readings = fmt::format("{} to {}", short_number(low), short_number(high));
    row.met_by = fmt::format("{} of {}", met, analysis_.order.size());
    return row;
  }

  /// "link.bandwidth 16GB/s; dispatch.policy blocks": what is not as the system has it.
  std::string differences(const Reading& reading) const {
    const std::vector<std::string> own = value_labels(calibration_, own_reading(calibration_));
    const std::vector<std::string> labels = value_labels(calibration_, reading);
    std::vector<std::string> differ;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != own[i]) differ.push_back(calibration_.open[i].name + " " + labels[i]);
    }
    return differ.empty() ? "nothing" : fmt::format("{}", fmt::join(differ, "; "));
  }

  ReadingRow reading_row(std::size_t i) const {
    const ReadingOutcome& outcome = outcomes_[i];
    ReadingRow row;
    row.name = outcome.reading.name;
    row.values = fmt::format("{}", fmt::join(value_labels(calibration_, outcome.reading), ", "));
    row.differs = differences(outcome.reading);
    row.max = fmt::format("{:.2f}", outcome.all.max), row.mean = fmt::format("{:.2f}", outcome.all.mean);
    if (!targets_.empty()) row.worst = target_name(calibration_, targets_[outcome.all.worst]);
    row.draws = std::to_string(outcome.values.empty() ? 0 : outcome.values.front().draws);
    row.remains = std::ranges::find(analysis_.remaining, i) != analysis_.remaining.end();
    row.state = analysis_.chosen == i ? "chosen"
                : !outcome.ruled_out  ? "not ruled out"
                : row.remains         ? "comparable"
                                      : "ruled out";
    return row;
  }

  void add_readings(std::size_t most) {
    bool own = false;
    for (std::size_t rank = 0; rank < std::min(most, analysis_.order.size()); ++rank) {
      summary_.readings.push_back(reading_row(analysis_.order[rank]));
      own = own || outcomes_[analysis_.order[rank]].reading.own;
    }
    for (const std::size_t i : analysis_.order) {
      if (!own && outcomes_[i].reading.own) summary_.readings.push_back(reading_row(i));
    }
    for (const ReadingOutcome& outcome : outcomes_) {
      if (!outcome.is_complete())
        summary_.not_judged.push_back(fmt::format("{}: {}", outcome.reading.name, outcome.problem));
    }
  }

  ParameterRow parameter_row(std::size_t i) const {
    ParameterRow row;
    row.name = calibration_.open[i].name;
    const std::vector<double>& shares = analysis_.sensitivity[i];
    row.effect = fmt::format("{:.0f} %", 100 * shares.back());
    const auto most = std::max_element(shares.begin(), shares.end() - 1);
    if (most != shares.end() - 1) {
      row.strongest = fmt::format("{:.0f} % of {}", 100 * *most,
                                  target_name(calibration_, targets_[static_cast<std::size_t>(most - shares.begin())]));
    }
    std::map<double, std::size_t> counts;
    std::map<double, std::string> labels;
    for (const std::size_t remaining : analysis_.remaining) {
      const Reading& reading = outcomes_[remaining].reading;
      if (std::isnan(reading.at[i])) continue;
      ++counts[reading.at[i]];
      labels[reading.at[i]] = value_labels(calibration_, reading)[i];
    }
    std::vector<std::string> parts;
    if (calibration_.open[i].range) {
      if (!labels.empty()) parts.push_back(fmt::format("{} to {}", labels.begin()->second, labels.rbegin()->second));
    } else {
      for (std::size_t level = 0; level < calibration_.open[i].levels(); ++level)
        parts.push_back(
            fmt::format("{}: {}", calibration_.open[i].values[level].label, counts[static_cast<double>(level)]));
    }
    row.remaining = fmt::format("{}", fmt::join(parts, ", "));
    return row;
  }

  void add_contradictions() {
    for (std::size_t fact = 0; fact < analysis_.met_by.size() && !analysis_.order.empty(); ++fact) {
      if (analysis_.met_by[fact] > 0) continue;
      std::size_t nearest = analysis_.order.front();
      for (const std::size_t i : analysis_.order) {
        if (fact_implausibility(calibration_, outcomes_[i], fact) <
            fact_implausibility(calibration_, outcomes_[nearest], fact))
          nearest = i;
      }
      summary_.contradictions.push_back(fmt::format("No reading meets `{}`; the nearest is {} with {:.1f}.",
                                                    calibration_.facts[fact].id, outcomes_[nearest].reading.name,
                                                    fact_implausibility(calibration_, outcomes_[nearest], fact)));
    }
    for (const Contradiction& pair : analysis_.contradictions) {
      summary_.contradictions.push_back(fmt::format(
          "`{}` is met by {} readings and `{}` by {}, but no reading meets both; the nearest is {} with {:.1f}.",
          calibration_.facts[pair.a].id, analysis_.met_by[pair.a], calibration_.facts[pair.b].id,
          analysis_.met_by[pair.b], outcomes_[pair.nearest].reading.name, pair.implausibility));
    }
  }

  void add_left_out() {
    for (const LeftOut& each : calibration_.open_left_out)
      summary_.left_out.push_back(fmt::format("Open, and not drawn: {}: {}", each.name, each.reason));
    for (const LeftOut& each : calibration_.facts_left_out)
      summary_.left_out.push_back(fmt::format("Published, and not measured: {}: {}", each.name, each.reason));
    for (const LeftOut& each : calibration_.derived)
      summary_.left_out.push_back(
          fmt::format("Follows from other facts, and not counted: {}: {}", each.name, each.reason));
  }

  const Calibration& calibration_;
  const std::vector<ReadingOutcome>& outcomes_;
  const CalibrationAnalysis& analysis_;
  std::vector<TargetRef> targets_;
  CalibrationSummary summary_;
};

}  // namespace

CalibrationSummary summarize(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                             const CalibrationAnalysis& analysis, std::size_t most_readings) {
  return Summarizer(calibration, outcomes, analysis).summary(most_readings);
}

std::string outcomes_csv(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes) {
  std::string out =
      "reading,wave,settings,fact,published,simulated,draws,standard_error,implausibility,ruled_out,problem\n";
  const std::vector<TargetRef> targets = calibration.targets();
  for (const ReadingOutcome& outcome : outcomes) {
    const std::string settings = settings_text(settings_of(calibration, outcome.reading));
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Simulated& value = outcome.values[i];
      out += fmt::format("{},{},{},{},{},{},{},{:.6g},{},{},{}\n", csv_field(outcome.reading.name),
                         outcome.reading.wave, csv_field(settings), csv_field(target_name(calibration, targets[i])),
                         csv_field(calibration.target_of(targets[i]).published.text),
                         value.draws == 0 ? "" : fmt::format("{}", value.mean), value.draws, std::sqrt(value.variance),
                         value.draws == 0 ? "" : fmt::format("{:.4g}", outcome.implausibility[i]),
                         outcome.ruled_out ? "yes" : "no", csv_field(outcome.problem));
    }
  }
  return out;
}

}  // namespace nearfar
