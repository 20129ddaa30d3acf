// Factorial analysis of combinations on the logarithm of the speedup.
#include "report/composition.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace nearfar {
namespace {

std::optional<double> logarithm(const std::optional<double>& value) {
  return value ? std::optional(std::log(*value)) : std::nullopt;
}

std::optional<double> exponential(const std::optional<double>& value) {
  return value ? std::optional(std::exp(*value)) : std::nullopt;
}

/// A mean that exists when there is something to take it of.
class Mean {
 public:
  void add(double value) { sum_ += value, ++count_; }
  std::optional<double> value() const {
    return count_ == 0 ? std::nullopt : std::optional(sum_ / static_cast<double>(count_));
  }

 private:
  double sum_ = 0;
  std::size_t count_ = 0;
};

class Analysis {
 public:
  explicit Analysis(Composition& composition) : composition_(composition) {}

  void run() {
    measure_speedups();
    for (std::size_t i = 0; i < composition_.designs.size(); ++i) composition_.effects.push_back(effect(i));
    for (std::size_t j = 1; j < composition_.designs.size(); ++j) {
      for (std::size_t i = 0; i < j; ++i) composition_.pairs.push_back(pair(i, j));
    }
  }

 private:
  void measure_speedups() {
    const auto before = composition_.combinations.front().cycles;
    for (Combination& combination : composition_.combinations) {
      Mean mean;
      bool whole = true;
      for (std::size_t w = 0; w < composition_.workloads.size(); ++w) {
        auto& speedup = combination.speedups.emplace_back();
        if (before[w] && combination.cycles[w]) speedup = *before[w] / *combination.cycles[w];
        if (speedup) mean.add(std::log(*speedup));
        whole = whole && speedup.has_value();
      }
      if (whole) combination.mean = exponential(mean.value());
    }
  }

  std::optional<double> mean_effect(std::uint32_t members) const {
    return logarithm(composition_.combinations[members].mean);
  }
  std::optional<double> effect_on(std::uint32_t members, std::size_t workload) const {
    return logarithm(composition_.combinations[members].speedups[workload]);
  }

  DesignEffect effect(std::size_t design) const {
    const std::uint32_t bit = 1U << design;
    DesignEffect result;
    result.alone = composition_.combinations[bit].mean;
    result.by_workload = composition_.combinations[bit].speedups;
    Mean mean;
    for (std::uint32_t members = 0; members < composition_.combinations.size(); ++members) {
      if ((members & bit) != 0) continue;
      const auto with = mean_effect(members | bit), without = mean_effect(members);
      if (with && without) mean.add(*with - *without);
    }
    result.average = exponential(mean.value());
    return result;
  }

  /// Together, less each, plus neither.
  static std::optional<double> beyond(const std::optional<double>& both, const std::optional<double>& first,
                                      const std::optional<double>& second, const std::optional<double>& neither) {
    if (!both || !first || !second || !neither) return std::nullopt;
    return *both - *first - *second + *neither;
  }

  PairEffect pair(std::size_t first, std::size_t second) const {
    const std::uint32_t a = 1U << first, b = 1U << second;
    PairEffect result;
    result.first = first, result.second = second;
    Mean mean;
    for (std::uint32_t members = 0; members < composition_.combinations.size(); ++members) {
      if ((members & (a | b)) != 0) continue;
      const auto each = beyond(mean_effect(members | a | b), mean_effect(members | a), mean_effect(members | b),
                               mean_effect(members));
      if (each) mean.add(*each);
    }
    result.interaction = exponential(beyond(mean_effect(a | b), mean_effect(a), mean_effect(b), mean_effect(0)));
    result.average = exponential(mean.value());
    for (std::size_t w = 0; w < composition_.workloads.size(); ++w) {
      result.by_workload.push_back(
          exponential(beyond(effect_on(a | b, w), effect_on(a, w), effect_on(b, w), effect_on(0, w))));
    }
    result.relationship = relationship(result, a, b);
    return result;
  }

  Relationship relationship(const PairEffect& effect, std::uint32_t a, std::uint32_t b) const {
    const auto& combinations = composition_.combinations;
    if (!combinations[a | b].refused.empty()) return Relationship::Refused;
    if (!effect.interaction) return Relationship::Unknown;
    const double threshold = std::log(1 + Composition::kThreshold);
    const double beyond_product = std::log(*effect.interaction);
    if (std::abs(beyond_product) <= threshold) return Relationship::AddUp;
    if (beyond_product > 0) return Relationship::Reinforce;
    const double together = std::log(*combinations[a | b].mean);
    const double better = std::log(std::max(*combinations[a].mean, *combinations[b].mean));
    return together < better - threshold ? Relationship::Fight : Relationship::Overlap;
  }

  Composition& composition_;
};

/// A composition with the cycles of one draw alone, analysed.
Composition of_draw(const Composition& composition, std::size_t draw) {
  Composition out;
  out.designs = composition.designs, out.workloads = composition.workloads;
  for (const Combination& combination : composition.combinations) {
    Combination& each = out.combinations.emplace_back();
    each.members = combination.members, each.label = combination.label, each.refused = combination.refused;
    each.cycles.resize(composition.workloads.size());
    for (std::size_t w = 0; w < combination.repeats.size(); ++w) each.cycles[w] = combination.repeats[w][draw];
  }
  Analysis(out).run();
  return out;
}

/// Intervals of all effects, from what each draw says by itself.
class Spread {
 public:
  Spread(Composition& composition, std::size_t draws) : composition_(composition) {
    for (std::size_t draw = 0; draw < draws; ++draw) draws_.push_back(of_draw(composition, draw));
  }

  void fill() const {
    for (std::size_t i = 0; i < composition_.combinations.size(); ++i) {
      Combination& combination = composition_.combinations[i];
      combination.mean_interval = over_draws([&](const Composition& draw) { return draw.combinations[i].mean; });
      for (std::size_t w = 0; w < composition_.workloads.size(); ++w) {
        combination.intervals.push_back(
            over_draws([&](const Composition& draw) { return draw.combinations[i].speedups[w]; }));
      }
    }
    for (std::size_t i = 0; i < composition_.effects.size(); ++i) {
      DesignEffect& effect = composition_.effects[i];
      effect.alone_interval = over_draws([&](const Composition& draw) { return draw.effects[i].alone; });
      effect.average_interval = over_draws([&](const Composition& draw) { return draw.effects[i].average; });
    }
    for (std::size_t i = 0; i < composition_.pairs.size(); ++i) {
      PairEffect& pair = composition_.pairs[i];
      pair.interaction_interval = over_draws([&](const Composition& draw) { return draw.pairs[i].interaction; });
      pair.average_interval = over_draws([&](const Composition& draw) { return draw.pairs[i].average; });
      pair.relationship = beyond_noise(pair);
    }
  }

 private:
  template <class Value>
  std::optional<Interval> over_draws(const Value& value) const {
    std::vector<double> values;
    for (const Composition& draw : draws_) {
      if (const std::optional<double> each = value(draw)) values.push_back(*each);
    }
    return values.size() < 2 ? std::nullopt : std::optional(geometric_interval_of(values));
  }

  /// What a pair is called when noise is no reason to call it anything.
  Relationship beyond_noise(const PairEffect& pair) const {
    const Relationship before = pair.relationship;
    const bool told =
        before == Relationship::Reinforce || before == Relationship::Overlap || before == Relationship::Fight;
    if (!told || !pair.interaction_interval) return before;
    if (pair.interaction_interval->holds(1)) return Relationship::WithinNoise;
    if (before != Relationship::Fight) return before;
    const std::uint32_t a = 1U << pair.first, b = 1U << pair.second;
    const auto& means = composition_.combinations;
    const std::uint32_t better = *means[a].mean >= *means[b].mean ? a : b;
    const auto worse = over_draws([&](const Composition& draw) -> std::optional<double> {
      return *draw.combinations[a | b].mean / *draw.combinations[better].mean;
    });
    return worse && worse->holds(1) ? Relationship::Overlap : before;
  }

  Composition& composition_;
  std::vector<Composition> draws_;
};

FigureData bars_of(const Composition& composition) {
  FigureData figure;
  figure.id = "combinations";
  figure.title = "Speedup of every combination";
  figure.kind = FigureKind::Bars;
  figure.y_label = "speedup over no design";
  figure.unit = "x";
  figure.neutral = 1;
  // Combinations along the axis: there may be far more of them than there are colours.
  for (const std::string& workload : composition.workloads) figure.series.push_back({workload, {}});
  const bool several = composition.workloads.size() > 1;
  if (several) figure.series.push_back({"geometric mean", {}});
  for (const Combination& combination : composition.combinations) {
    if (combination.members == 0 || !combination.refused.empty()) continue;
    figure.categories.push_back(combination.label);
    for (std::size_t w = 0; w < composition.workloads.size(); ++w) {
      figure.series[w].values.push_back(combination.speedups[w]);
      if (!combination.intervals.empty())
        figure.series[w].intervals.push_back(combination.intervals[w].value_or(Interval{}));
    }
    if (several) figure.series.back().values.push_back(combination.mean);
    if (several && !combination.intervals.empty())
      figure.series.back().intervals.push_back(combination.mean_interval.value_or(Interval{}));
  }
  for (const Combination* refused : least_refused(composition)) figure.notes.push_back(refused->refused);
  return figure;
}

FigureData heat_of(const Composition& composition) {
  FigureData figure;
  figure.id = "interactions";
  figure.title = "What pairs are worth beyond the product of both";
  figure.kind = FigureKind::Heat;
  figure.unit = "x";
  figure.categories = composition.designs;
  const std::size_t count = composition.designs.size();
  figure.neutral = 1;
  for (const std::string& design : composition.designs) {
    figure.series.push_back({design, std::vector<std::optional<double>>(count), std::vector<Interval>(count)});
  }
  for (const PairEffect& pair : composition.pairs) {
    for (const auto& [row, column] : {std::pair{pair.first, pair.second}, std::pair{pair.second, pair.first}}) {
      figure.series[row].values[column] = pair.interaction;
      figure.series[row].intervals[column] = pair.interaction_interval.value_or(Interval{});
    }
  }
  figure.notes.push_back(
      fmt::format("1 is a pair that adds up; within {:g} % of 1 counts as adding up.", 100 * Composition::kThreshold));
  return figure;
}

}  // namespace

std::string relationship_name(Relationship relationship) {
  switch (relationship) {
    case Relationship::AddUp: return "add up";
    case Relationship::Reinforce: return "reinforce";
    case Relationship::Overlap: return "overlap";
    case Relationship::Fight: return "fight";
    case Relationship::WithinNoise: return "within noise";
    case Relationship::Refused: return "refused";
    case Relationship::Unknown: return "not measured";
  }
  return "";
}

std::string combination_label(const std::vector<std::string>& designs, std::uint32_t members) {
  std::string label;
  for (std::size_t i = 0; i < designs.size(); ++i) {
    if ((members >> i & 1U) == 0) continue;
    label += (label.empty() ? "" : "+") + designs[i];
  }
  return label.empty() ? "baseline" : label;
}

std::vector<const Combination*> least_refused(const Composition& composition) {
  std::vector<const Combination*> out;
  for (const Combination& combination : composition.combinations) {
    const bool contains_one = std::ranges::any_of(
        out, [&](const Combination* smaller) { return (combination.members & smaller->members) == smaller->members; });
    if (!combination.refused.empty() && !contains_one) out.push_back(&combination);
  }
  return out;
}

void analyse(Composition& composition) {
  const std::vector<std::vector<double>> first = composition.combinations.front().repeats;
  for (Combination& combination : composition.combinations) {
    for (std::size_t w = 0; w < combination.repeats.size(); ++w) {
      combination.cycles[w] = geometric_interval_of(combination.repeats[w]).mean;
    }
  }
  Analysis(composition).run();
  if (!first.empty() && first.front().size() > 1) Spread(composition, first.front().size()).fill();
}

std::vector<FigureData> composition_figures(const Composition& composition) {
  std::vector<FigureData> figures = {bars_of(composition)};
  if (composition.designs.size() > 1) figures.push_back(heat_of(composition));
  return figures;
}

}  // namespace nearfar
