#include "calibrate/analysis.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace nearfar {
namespace {

constexpr std::size_t kBins = 4;  // of a range
constexpr double kRounding = 1e-12;

/// The group of each reading by one open parameter: its value, or the quarter of the readings that its place is in.
std::vector<std::size_t> groups_by(const Calibration& calibration, const std::vector<const ReadingOutcome*>& readings,
                                   std::size_t parameter) {
  std::vector<std::size_t> groups;
  if (!calibration.open[parameter].range) {
    for (const ReadingOutcome* each : readings) groups.push_back(static_cast<std::size_t>(each->reading.at[parameter]));
    return groups;
  }
  std::vector<double> sorted;
  for (const ReadingOutcome* each : readings) sorted.push_back(each->reading.at[parameter]);
  std::ranges::sort(sorted);
  for (const ReadingOutcome* each : readings) {
    const auto below = std::ranges::lower_bound(sorted, each->reading.at[parameter]) - sorted.begin();
    groups.push_back(static_cast<std::size_t>(below) * kBins / sorted.size());
  }
  return groups;
}

std::vector<std::vector<double>> sensitivity_of(const Calibration& calibration,
                                                const std::vector<ReadingOutcome>& outcomes) {
  std::vector<const ReadingOutcome*> readings;
  for (const ReadingOutcome& outcome : outcomes) {
    if (outcome.is_complete() && outcome.reading.is_placed()) readings.push_back(&outcome);
  }
  const std::size_t targets = calibration.targets().size();
  std::vector<std::vector<double>> shares;
  for (std::size_t parameter = 0; parameter < calibration.open.size(); ++parameter) {
    const std::vector<std::size_t> groups = groups_by(calibration, readings, parameter);
    auto& row = shares.emplace_back();
    for (std::size_t target = 0; target <= targets; ++target) {
      std::vector<double> values;
      for (const ReadingOutcome* each : readings)
        values.push_back(target == targets ? each->all.mean : each->values[target].mean);
      row.push_back(main_effect(groups, values));
    }
  }
  return shares;
}

void find_contradictions(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                         CalibrationAnalysis& analysis) {
  const std::size_t facts = calibration.facts.size();
  std::vector<std::vector<double>> off(facts);  // by fact and place in `order`
  for (std::size_t fact = 0; fact < facts; ++fact) {
    std::size_t met = 0;
    for (const std::size_t i : analysis.order) {
      off[fact].push_back(fact_implausibility(calibration, outcomes[i], fact));
      met += off[fact].back() <= calibration.cutoff ? 1 : 0;
    }
    analysis.met_by.push_back(met);
  }
  for (std::size_t a = 0; a < facts; ++a) {
    for (std::size_t b = a + 1; b < facts; ++b) {
      if (analysis.met_by[a] == 0 || analysis.met_by[b] == 0) continue;
      Contradiction pair{a, b, 0, std::numeric_limits<double>::infinity()};
      for (std::size_t i = 0; i < analysis.order.size(); ++i) {
        const double worse = std::max(off[a][i], off[b][i]);
        if (worse < pair.implausibility) pair.implausibility = worse, pair.nearest = analysis.order[i];
      }
      if (pair.implausibility > calibration.cutoff) analysis.contradictions.push_back(pair);
    }
  }
}

}  // namespace

double main_effect(const std::vector<std::size_t>& groups, const std::vector<double>& values) {
  const auto count = static_cast<double>(values.size());
  if (values.empty()) return 0;
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  std::map<std::size_t, std::pair<double, double>> sums;  // by group: sum and number
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    total += (values[i] - mean) * (values[i] - mean);
    sums[groups[i]].first += values[i], sums[groups[i]].second += 1;
  }
  const auto degrees = static_cast<double>(sums.size()) - 1;
  // A number that is the same in all readings differs from its own mean by rounding.
  const bool varies = total > count * kRounding * kRounding * mean * mean;
  if (!varies || degrees < 1 || count - degrees - 1 < 1) return 0;
  double between = 0;
  for (const auto& [group, sum] : sums) {
    const double own = sum.first / sum.second;
    between += sum.second * (own - mean) * (own - mean);
  }
  const double within = (total - between) / (count - degrees - 1);
  return std::clamp((between - degrees * within) / total, 0.0, 1.0);
}

double fact_implausibility(const Calibration& calibration, const ReadingOutcome& outcome, std::size_t fact) {
  const std::vector<TargetRef> targets = calibration.targets();
  double most = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (targets[i].fact == fact) most = std::max(most, outcome.implausibility[i]);
  }
  return most;
}

CalibrationAnalysis analyse(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes) {
  CalibrationAnalysis analysis;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].is_complete()) analysis.order.push_back(i);
  }
  std::ranges::stable_sort(analysis.order, {}, [&](std::size_t i) { return outcomes[i].all.mean; });
  for (const std::size_t i : analysis.order) {
    if (!outcomes[i].ruled_out) analysis.remaining.push_back(i);
  }
  if (analysis.remaining.empty() && !analysis.order.empty()) {
    analysis.all_ruled_out = true;
    const double lowest = outcomes[analysis.order.front()].all.mean;
    for (const std::size_t i : analysis.order) {
      if (outcomes[i].all.mean <= kComparable * lowest) analysis.remaining.push_back(i);
    }
  }
  if (!analysis.remaining.empty()) analysis.chosen = analysis.remaining.front();
  find_contradictions(calibration, outcomes, analysis);
  analysis.sensitivity = sensitivity_of(calibration, outcomes);
  return analysis;
}

}  // namespace nearfar
