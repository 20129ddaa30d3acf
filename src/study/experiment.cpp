// From the words of the command line to a RunRequest, and from its result to a report.
#include "study/experiment.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "config/error.h"
#include "config/words.h"
#include "designs/design.h"
#include "designs/names.h"
#include "study/statistic.h"
#include "trace/trace_workload.h"
#include "workload/mixes.h"

namespace nearfar {
namespace {

/// `--param`, taken apart.
struct Parameter {
  std::string workload;  ///< empty: of every workload that has it
  ParameterSetting setting;
};

Parameter parse_parameter(const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw InputError(fmt::format("--param wants name=value, such as width=1024; `{}` is not.", text));
  }
  Parameter parameter;
  std::string name = text.substr(0, equals);
  if (const std::size_t dot = name.find('.'); dot != std::string::npos) {
    parameter.workload = name.substr(0, dot);
    name.erase(0, dot + 1);
  }
  const auto value = parse_whole(fmt::format("The parameter `{}`", text.substr(0, equals)), text.substr(equals + 1), 0,
                                 std::numeric_limits<std::uint64_t>::max());
  parameter.setting = {name, value};
  return parameter;
}

const WorkloadInfo* find_workload(const std::string& name) {
  const auto all = catalog();
  const auto found = std::ranges::find(all, name, &WorkloadInfo::name);
  return found == all.end() ? nullptr : &*found;
}

/// The parameters of a trace: what stands for time between its memory operations, as the number of a TraceTiming, and
/// whether what the host does between launches takes place.
constexpr const char* kTimingParameter = "timing";
constexpr const char* kHostParameter = "host";

std::vector<ParameterSetting> trace_parameters(const std::string& name, std::span<const ParameterSetting> settings) {
  ParameterSetting timing{kTimingParameter, 0}, host{kHostParameter, 1};
  for (const ParameterSetting& setting : settings) {
    if (setting.name == kTimingParameter) {
      if (setting.value > static_cast<std::uint64_t>(TraceTiming::None)) {
        throw InputError(
            fmt::format("The parameter `timing` of {} is {}, but must be 0 (program), 1 (recorded) or 2 "
                        "(none).",
                        name, setting.value));
      }
      timing.value = setting.value;
    } else if (setting.name == kHostParameter) {
      if (setting.value > 1) {
        throw InputError(
            fmt::format("The parameter `host` of {} is {}, but must be 0 (only kernels) or 1 (what the "
                        "host does between them, too).",
                        name, setting.value));
      }
      host.value = setting.value;
    } else {
      throw InputError(
          fmt::format("{} has no parameter `{}`: what a trace does was settled when it was recorded. It "
                      "has timing, which --timing sets, and host, which leaves out what the host does if it is 0.",
                      name, setting.name));
    }
  }
  return {timing, host};
}

std::shared_ptr<const Workload> workload_of_trace(const Application& application) {
  const auto value = [&](std::string_view name) {
    return std::ranges::find(application.parameters, name, &ParameterSetting::name)->value;
  };
  return open_trace(application.input, static_cast<TraceTiming>(value(kTimingParameter)),
                    value(kHostParameter) == 0 ? HostSteps::LeftOut : HostSteps::Kept);
}

bool has_parameter(const std::string& workload, const std::string& parameter) {
  if (is_trace(workload)) return parameter == kTimingParameter || parameter == kHostParameter;
  const WorkloadInfo* info = find_workload(workload);
  return info != nullptr &&
         std::ranges::find(info->parameters, parameter, &WorkloadParameter::name) != info->parameters.end();
}

/// Whether `parameter` is meant for `name`. One that nobody has goes to those who could have been meant, whose maker
/// then says what is wrong with it.
bool is_for(const Parameter& parameter, const std::string& name, const std::vector<std::string>& all_names) {
  if (!parameter.workload.empty()) return parameter.workload == name;
  if (has_parameter(name, parameter.setting.name)) return true;
  return std::ranges::none_of(all_names,
                              [&](const auto& other) { return has_parameter(other, parameter.setting.name); });
}

void check_addressees(const std::vector<Parameter>& parameters, const std::vector<std::string>& all_names) {
  for (const Parameter& parameter : parameters) {
    if (parameter.workload.empty() || std::ranges::find(all_names, parameter.workload) != all_names.end()) continue;
    throw InputError(fmt::format("--param {}.{} is for the workload `{}`, which does not run here; {} {}.",
                                 parameter.workload, parameter.setting.name, parameter.workload,
                                 all_names.size() == 1 ? "the only one is" : "those that do are",
                                 join(all_names, ", ")));
  }
}

/// The input goes to every workload that takes one. Where none does, the first one's maker says so.
std::string input_for(const std::string& name, const std::string& input, const std::vector<std::string>& all_names) {
  const auto takes = [](const std::string& each) {
    const WorkloadInfo* info = find_workload(each);
    return info != nullptr && info->takes_graph;
  };
  return takes(name) || std::ranges::none_of(all_names, takes) ? input : "";
}

/// The workloads of all names, mixes taken apart.
std::vector<std::string> single_names(const std::vector<std::string>& all_names) {
  std::vector<std::string> names;
  for (const std::string& name : all_names) {
    for (ApplicationPart& part : application_parts(name, SizeClass::Small)) names.push_back(std::move(part.name));
  }
  return names;
}

}  // namespace

std::uint64_t application_statistic(const RunResult& result, std::size_t application, std::string_view what) {
  return count_statistic(result, fmt::format("app{}.{}", application, what));
}

bool is_trace(std::string_view name) { return name.starts_with(kTracePrefix); }

std::string trace_path(std::string_view name) {
  const std::string path(name.substr(kTracePrefix.size()));
  if (path.empty()) throw InputError("The name of a trace's file is missing: `trace:FILE` was expected.");
  return path;
}

std::vector<std::string> timing_parameters(const std::string& timing, const std::vector<std::string>& names) {
  if (timing.empty()) return {};
  if (std::ranges::none_of(single_names(names), is_trace)) {
    throw InputError("--timing is for traces, `trace:FILE`; what is run here is none.");
  }
  return {fmt::format("{}={}", kTimingParameter, static_cast<unsigned>(parse_timing(timing)))};
}

std::vector<ApplicationPart> application_parts(const std::string& names, SizeClass size) {
  std::vector<ApplicationPart> parts;
  for (const std::string& name : split_names("workload", names)) {
    const auto mix = std::ranges::find(mixes(), name, &Mix::name);
    if (mix == mixes().end()) {
      parts.push_back({name});
      continue;
    }
    for (const std::string& workload : mix->workloads) parts.push_back({workload, settings_in_mix(workload, size)});
  }
  return parts;
}

std::vector<Application> plan_applications(const std::string& names, const Experiment& experiment,
                                           const std::vector<std::string>& all_names) {
  const std::vector<std::string> singles = single_names(all_names);
  std::vector<Parameter> parameters;
  for (const std::string& text : experiment.parameters) parameters.push_back(parse_parameter(text));
  std::vector<Application> applications;
  for (auto& [name, settings] : application_parts(names, experiment.size)) {
    for (const Parameter& parameter : parameters) {
      if (is_for(parameter, name, singles)) settings.push_back(parameter.setting);
    }
    if (is_trace(name)) {
      applications.push_back({name, trace_parameters(name, settings), nullptr, trace_path(name)});
      continue;
    }
    const std::string input = input_for(name, experiment.input, singles);
    applications.push_back({name, effective_parameters(name, experiment.size, settings, input), nullptr, input});
  }
  check_addressees(parameters, singles);
  return applications;
}

std::vector<Application> make_applications(const std::string& names, const Experiment& experiment,
                                           const std::vector<std::string>& all_names) {
  std::vector<Application> applications = plan_applications(names, experiment, all_names);
  for (Application& application : applications) {
    application.workload = is_trace(application.name)
                               ? workload_of_trace(application)
                               : make_workload(application.name, experiment.size, application.parameters,
                                               experiment.seed, application.input);
  }
  return applications;
}

std::vector<std::string> parameters_for(const std::string& names, const std::vector<std::string>& parameters,
                                        const std::vector<std::string>& all_names) {
  const std::vector<std::string> singles = single_names(all_names);
  std::vector<std::string> taken;
  for (const std::string& text : parameters) {
    const Parameter parameter = parse_parameter(text);
    if (std::ranges::any_of(single_names({names}),
                            [&](const std::string& name) { return is_for(parameter, name, singles); })) {
      taken.push_back(text);
    }
  }
  return taken;
}

std::string input_for_run(const std::string& names, const std::string& input,
                          const std::vector<std::string>& all_names) {
  const std::vector<std::string> singles = single_names(all_names);
  for (const std::string& name : single_names({names})) {
    if (!input_for(name, input, singles).empty()) return input;
  }
  return "";
}

NamedSystem make_machine(const std::string& system, const std::string& designs,
                         const std::vector<std::string>& overrides) {
  const std::vector<std::string> names = parse_designs(designs);
  return {system, names, load_system_with(names, system, overrides), overrides};
}

void check_fits(const std::string& names, const std::vector<Application>& applications, const NamedSystem& machine) {
  const auto gpus = machine.loaded.spec.gpus;
  if (applications.size() <= gpus) return;
  throw InputError(fmt::format("{} is {} applications, one for each GPU, but the system `{}` has {} GPU{}.", names,
                               applications.size(), machine.system, gpus, gpus == 1 ? "" : "s"));
}

Report perform(const std::string& names, const std::vector<Application>& applications, const Experiment& experiment,
               const NamedSystem& machine, std::function<void(const Progress&)> on_progress) {
  RunRequest request;
  request.system = machine.loaded.spec;
  request.system.perturb.seed = experiment.seed;
  for (const Application& application : applications) request.applications.push_back(application.workload);
  request.threads = experiment.threads;
  request.check = experiment.check;
  request.per_unit = experiment.per_unit;
  request.timeline = experiment.timeline;
  request.on_progress = std::move(on_progress);
  return {names, experiment, machine, applications, run(request)};
}

}  // namespace nearfar
