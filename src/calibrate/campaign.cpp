#include "calibrate/campaign.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "calibrate/drawing.h"
#include "calibrate/emulator.h"

namespace nearfar {
namespace {

constexpr double kNear = 1.5;       // beyond the cut-off, in standard deviations
constexpr std::size_t kBest = 5;    // readings that get repeats in any case
constexpr std::size_t kFewest = 3;  // readings that an emulator is fitted to

std::vector<TargetRef> targets_of(const Calibration& calibration) { return calibration.targets(); }

/// Adds what one trial gave. A number that is missing, or has nothing to divide by, makes the reading one that cannot
/// be judged.
void add(const Calibration& calibration, ReadingOutcome& outcome, const TrialOutcome& trial) {
  const std::vector<TargetRef> targets = targets_of(calibration);
  for (std::size_t i = 0; i < targets.size(); ++i) {
    const auto& value = trial.values[i];
    if (value && std::isfinite(*value)) {
      outcome.draws[i].push_back(*value);
    } else if (outcome.problem.empty()) {
      outcome.problem = !trial.problem.empty()
                            ? trial.problem
                            : fmt::format("{} has nothing to divide by", target_name(calibration, targets[i]));
    }
  }
}

void try_all(const Calibration& calibration, std::vector<ReadingOutcome>& outcomes,
             const std::vector<std::size_t>& chosen, std::uint32_t first, std::uint32_t end, const Simulate& simulate) {
  std::vector<Trial> trials;
  for (const std::size_t i : chosen) {
    for (std::uint32_t draw = first; draw < end; ++draw) trials.push_back({outcomes[i].reading, draw});
  }
  if (trials.empty()) return;
  const std::vector<TrialOutcome> given = simulate(trials);
  std::size_t at = 0;
  for (const std::size_t i : chosen) {
    for (std::uint32_t draw = first; draw < end; ++draw) add(calibration, outcomes[i], given[at++]);
  }
  judge(calibration, outcomes);
}

/// Those that repeats are spent on.
std::vector<std::size_t> near_ones(const Calibration& calibration, const std::vector<ReadingOutcome>& outcomes,
                                   unsigned wave) {
  std::vector<std::size_t> order, chosen;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (outcomes[i].is_complete()) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return outcomes[i].all.mean; });
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const ReadingOutcome& outcome = outcomes[order[rank]];
    const bool once = outcome.values.empty() || outcome.values.front().draws == 1;
    const bool near = rank < kBest || outcome.all.max <= calibration.cutoff + kNear;
    if (near && once && (outcome.reading.wave == wave || rank < kBest)) chosen.push_back(order[rank]);
  }
  return chosen;
}

}  // namespace

void judge(const Calibration& calibration, std::vector<ReadingOutcome>& outcomes) {
  const std::vector<TargetRef> targets = targets_of(calibration);
  for (ReadingOutcome& outcome : outcomes) {
    outcome.values.clear(), outcome.implausibility.clear();
    for (const auto& draws : outcome.draws) outcome.values.push_back(simulated_of(draws));
  }
  for (std::size_t i = 0; i < targets.size(); ++i) {
    std::vector<Simulated> of_readings;
    for (const ReadingOutcome& outcome : outcomes) of_readings.push_back(outcome.values[i]);
    const double pooled = pooled_variance(of_readings);
    for (ReadingOutcome& outcome : outcomes) {
      if (outcome.values[i].draws == 1) outcome.values[i].variance = pooled;
      const double off = outcome.values[i].draws == 0
                             ? 0
                             : implausibility(calibration.target_of(targets[i]),
                                              calibration.fact_of(targets[i]).discrepancy, outcome.values[i]);
      outcome.implausibility.push_back(off);
    }
  }
  for (ReadingOutcome& outcome : outcomes) {
    outcome.all = over_targets(outcome.implausibility);
    outcome.ruled_out = outcome.is_complete() && outcome.all.max > calibration.cutoff;
  }
}

std::vector<Reading> wave_readings(const Calibration& calibration, unsigned wave, std::size_t count,
                                   const std::vector<ReadingOutcome>& before) {
  if (wave == 1) return first_wave(calibration, count);
  std::vector<Reading> tried;
  std::vector<const Reading*> placed;
  std::vector<const ReadingOutcome*> known;
  for (const ReadingOutcome& outcome : before) {
    tried.push_back(outcome.reading);
    if (!outcome.is_complete() || !outcome.reading.is_placed()) continue;
    placed.push_back(&outcome.reading), known.push_back(&outcome);
  }
  if (known.size() < kFewest) return {};
  const std::vector<TargetRef> targets = targets_of(calibration);
  std::vector<Emulator> emulators;
  std::vector<double> noise;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    std::vector<double> values;
    std::vector<Simulated> simulated;
    for (const ReadingOutcome* outcome : known)
      values.push_back(outcome->values[i].mean), simulated.push_back(outcome->values[i]);
    emulators.emplace_back(calibration, placed, values);
    noise.push_back(pooled_variance(simulated));
  }
  const auto expected = [&](const Reading& reading) {
    double most = 0;
    for (std::size_t i = 0; i < targets.size(); ++i) {
      const Simulated guess{1, emulators[i].mean(reading), emulators[i].variance() + noise[i]};
      most = std::max(
          most, implausibility(calibration.target_of(targets[i]), calibration.fact_of(targets[i]).discrepancy, guess));
    }
    return most;
  };
  return next_wave(calibration, wave, count, tried, expected);
}

std::vector<ReadingOutcome> run_campaign(const Calibration& calibration, const CampaignOptions& options,
                                         const Simulate& simulate) {
  std::vector<ReadingOutcome> outcomes;
  for (unsigned wave = 1; wave <= options.waves; ++wave) {
    std::vector<std::size_t> fresh;
    for (Reading& reading : wave_readings(calibration, wave, options.readings, outcomes)) {
      fresh.push_back(outcomes.size());
      outcomes.push_back(
          {std::move(reading), std::vector<std::vector<double>>(targets_of(calibration).size()), {}, {}, {}, ""});
    }
    if (fresh.empty()) break;
    try_all(calibration, outcomes, fresh, 0, 1, simulate);
    try_all(calibration, outcomes, near_ones(calibration, outcomes, wave), 1, options.repeat, simulate);
  }
  return outcomes;
}

}  // namespace nearfar
