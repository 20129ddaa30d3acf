// DrawingRandom numbers are those of a generator that the language standard fixes to the bit; what is made of them is
// made here, since the standard's distributions differ from library to library.
#include "calibrate/drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>
#include <set>

namespace nearfar {
namespace {

constexpr std::size_t kHypercubes = 32;    // that the first wave is chosen from
constexpr std::size_t kCandidates = 4096;  // that a later wave is chosen from, beside all combinations of small spaces
constexpr std::size_t kMostCombinations = 20'000;
constexpr std::uint64_t kSeed = 20'260'101;

class DrawingRandom {
 public:
  explicit DrawingRandom(std::uint64_t stream) : engine_(kSeed + stream) {}

  /// In [0, 1), with 53 bits.
  double place() { return static_cast<double>(engine_() >> 11) * 0x1p-53; }

  std::vector<std::size_t> permutation(std::size_t count) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = count; i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(place() * static_cast<double>(i))]);
    return order;
  }

 private:
  std::mt19937_64 engine_;
};

std::vector<Reading> hypercube(const Calibration& calibration, std::size_t count, DrawingRandom& random) {
  std::vector<Reading> readings(count);
  for (const OpenParameter& parameter : calibration.open) {
    const std::vector<std::size_t> strata = random.permutation(count);
    for (std::size_t i = 0; i < count; ++i) {
      const double place = (static_cast<double>(strata[i]) + random.place()) / static_cast<double>(count);
      readings[i].at.push_back(value_at(parameter, place));
    }
  }
  return readings;
}

/// Different readings first, then the distance of the two that are nearest.
std::pair<std::size_t, double> spread_of(const Calibration& calibration, const std::vector<Reading>& readings) {
  std::set<std::vector<double>> different;
  double nearest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < readings.size(); ++i) {
    if (!different.insert(readings[i].at).second) continue;
    for (std::size_t j = 0; j < i; ++j) {
      if (readings[j].at != readings[i].at)
        nearest = std::min(nearest, distance(calibration, readings[i], readings[j]));
    }
  }
  return {different.size(), nearest};
}

void name_all(std::vector<Reading>& readings, unsigned wave) {
  unsigned number = 0;
  for (Reading& reading : readings) {
    if (reading.own) continue;
    reading.wave = wave;
    reading.name = fmt::format("{}.{:03}", wave, ++number);
  }
}

double nearest_of(const Calibration& calibration, const Reading& reading, const std::vector<Reading>& others) {
  double nearest = std::numeric_limits<double>::infinity();
  for (const Reading& other : others) nearest = std::min(nearest, distance(calibration, reading, other));
  return nearest;
}

struct Candidate {
  Reading reading;
  double expected = 0;  ///< implausibility
  double nearest = 0;   ///< distance from what was tried or taken
};

std::vector<Candidate> candidates_of(const Calibration& calibration, unsigned wave, const std::vector<Reading>& tried,
                                     const ExpectedImplausibility& expected) {
  std::vector<Reading> readings = all_combinations(calibration, kMostCombinations);
  if (readings.empty()) {
    DrawingRandom random(wave);
    readings = hypercube(calibration, kCandidates, random);
  }
  std::set<std::vector<double>> seen;
  for (const Reading& reading : tried) {
    if (reading.is_placed()) seen.insert(reading.at);  // what is not a number has no order
  }
  std::vector<Candidate> candidates;
  for (Reading& reading : readings) {
    if (!seen.insert(reading.at).second) continue;
    candidates.push_back({std::move(reading), 0, 0});
    Candidate& last = candidates.back();
    last.expected = expected(last.reading);
    last.nearest = nearest_of(calibration, last.reading, tried);
  }
  return candidates;
}

}  // namespace

std::vector<Reading> all_combinations(const Calibration& calibration, std::size_t most) {
  std::size_t count = 1;
  for (const OpenParameter& parameter : calibration.open) {
    if (parameter.range || count > most / parameter.levels()) return {};
    count *= parameter.levels();
  }
  std::vector<Reading> readings(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t rest = i;
    for (const OpenParameter& parameter : calibration.open) {
      readings[i].at.push_back(static_cast<double>(rest % parameter.levels()));
      rest /= parameter.levels();
    }
  }
  return readings;
}

std::vector<Reading> first_wave(const Calibration& calibration, std::size_t count) {
  std::vector<Reading> readings = all_combinations(calibration, count);
  if (readings.empty()) {
    DrawingRandom random(0);
    std::pair<std::size_t, double> best{0, 0};
    for (std::size_t i = 0; i < kHypercubes; ++i) {
      std::vector<Reading> drawn = hypercube(calibration, count, random);
      const auto worth = spread_of(calibration, drawn);
      if (i == 0 || worth > best) best = worth, readings = std::move(drawn);
    }
  }
  std::vector<Reading> wave = {own_reading(calibration)};
  std::set<std::vector<double>> seen;
  if (wave.front().is_placed()) seen.insert(wave.front().at);
  for (Reading& reading : readings) {
    if (seen.insert(reading.at).second) wave.push_back(std::move(reading));
  }
  name_all(wave, 1);
  return wave;
}

std::vector<Reading> next_wave(const Calibration& calibration, unsigned wave, std::size_t count,
                               const std::vector<Reading>& tried, const ExpectedImplausibility& expected) {
  std::vector<Candidate> candidates = candidates_of(calibration, wave, tried, expected);
  std::ranges::stable_sort(candidates, {}, &Candidate::expected);
  const auto alive = std::ranges::partition_point(
      candidates, [&](const Candidate& candidate) { return candidate.expected <= calibration.cutoff; });
  std::vector<Reading> taken;
  if (static_cast<std::size_t>(alive - candidates.begin()) <= count) {
    for (std::size_t i = 0; i < std::min(count, candidates.size()); ++i) taken.push_back(candidates[i].reading);
  } else {
    candidates.erase(alive, candidates.end());
    while (taken.size() < count) {
      const auto next = std::ranges::max_element(candidates, {}, &Candidate::nearest);
      const Reading chosen = next->reading;
      candidates.erase(next);
      for (Candidate& candidate : candidates)
        candidate.nearest = std::min(candidate.nearest, distance(calibration, candidate.reading, chosen));
      taken.push_back(chosen);
    }
  }
  name_all(taken, wave);
  return taken;
}

}  // namespace nearfar
