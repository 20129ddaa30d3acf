#include "calibrate/fact_runs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace nearfar {
namespace {

using FactValue = std::optional<double>;

NamedRun run_of(const Calibration& calibration, const Trial& trial, const std::string& variant_name,
                const std::string& workload) {
  const FactVariant& variant = calibration.variants.at(variant_name);
  Settings settings;
  settings.parameters = calibration.parameters;
  settings = merged(merged(settings, settings_of(calibration, trial.reading)), variant.settings);
  NamedRun run;
  run.workload = workload;
  run.size = settings.size.value_or(calibration.size);
  run.parameters = parameters_for(workload, settings.parameters, calibration.workloads);
  run.system = settings.system.empty() ? calibration.system : settings.system;
  run.designs = variant.design;
  run.overrides = settings.overrides;
  if (trial.draw > 0) run.draw = trial.draw;  // draw 0 is the run as it is
  return run;
}

/// The workloads that a fact's numbers are made of.
std::vector<std::string> workloads_of(const Fact& fact) {
  const bool together =
      std::ranges::any_of(fact.targets, [](const Target& target) { return target.of != Target::Of::Workload; });
  if (together) return fact.workloads;
  std::vector<std::string> workloads;
  for (const Target& target : fact.targets) workloads.push_back(target.workload);
  return workloads;
}

FactValue set_against(Relation relation, double value, double base) {
  if (relation == Relation::Change) return value - base;
  if (base == 0) return std::numeric_limits<double>::quiet_NaN();
  const double ratio = value / base;
  if (relation == Relation::Gain) return 100 * (ratio - 1);
  if (relation == Relation::Reduction) return 100 * (1 - ratio);
  return ratio;
}

/// A result leaves histograms without samples out: then there is nothing to take a share of.
bool only_histograms_missing(const Expression& expression, const Statistics& statistics) {
  return std::ranges::all_of(
      expression.names(), [&](const Expression::Name& name) { return name.histogram || statistics.find(name.text); });
}

class TrialReader {
 public:
  TrialReader(const Calibration& calibration, const Trial& trial, const StudyResults& results)
      : calibration_(calibration), trial_(trial), results_(results) {}

  TrialOutcome outcome() {
    for (const Fact& fact : calibration_.facts) {
      std::map<std::string, FactValue> values;
      for (const std::string& workload : workloads_of(fact)) values[workload] = value_of(fact, workload);
      for (const Target& target : fact.targets) outcome_.values.push_back(taken(fact, target, values));
    }
    return std::move(outcome_);
  }

 private:
  const StoredResult* result_of(const std::string& variant, const std::string& workload) {
    const NamedRun run = run_of(calibration_, trial_, variant, workload);
    const StoredResult* result = results_.find(run);
    if (result == nullptr && outcome_.problem.empty()) outcome_.problem = results_.reason(run);
    return result;
  }

  FactValue evaluate(const Expression& expression, const std::string& variant, const std::string& workload) {
    const StoredResult* result = result_of(variant, workload);
    if (result == nullptr) return std::nullopt;
    const FactValue value = expression.evaluate(result->statistics);
    if (!value && only_histograms_missing(expression, result->statistics)) {
      return std::numeric_limits<double>::quiet_NaN();
    }
    if (!value && outcome_.problem.empty())
      outcome_.problem = "`" + expression.text() + "` is not in the result of " + workload;
    return value;
  }

  FactValue value_of(const Fact& fact, const std::string& workload) {
    if (fact.speedup) {
      const StoredResult *here = result_of(fact.variant, workload), *base = result_of(fact.against, workload);
      if (here == nullptr || base == nullptr) return std::nullopt;
      // One over cycles on both sides.
      return set_against(fact.relation, static_cast<double>(base->cycles), static_cast<double>(here->cycles));
    }
    const FactValue value = evaluate(*fact.value, fact.variant, workload);
    if (fact.relation == Relation::Value) return value;
    const FactValue base = evaluate(fact.against_value ? *fact.against_value : *fact.value, fact.against, workload);
    return value && base ? set_against(fact.relation, *value, *base) : std::nullopt;
  }

  /// Of all that is measured and defined; nothing where something is not measured.
  static FactValue taken(const Fact& fact, const Target& target, const std::map<std::string, FactValue>& values) {
    if (target.of == Target::Of::Workload) return values.at(target.workload);
    std::vector<double> defined;
    for (const std::string& workload : fact.workloads) {
      const FactValue& value = values.at(workload);
      if (!value) return std::nullopt;
      if (!std::isnan(*value)) defined.push_back(*value);
    }
    if (defined.empty()) return std::numeric_limits<double>::quiet_NaN();
    if (target.of == Target::Of::Lowest) return std::ranges::min(defined);
    if (target.of == Target::Of::Highest) return std::ranges::max(defined);
    const bool geometric = target.of == Target::Of::GeometricMean;
    double sum = 0;
    for (const double value : defined)
      sum += (geometric ? std::log(value) : value) / static_cast<double>(defined.size());
    return geometric ? std::exp(sum) : sum;
  }

  const Calibration& calibration_;
  const Trial& trial_;
  const StudyResults& results_;
  TrialOutcome outcome_;
};

}  // namespace

std::vector<NamedRun> runs_of(const Calibration& calibration, const Trial& trial) {
  std::vector<NamedRun> runs;
  std::set<NamedRun> known;
  const auto add = [&](const std::string& variant, const std::string& workload) {
    NamedRun run = run_of(calibration, trial, variant, workload);
    if (known.insert(run).second) runs.push_back(std::move(run));
  };
  for (const Fact& fact : calibration.facts) {
    for (const std::string& workload : workloads_of(fact)) {
      add(fact.variant, workload);
      if (!fact.against.empty()) add(fact.against, workload);
    }
  }
  return runs;
}

TrialOutcome outcome_of(const Calibration& calibration, const Trial& trial, const StudyResults& results) {
  return TrialReader(calibration, trial, results).outcome();
}

}  // namespace nearfar
