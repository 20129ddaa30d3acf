// Words of a run, and what its configuration tells without running it.
#include "study/named_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "config/words.h"
#include "designs/names.h"
#include "study/run_key.h"
#include "trace/trace_file.h"
#include "workload/expected.h"

namespace nearfar {
namespace {

std::vector<std::string> overrides_of(const NamedRun& run) {
  std::vector<std::string> overrides = run.overrides;
  if (run.draw) overrides.push_back(draw_override(*run.draw));
  return overrides;
}

/// One text for each machine.
std::string machine_name(const NamedRun& run) {
  return run.system + '\n' + run.designs + '\n' + join(overrides_of(run), "\n");
}

/// What a trace says of itself.
Expected trace_size(const std::string& path) {
  const auto file = TraceFile::open(path);
  Expected size;
  size.accesses = file->counts().accesses;
  for (const Buffer& buffer : file->program().buffers) size.bytes += buffer.bytes;
  return size;
}

}  // namespace

std::string draw_override(std::uint32_t draw) { return fmt::format("{}={}", kDrawKey, draw); }

std::vector<NamedSystem> repeated_machine(const std::string& system, const std::string& designs,
                                          const std::vector<std::string>& overrides, std::uint32_t repeats) {
  if (repeats == 1) return {make_machine(system, designs, overrides)};
  std::vector<NamedSystem> machines;
  for (std::uint32_t draw = 0; draw < repeats; ++draw) {
    std::vector<std::string> all = overrides;
    all.push_back(draw_override(draw));
    machines.push_back(make_machine(system, designs, all));
  }
  return machines;
}

std::vector<std::string> run_words(const NamedRun& run) {
  std::vector<std::string> words = {
      "run",      run.workload, "--size", std::string(size_name(run.size)), "--system", run.system,
      "--design", run.designs,  "--seed", std::to_string(run.seed)};
  for (const std::string& parameter : run.parameters) words.insert(words.end(), {"--param", parameter});
  for (const std::string& setting : overrides_of(run)) words.insert(words.end(), {"--set", setting});
  if (!run.input.empty()) words.insert(words.end(), {"--input", run.input});
  return words;
}

void check_inputs(const std::vector<NamedRun>& runs) {
  std::set<std::string> seen;  // what runs on several machines is made once
  for (const NamedRun& run : runs) {
    if (run.input.empty()) continue;
    Experiment experiment;
    experiment.size = run.size;
    experiment.parameters = run.parameters;
    experiment.seed = run.seed;
    experiment.input = run.input;
    const std::string what = fmt::format("{} {} {} {} {}", run.workload, size_name(run.size), join(run.parameters, " "),
                                         run.seed, run.input);
    if (seen.insert(what).second) make_applications(run.workload, experiment, {run.workload});
  }
}

std::string run_label(const NamedRun& run) {
  std::string label = fmt::format("{} {} {} {}", run.workload, size_name(run.size), run.system, run.designs);
  for (const std::string& setting : run.overrides) label += " " + setting;
  for (const std::string& parameter : run.parameters) label += " " + parameter;
  if (!run.input.empty()) label += " " + run.input;
  if (run.seed != 1) label += fmt::format(" seed={}", run.seed);
  if (run.draw.value_or(0) != 0) label += fmt::format(" draw={}", *run.draw);
  return label;
}

std::vector<std::string> missing_designs(const std::string& designs) {
  std::vector<std::string> missing;
  const std::vector<DesignInfo> known = list_designs();
  for (const std::string& name : split(designs, '+')) {
    if (std::ranges::find(known, name, &DesignInfo::name) == known.end()) missing.push_back(name);
  }
  return missing;
}

const Planner::Machine& Planner::machine(const NamedRun& run) {
  const std::string name = machine_name(run);
  if (const auto found = machines_.find(name); found != machines_.end()) return found->second;
  NamedSystem system = make_machine(run.system, run.designs, overrides_of(run));
  std::string configuration = machine_text(system);
  std::string key = machine_key(system);
  return machines_.emplace(name, Machine{std::move(system), std::move(configuration), std::move(key)}).first->second;
}

const std::string& Planner::file_hash(const std::string& path) {
  if (const auto found = hashes_.find(path); found != hashes_.end()) return found->second;
  return hashes_.emplace(path, hash_file(path)).first->second;
}

PlannedRun Planner::plan(const NamedRun& run) {
  const Machine& on = machine(run);
  Experiment experiment;
  experiment.size = run.size;
  experiment.parameters = run.parameters;
  experiment.seed = run.seed;
  experiment.input = run.input;
  const std::vector<Application> applications = plan_applications(run.workload, experiment, {run.workload});
  check_fits(run.workload, applications, on.system);
  PlannedRun planned;
  planned.run = run;
  // A trace that cannot be read is said by who reads traces, not by who hashes files.
  for (const Application& application : applications) {
    const Expected size =
        is_trace(application.name) ? trace_size(application.input) : expected(application.name, run.size);
    planned.accesses += size.accesses;
    planned.footprint += size.bytes;
  }
  planned.program = program_text(applications, run.seed, [this](const std::string& path) { return file_hash(path); });
  planned.key = run_key(on.configuration, planned.program);
  planned.machine = on.key;
  return planned;
}

}  // namespace nearfar
