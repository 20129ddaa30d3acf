// Lists as dictionaries; the Python side makes its own types of them.
#include <pybind11/stl.h>

#include <algorithm>

#include "bindings.h"
#include "characterize/functional/functional_pass.h"
#include "designs/design.h"
#include "designs/names.h"
#include "machine/statistics.h"
#include "machine/system_file.h"
#include "study/experiment.h"
#include "study/expression.h"
#include "study/study_file.h"
#include "workload/catalog.h"
#include "workload/expected.h"
#include "workload/mixes.h"

namespace nearfar {
namespace {

namespace py = pybind11;
using namespace py::literals;

py::list list_of_workloads() {
  py::list out;
  for (const WorkloadInfo& info : catalog()) {
    py::list parameters;
    for (const WorkloadParameter& each : info.parameters) {
      parameters.append(py::dict("name"_a = each.name, "sentence"_a = each.sentence, "small"_a = each.small,
                                 "medium"_a = each.medium, "paper"_a = each.paper));
    }
    py::dict footprint, accesses;
    for (const SizeClass size : {SizeClass::Small, SizeClass::Medium, SizeClass::Paper}) {
      const Expected each = expected(info.name, size);
      const py::str name{std::string(size_name(size))};
      footprint[name] = each.bytes;
      accesses[name] = each.accesses;
    }
    out.append(py::dict("name"_a = info.name, "title"_a = info.title, "suite"_a = info.suite,
                        "sentence"_a = info.sentence, "parameters"_a = parameters, "footprint"_a = footprint,
                        "accesses"_a = accesses));
  }
  return out;
}

py::list list_of_mixes() {
  py::list out;
  for (const Mix& mix : mixes()) {
    out.append(py::dict("name"_a = mix.name, "workloads"_a = mix.workloads, "classes"_a = mix.classes));
  }
  return out;
}

template <class Range>
py::list named(const Range& range) {
  py::list out;
  for (const auto& each : range) out.append(py::make_tuple(each.name, each.sentence));
  return out;
}

py::list list_of_statistics() {
  std::vector<StatInfo> all = list_all_statistics();
  for (StatInfo& each : functional_statistics()) all.push_back(std::move(each));
  std::ranges::sort(all, {}, &StatInfo::name);
  py::list out;
  for (const StatInfo& each : all) out.append(py::make_tuple(each.name, each.unit, each.sentence));
  return out;
}

py::list list_of_studies() {
  py::list out;
  for (const StudySummary& each : need_studies()) out.append(py::make_tuple(each.name, each.title));
  return out;
}

py::list parameters_of(const std::string& system, const std::string& designs,
                       const std::vector<std::string>& overrides) {
  py::list out;
  for (const EffectiveParameter& each : make_machine(system, designs, overrides).loaded.parameters) {
    out.append(py::dict("path"_a = each.path, "value"_a = each.value, "typed"_a = each.typed,
                        "default"_a = each.default_value, "unit"_a = each.unit, "range"_a = each.range,
                        "sentence"_a = each.sentence, "origin"_a = each.origin));
  }
  return out;
}

}  // namespace

void bind_catalogue(py::module_& module) {
  module.def("list_workloads", list_of_workloads);
  module.def("list_mixes", list_of_mixes);
  module.def("list_systems", [] { return named(list_systems()); });
  module.def("list_designs", [] { return named(list_designs()); });
  module.def("list_statistics", list_of_statistics);
  module.def("list_studies", list_of_studies);
  module.def("nearest_statistic", nearest_statistic, "name"_a);
  module.def("parameters_of", parameters_of, "system"_a, "designs"_a, "overrides"_a);
}

}  // namespace nearfar
