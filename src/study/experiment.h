// A run as a person names it, made ready and carried out. `run` does one, `compare` and studies do many.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "machine/run.h"
#include "machine/system_file.h"
#include "workload/catalog.h"

namespace nearfar {

/// One application: a workload with all its parameters.
struct Application {
  std::string name;
  std::vector<ParameterSetting> parameters;
  std::shared_ptr<const Workload> workload;  ///< nothing while it is only planned
  std::string input{};                       ///< the file of its graph, or the trace; empty when there is none
};

/// What is common to all runs of a command.
struct Experiment {
  SizeClass size = SizeClass::Medium;
  std::vector<std::string> parameters;  ///< "name=value" or "WORKLOAD.name=value"
  std::uint64_t seed = 1;
  std::string input;  ///< the file of a graph, for the workloads that take one; may be empty
  unsigned threads = 1;
  bool check = false;
  bool per_unit = false;  ///< statistics of every compute unit too
  TimelineFilter timeline;
};

/// A machine, by the words that chose it.
struct NamedSystem {
  std::string system;
  std::vector<std::string> designs;
  LoadedSystem loaded;
  std::vector<std::string> overrides{};  ///< as --set takes them
};

/// A run and its result: what the summary, JSON and CSV are made of.
struct Report {
  std::string workload;  ///< "MT", or "FIR+KM" for one application on each GPU
  Experiment experiment;
  NamedSystem machine;
  std::vector<Application> applications;
  RunResult result;
};

/// What an application did in its first execution: its "cycles", "instructions", "accesses" or "launches".
std::uint64_t application_statistic(const RunResult& result, std::size_t application, std::string_view what);

/// One of the workloads of a run as it was named, with what the mix it belongs to says of it.
struct ApplicationPart {
  std::string name;
  std::vector<ParameterSetting> settings{};
};

/// A workload that is a trace is named by its file.
inline constexpr std::string_view kTracePrefix = "trace:";
bool is_trace(std::string_view name);
/// The file of "trace:FILE".
std::string trace_path(std::string_view name);
/// What --timing comes to as parameters; an InputError where none of the workloads is a trace.
std::vector<std::string> timing_parameters(const std::string& timing, const std::vector<std::string>& names);

/// "FIR+KM" or "W1", or both, taken apart.
std::vector<ApplicationPart> application_parts(const std::string& names, SizeClass size);

/// The applications of "MT", "FIR+KM", or of a mix by its name, "W1", with all their parameters. A parameter goes to
/// every workload of `all_names` that has it; one that none of them has is an error.
std::vector<Application> plan_applications(const std::string& names, const Experiment& experiment,
                                           const std::vector<std::string>& all_names);

/// The same, with the workloads made.
std::vector<Application> make_applications(const std::string& names, const Experiment& experiment,
                                           const std::vector<std::string>& all_names);

/// Those of `parameters` that `names` alone can be given, when all of them were given to `all_names`.
std::vector<std::string> parameters_for(const std::string& names, const std::vector<std::string>& parameters,
                                        const std::vector<std::string>& all_names);

/// `input` where one of `names` takes it, or none of all names does; else nothing.
std::string input_for_run(const std::string& names, const std::string& input,
                          const std::vector<std::string>& all_names);

/// `designs` is as --design takes it, `overrides` are as --set takes them.
NamedSystem make_machine(const std::string& system, const std::string& designs,
                         const std::vector<std::string>& overrides);

/// Several applications need a GPU each.
void check_fits(const std::string& names, const std::vector<Application>& applications, const NamedSystem& machine);

Report perform(const std::string& names, const std::vector<Application>& applications, const Experiment& experiment,
               const NamedSystem& machine, std::function<void(const Progress&)> on_progress);

}  // namespace nearfar
