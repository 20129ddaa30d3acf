// Runs go to processes of their own, as those of a study do: one that crashes ends no notebook.
#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include <memory>

#include "bindings.h"
#include "cli/comparison.h"
#include "study/runner.h"

namespace nearfar {
namespace {

namespace py = pybind11;
using namespace py::literals;

NamedRun make_run(const std::string& workload, const std::string& size, std::vector<std::string> parameters,
                  const std::string& input, const std::string& system, const std::string& designs,
                  std::vector<std::string> overrides, std::uint64_t seed, std::optional<std::uint32_t> draw) {
  NamedRun run;
  run.workload = workload;
  run.size = parse_size(size);
  run.parameters = std::move(parameters);
  run.input = input;
  run.system = system;
  run.designs = designs;
  run.overrides = std::move(overrides);
  run.seed = seed;
  run.draw = draw;
  return run;
}

/// What Python is told while runs are under way.
void tell(const py::function& listener, const StudyProgress& progress) {
  const py::gil_scoped_acquire python;
  py::list active;
  for (const ActiveRun& run : progress.active) active.append(py::make_tuple(run.label, run.share, run.seconds));
  listener(progress.total, progress.done, progress.failed, active, progress.seconds_left, progress.event);
}

/// Of each run its complete result, or nothing and what went wrong; whether a person ended it all.
py::tuple run_all(const std::vector<NamedRun>& runs, const std::string& store_path, const std::string& program,
                  unsigned jobs, double timeout, const std::vector<std::string>& words,
                  const std::optional<py::function>& listener) {
  std::vector<std::optional<std::string>> results(runs.size());
  std::vector<std::string> errors(runs.size());
  RunnerOutcome outcome;
  {
    const py::gil_scoped_release others_may_run;
    Planner planner;
    std::vector<PlannedRun> planned;
    for (const NamedRun& run : runs) planned.push_back(planner.plan(run));
    check_inputs(runs);
    ResultStore store(store_path);
    RunnerOptions options;
    options.program = program;
    options.jobs = jobs;
    options.timeout = timeout;
    options.words = words;
    if (listener) {
      options.on_progress = [&](const StudyProgress& progress) { tell(*listener, progress); };
    }
    outcome = run_missing(planned, store, options);
    for (std::size_t i = 0; i < planned.size(); ++i) {
      if (store.contains(planned[i].key)) {
        results[i] = store.json(planned[i].key);
      } else if (const auto failure = store.failure(planned[i].key)) {
        errors[i] = failure->error;
      }
    }
  }
  return py::make_tuple(results, errors, outcome.interrupted);
}

py::dict dict_of(const ComparedCycles& run) {
  return py::dict("cycles"_a = run.mean(), "speedup"_a = run.speedup, "low"_a = run.interval.low,
                  "high"_a = run.interval.high, "within_noise"_a = run.interval.within_noise_of(1));
}

/// Cycles by workload, variant and draw, of the run and of each of its applications.
using Cycles = std::vector<Cycle>;
py::tuple compare(const std::vector<std::vector<std::pair<Cycles, std::vector<Cycles>>>>& cycles) {
  Comparison comparison;
  for (const auto& row : cycles) {
    auto& runs = comparison.runs.emplace_back();
    for (const auto& [whole, applications] : row) {
      ComparedRun& run = runs.emplace_back();
      run.cycles = whole;
      for (const Cycles& each : applications) run.applications.emplace_back().cycles = each;
      comparison.repeats = whole.size();
    }
    comparison.variants.resize(row.size());
  }
  measure(comparison);
  py::list runs;
  for (const auto& row : comparison.runs) {
    py::list out;
    for (const ComparedRun& run : row) {
      py::list applications;
      for (const ComparedApplication& each : run.applications) applications.append(dict_of(each));
      out.append(py::make_tuple(dict_of(run), applications));
    }
    runs.append(out);
  }
  py::list means;
  for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
    const Interval& interval = comparison.mean_intervals[v];
    means.append(py::dict("speedup"_a = comparison.geometric_means[v], "low"_a = interval.low, "high"_a = interval.high,
                          "within_noise"_a = interval.within_noise_of(1)));
  }
  return py::make_tuple(runs, means);
}

}  // namespace

void bind_runs(py::module_& module) {
  py::class_<NamedRun>(module, "NamedRun")
      .def(py::init(&make_run), py::kw_only(), "workload"_a, "size"_a, "parameters"_a, "input"_a, "system"_a,
           "designs"_a, "overrides"_a, "seed"_a, "draw"_a)
      .def("label", &run_label);
  module.def("parameters_for", parameters_for, "workload"_a, "parameters"_a, "all"_a);
  module.def("input_for", input_for_run, "workload"_a, "input"_a, "all"_a);
  module.def("timing_parameters", timing_parameters, "timing"_a, "workloads"_a);
  module.def("run_all", run_all, "runs"_a, "store"_a, "program"_a, "jobs"_a, "timeout"_a, "words"_a, "listener"_a);
  module.def("compare", compare, "cycles"_a);
  module.def(
      "interval",
      [](const std::vector<double>& values, bool geometric) {
        const Interval interval = geometric ? geometric_interval_of(values) : interval_of(values);
        return py::make_tuple(interval.mean, interval.low, interval.high);
      },
      "values"_a, "geometric"_a);
}

}  // namespace nearfar
