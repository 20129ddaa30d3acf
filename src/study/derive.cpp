// One cell at a time: a quantity of a run, set against the same of another run of the same draw, averaged over seeds;
// then means over workloads; then mean and interval over draws; then laid out along the axis of a figure.
#include "study/derive.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "study/runner.h"

namespace nearfar {
namespace {

using Value = std::optional<double>;

constexpr std::string_view kNotRun = "runs that are still to be done";

std::string_view mean_name(Mean mean) { return mean == Mean::Geometric ? "geometric mean" : "mean"; }

/// Measured, but there was nothing to divide by.
constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

/// Of all that is defined, or of nothing: a mean over what happens to be measured would be of something else.
Value mean_of(const std::vector<Value>& values, Mean mean) {
  double sum = 0, count = 0;
  for (const Value& value : values) {
    if (!value || (mean == Mean::Geometric && *value <= 0)) return std::nullopt;
    if (std::isnan(*value)) continue;
    sum += mean == Mean::Geometric ? std::log(*value) : *value;
    ++count;
  }
  if (count == 0) return values.empty() ? std::nullopt : Value(kUndefined);
  sum /= count;
  return mean == Mean::Geometric ? std::exp(sum) : sum;
}

Value related(const Value& value, const Value& base, Relation relation) {
  if (relation == Relation::Value) return value;
  if (!value || !base) return std::nullopt;
  if (relation == Relation::Change) return *value - *base;
  if (*base == 0) return kUndefined;
  const double ratio = *value / *base;
  switch (relation) {
    case Relation::Gain: return 100 * (ratio - 1);
    case Relation::Reduction: return 100 * (1 - ratio);
    default: return ratio;
  }
}

std::optional<double> neutral_of(Relation relation) {
  if (relation == Relation::Value) return std::nullopt;
  return relation == Relation::Ratio ? 1 : 0;
}

/// What stands in one line of a figure: a workload, or a mean over some.
struct Row {
  std::string label;
  std::vector<std::string> workloads;
  std::optional<Mean> mean;
};

class Deriver {
 public:
  Deriver(const Study& study, const StudyFigure& figure, const StudyResults& results)
      : study_(study), figure_(figure), results_(results) {}

  FigureData data() {
    data_.id = figure_.id;
    data_.title = figure_.title;
    data_.study = study_.id;
    data_.kind = figure_.kind;
    data_.x_label = figure_.x_label;
    data_.y_label = figure_.y_label;
    data_.unit = figure_.unit;
    data_.neutral = neutral_of(figure_.relation);
    if (figure_.kind == FigureKind::Cdf) {
      distribution();
    } else if (figure_.kind == FigureKind::Stacked) {
      stacked();
    } else if (figure_.variants_across) {
      across_variants();
    } else {
      across_workloads();
    }
    data_.notes.assign(notes_.begin(), notes_.end());
    for (const std::string& reason : missing_repeats_) {
      if (!notes_.contains("not measured: " + reason)) data_.notes.push_back("fewer repeats: " + reason);
    }
    if (!undefined_.empty()) {
      data_.notes.push_back(
          fmt::format("nothing to divide by, and left out of means: {}", fmt::join(undefined_, ", ")));
    }
    return std::move(data_);
  }

 private:
  const StoredResult* result_of(const NamedRun& run) {
    const StoredResult* result = results_.find(run);
    if (result != nullptr) return result;
    if (run.draw.value_or(0) == 0) {
      notes_.insert(fmt::format("not measured: {}", results_.reason(run)));
    } else {
      missing_repeats_.insert(results_.reason(run));
    }
    return nullptr;
  }

  /// Cycles alone / cycles together of an application; its instructions are the same in both.
  Value against_alone(std::size_t application, const std::string& workload, const StudyVariant& variant,
                      std::uint64_t seed, std::uint32_t draw) {
    const StoredResult* together = result_of(cell_run(study_, workload, variant, seed, draw));
    const StoredResult* alone = result_of(alone_run(study_, workload, application, variant, seed, draw));
    if (together == nullptr || alone == nullptr) return std::nullopt;
    const Value cycles = together->statistics.find(fmt::format("app{}.cycles", application));
    if (!cycles) return std::nullopt;
    return static_cast<double>(alone->cycles) / *cycles;
  }

  Value weighted_speedup(const std::string& workload, const StudyVariant& variant, std::uint64_t seed,
                         std::uint32_t draw) {
    double sum = 0;
    for (std::size_t i = 0; i < application_count(workload); ++i) {
      const Value one = against_alone(i, workload, variant, seed, draw);
      if (!one) return std::nullopt;
      sum += *one;
    }
    return sum;
  }

  Value change_from_alone(const StudyValue& value, const std::string& workload, const StudyVariant& variant,
                          std::uint64_t seed, std::uint32_t draw) {
    const Value sum = value.application ? against_alone(*value.application, workload, variant, seed, draw)
                                        : weighted_speedup(workload, variant, seed, draw);
    if (!sum) return std::nullopt;
    const std::size_t applications = value.application ? 1 : application_count(workload);
    return 100 * (*sum / static_cast<double>(applications) - 1);
  }

  Value quantity(const StudyValue& value, const std::string& workload, const StudyVariant& variant, std::uint64_t seed,
                 std::uint32_t draw) {
    if (value.quantity == Quantity::WeightedSpeedup) return weighted_speedup(workload, variant, seed, draw);
    if (value.quantity == Quantity::ChangeFromAlone) return change_from_alone(value, workload, variant, seed, draw);
    const StoredResult* result = result_of(cell_run(study_, workload, variant, seed, draw));
    if (result == nullptr) return std::nullopt;
    if (value.quantity == Quantity::Speedup) {
      return result->cycles == 0 ? kUndefined : 1 / static_cast<double>(result->cycles);
    }
    const Value number = value.expression->evaluate(result->statistics);
    if (!number) note_undefined(*value.expression, *result);
    return number;
  }

  void note_undefined(const Expression& expression, const StoredResult& result) {
    for (const Expression::Name& name : expression.names()) {
      if (!is_statistic(name.text) && !is_histogram(name.text)) {
        notes_.insert(fmt::format("not measured: statistic {} does not exist yet", name.text));
      } else if (!name.histogram && !result.statistics.find(name.text)) {
        notes_.insert(fmt::format("not measured: {} on {} has no {}", result.workload, result.system, name.text));
      }
    }
  }

  Value cell(const StudyValue& value, const std::string& workload, const std::string& label, std::uint32_t draw) {
    const StudyVariant& variant = variant_of(study_, label);
    std::vector<Value> values;
    for (const std::uint64_t seed : study_.seeds) {
      const Value base = figure_.relation == Relation::Value
                             ? std::nullopt
                             : quantity(value, workload, variant_of(study_, figure_.against), seed, draw);
      values.push_back(related(quantity(value, workload, variant, seed, draw), base, figure_.relation));
    }
    const Value mean = mean_of(values, Mean::Arithmetic);
    if (mean && std::isnan(*mean)) undefined_.insert(shown_name(study_, workload));
    return mean;
  }

  Value in_draw(const Row& row, const StudyValue& value, const std::string& variant, std::uint32_t draw) {
    std::vector<Value> values;
    for (const std::string& workload : row.workloads) values.push_back(cell(value, workload, variant, draw));
    const Value value_of_row = row.mean ? mean_of(values, *row.mean) : values.front();
    return value_of_row && std::isnan(*value_of_row) ? std::nullopt : value_of_row;
  }

  /// The interval over the draws in which all was measured.
  Interval over_draws(const std::vector<Value>& draws) const {
    std::vector<double> values;
    for (const Value& value : draws) {
      if (value) values.push_back(*value);
    }
    const bool geometric =
        figure_.relation == Relation::Ratio && std::ranges::all_of(values, [](double value) { return value > 0; });
    return geometric ? geometric_interval_of(values) : interval_of(values);
  }

  /// Adds one value to a series: that of the only run, or the mean over draws.
  void add(FigureSeries& series, const Row& row, const StudyValue& value, const std::string& variant) {
    std::vector<Value> draws;
    for (std::uint32_t draw = 0; draw < study_.repeat; ++draw) draws.push_back(in_draw(row, value, variant, draw));
    if (study_.repeat == 1) {
      series.values.push_back(draws.front());
      return;
    }
    const Interval interval = over_draws(draws);
    series.values.push_back(interval.count == 0 ? Value() : Value(interval.mean));
    series.intervals.push_back(interval);
    series.draws.push_back(std::move(draws));
  }

  std::vector<Row> rows() const {
    std::vector<Row> rows;
    if (!figure_.only_means) {
      for (const std::string& workload : figure_.workloads)
        rows.push_back({shown_name(study_, workload), {workload}, std::nullopt});
    }
    for (const Mean mean : figure_.means) {
      for (const WorkloadGroup& group : figure_.groups) {
        const std::string kind = figure_.means.size() > 1 ? fmt::format(" ({})", mean_name(mean)) : "";
        rows.push_back({group.label + kind, group.workloads, mean});
      }
      rows.push_back({std::string(mean_name(mean)), figure_.workloads, mean});
    }
    return rows;
  }

  /// "idyll", "queue", or "idyll: queue": only what tells series apart.
  static std::string series_label(const std::string& name, bool several, const std::string& value_label) {
    if (value_label.empty()) return name;
    return several ? fmt::format("{}: {}", name, value_label) : value_label;
  }

  void across_workloads() {
    const std::vector<Row> all = rows();
    for (const Row& row : all) data_.categories.push_back(row.label);
    for (const std::string& variant : figure_.variants) {
      for (const StudyValue& value : figure_.values) {
        FigureSeries& series = data_.series.emplace_back();
        series.label = series_label(variant, figure_.variants.size() > 1, value.label);
        for (const Row& row : all) add(series, row, value, variant);
      }
    }
  }

  void across_variants() {
    data_.categories = figure_.variants;
    const std::vector<Row> all = rows();
    for (const Row& row : all) {
      for (const StudyValue& value : figure_.values) {
        FigureSeries& series = data_.series.emplace_back();
        series.label = series_label(row.label, all.size() > 1, value.label);
        for (const std::string& variant : figure_.variants) add(series, row, value, variant);
      }
    }
  }

  /// A stack for each workload and variant, a layer for each value.
  void stacked() {
    for (const StudyValue& value : figure_.values)
      data_.series.push_back({value.label.empty() ? figure_.y_label : value.label, {}});
    for (const Row& row : rows()) {
      for (const std::string& variant : figure_.variants) {
        data_.categories.push_back(figure_.variants.size() > 1 ? fmt::format("{} {}", row.label, variant) : row.label);
        for (std::size_t i = 0; i < figure_.values.size(); ++i) {
          add(data_.series[i], row, figure_.values[i], variant);
        }
      }
    }
  }

  /// The samples of all seeds and draws together, cumulated, in percent.
  std::map<std::uint64_t, double> cumulated(const StudyValue& value, const std::string& workload,
                                            const std::string& label) {
    std::map<std::uint64_t, double> bins;
    for (const std::uint64_t seed : study_.seeds) {
      for (std::uint32_t draw = 0; draw < study_.repeat; ++draw) {
        const StoredResult* result = result_of(cell_run(study_, workload, variant_of(study_, label), seed, draw));
        if (result == nullptr && draw == 0) return {};
        if (result == nullptr) continue;
        for (const auto& [bound, count] : histogram_bins(result->statistics, value.histogram)) bins[bound] += count;
      }
    }
    double total = 0;
    for (const auto& [bound, count] : bins) total += count;
    if (total == 0) return {};
    double below = 0;
    for (auto& [bound, count] : bins) {
      below += count;
      count = 100 * below / total;
    }
    return bins;
  }

  void distribution() {
    std::vector<std::map<std::uint64_t, double>> curves;
    std::set<std::uint64_t> bounds;
    for (const std::string& workload : figure_.workloads) {
      for (const std::string& variant : figure_.variants) {
        for (const StudyValue& value : figure_.values) {
          curves.push_back(cumulated(value, workload, variant));
          for (const auto& [bound, share] : curves.back()) bounds.insert(bound);
          const std::string shown = shown_name(study_, workload);
          const std::string name = figure_.variants.size() > 1 ? fmt::format("{} {}", shown, variant) : shown;
          data_.series.push_back({series_label(name, figure_.workloads.size() > 1, value.label), {}});
        }
      }
    }
    for (const std::uint64_t bound : bounds) data_.categories.push_back(std::to_string(bound));
    for (std::size_t i = 0; i < curves.size(); ++i) {
      for (const std::uint64_t bound : bounds) {
        auto after = curves[i].upper_bound(bound);
        data_.series[i].values.push_back(curves[i].empty()            ? Value()
                                         : after == curves[i].begin() ? Value(0)
                                                                      : Value((--after)->second));
      }
    }
  }

  const Study& study_;
  const StudyFigure& figure_;
  const StudyResults& results_;
  FigureData data_;
  std::set<std::string> notes_;
  std::set<std::string> missing_repeats_;  ///< why draws above 0 are not there
  std::set<std::string> undefined_;        ///< workloads with cells that have no value
};

}  // namespace

StudyResults::StudyResults(const std::vector<NamedRun>& runs, const ResultStore& store) {
  const Planned planned = plan_runs(runs);
  for (const Unmeasurable& run : planned.unmeasurable) reasons_[run.run] = run.reason;
  std::map<std::string, std::vector<NamedRun>> by_key;
  for (const PlannedRun& run : planned.runs) by_key[run.key].push_back(run.run);
  std::vector<std::string> keys;
  for (const auto& [key, named] : by_key) keys.push_back(key);
  for (StoredResult& result : store.find_all(keys)) {
    const auto found = by_key.extract(result.key);
    for (const NamedRun& run : found.mapped()) results_[run] = result;
  }
  for (const auto& [key, named] : by_key) {
    const std::optional<FailedRun> failed = store.failure(key);
    for (const NamedRun& run : named) {
      reasons_[run] = failed ? fmt::format("{} failed: {}", run_label(run), failed->error) : std::string(kNotRun);
    }
  }
}

const StoredResult* StudyResults::find(const NamedRun& run) const {
  const auto found = results_.find(run);
  return found == results_.end() ? nullptr : &found->second;
}

std::string StudyResults::reason(const NamedRun& run) const {
  const auto found = reasons_.find(run);
  return found == reasons_.end() ? std::string(kNotRun) : found->second;
}

std::vector<FigureData> derive(const Study& study, const StudyResults& results) {
  std::vector<FigureData> figures;
  for (const StudyFigure& figure : study.figures) figures.push_back(Deriver(study, figure, results).data());
  return figures;
}

}  // namespace nearfar
