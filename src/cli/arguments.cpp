// Shared options of the command line.
#include "cli/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <limits>
#include <stdexcept>

#include "config/words.h"
#include "study/named_run.h"

namespace nearfar {
namespace {

constexpr std::uint64_t kMaxThreads = 1024;

/// CLI11 asks these; what they answer is what is wrong, or "".
std::string switch_fault(const std::string& text) {
  try {
    CLI::detail::to_flag_value(text);
    return "";
  } catch (const std::invalid_argument&) {
    return fmt::format("a switch takes no value but true or false; `{}` is neither.", text);
  }
}

/// An empty value would pass for an option that is not there.
std::string empty_fault(const std::string& text, const std::string& kind) {
  if (!text.empty()) return "";
  if (kind == value_kind::kFile) return "the name of a file was expected; it is empty.";
  if (kind == value_kind::kFolder) return "the name of a folder was expected; it is empty.";
  return "a value was expected; it is empty.";
}

}  // namespace

Experiment ExperimentArguments::experiment(const std::vector<std::string>& workloads) const {
  Experiment experiment;
  experiment.size = parse_size(size);
  experiment.parameters = parameters;
  for (std::string& parameter : timing_parameters(timing, workloads)) {
    experiment.parameters.push_back(std::move(parameter));
  }
  experiment.seed = parse_whole("--seed", seed, 0, std::numeric_limits<std::uint64_t>::max());
  experiment.input = input;
  experiment.threads = static_cast<unsigned>(parse_whole("--threads", threads, 1, kMaxThreads));
  experiment.check = check;
  experiment.per_unit = per_unit;
  return experiment;
}

CLI::App& add_command(CLI::App& program, const std::string& name, const std::string& sentence) {
  return *program.add_subcommand(name, sentence)->group("Commands");
}

bool was_chosen(const CLI::App& app) { return app.parsed(); }

void add_flag(CLI::App& app, const std::string& names, bool& value, const std::string& sentence) {
  app.add_flag(names, value, sentence)->check(switch_fault);
}

void add_value(CLI::App& app, const std::string& names, std::string& value, const char* kind,
               const std::string& sentence) {
  CLI::Option* option = app.add_option(names, value, sentence)->type_name(kind);
  if (!value.empty()) option->default_str(value);
  // The words for another program may be none, and commands say themselves what they need.
  if (std::string_view(kind) == value_kind::kWords || option->get_positional()) return;
  option->check([kind](const std::string& text) { return empty_fault(text, kind); });
}

void add_hidden_value(CLI::App& app, const std::string& name, std::string& value) {
  app.add_option(name, value)->group("");
}

void add_values(CLI::App& app, const std::string& names, std::vector<std::string>& values, const char* kind,
                const std::string& sentence) {
  app.add_option(names, values, sentence)->type_name(kind)->allow_extra_args(false);
}

void add_words(CLI::App& app, const std::string& name, std::vector<std::string>& values, const char* kind,
               const std::string& sentence) {
  app.add_option(name, values, sentence)->type_name(kind);
}

void refuse_repeated(std::string_view what, const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    if (std::ranges::count(names, name) > 1) throw InputError(fmt::format("The {} `{}` is named twice.", what, name));
  }
}

void refuse_set_too(const std::string& option, const std::string& key, const std::vector<std::string>& overrides) {
  for (const std::string& setting : overrides) {
    if (!setting.starts_with(key + "=")) continue;
    throw InputError(fmt::format("{} and --set {} both decide `{}`; give one of them.", option, setting, key));
  }
}

void rethrow_varied(const OverrideError& error, const std::vector<std::string>& keys) {
  const std::string key = error.text.substr(0, error.text.find('='));
  if (key.empty() || std::ranges::count(keys, key) == 0) throw error;  // of --set, as it says
  throw InputError("--vary: " + error.problem);
}

void add_repeat_option(CLI::App& app, std::string& repeat) {
  add_value(app, "--repeat", repeat, value_kind::kNumber,
            "Make each run N times, perturbed by a few cycles of jitter: means then come with a 95 % interval");
}

void add_study_repeat_option(CLI::App& app, std::string& repeat) {
  add_value(app, "--repeat", repeat, value_kind::kNumber,
            "Each run N times, whatever the study says: means then come with a 95 % interval");
}

std::optional<std::uint32_t> read_study_repeat(const std::string& repeat, bool quick) {
  if (!repeat.empty()) return read_repeat(repeat, {});
  return quick ? std::optional(1U) : std::nullopt;
}

std::uint32_t read_repeat(const std::string& repeat, const std::vector<std::string>& overrides) {
  const auto repeats = static_cast<std::uint32_t>(parse_whole("--repeat", repeat, 1, kMostRepeats));
  if (repeats > 1) refuse_set_too("--repeat " + repeat, kDrawKey, overrides);
  return repeats;
}

void refuse_varied_draw(const std::string& key, const std::string& repeat) {
  if (key != kDrawKey || read_repeat(repeat, {}) == 1) return;
  throw InputError(fmt::format("--vary {0} and --repeat {1} both decide `{0}`; give one of them.", key, repeat));
}

void add_input_option(CLI::App& app, std::string& input) {
  add_value(app, "--input", input, value_kind::kFile,
            "Graph for the workloads that take one: Matrix Market, DIMACS .gr, METIS .graph, or a list of edges");
}

void add_experiment_options(CLI::App& app, ExperimentArguments& arguments) {
  using namespace value_kind;
  add_value(app, "--size", arguments.size, kSize, "Size of the input: small, medium or paper");
  add_values(app, "--param", arguments.parameters, kParameter,
             "Set one parameter of the workload, over its size; may be repeated");
  add_value(app, "--seed", arguments.seed, kNumber, "Seed of the inputs that are drawn at random");
  add_input_option(app, arguments.input);
  add_value(app, "--timing", arguments.timing, kTiming,
            "Of traces, what passes time between memory operations: program, recorded or none (program if not given)");
  add_value(app, "--threads", arguments.threads, kNumber,
            "Threads to simulate on; the result is the same on any number");
  add_flag(app, "--check", arguments.check, "Check every access while it runs (slower)");
  add_flag(app, "--per-unit", arguments.per_unit,
           "Statistics of every compute unit and of every pair of devices in JSON and CSV, not only their sums");
  add_flag(app, "--quiet", arguments.quiet, "No summary and no progress line");
}

void add_instances_option(CLI::App& app, std::string& instances) {
  add_value(app, "--instances", instances, value_kind::kInstances,
            "How a GPU is cut into instances (MIG), such as 3g:2g:2g, each of which runs one application of a mix");
}

std::vector<std::string> with_instances(const std::vector<std::string>& overrides, const std::string& instances) {
  if (instances.empty()) return overrides;
  refuse_set_too("--instances " + instances, "mig.instances", overrides);
  std::vector<std::string> all = overrides;
  all.push_back("mig.instances=" + instances);
  return all;
}

void add_set_option(CLI::App& app, std::vector<std::string>& overrides) {
  add_values(app, "--set", overrides, value_kind::kSetting,
             "Override one value of the system, such as gpu.l2.size=4MiB; may be repeated");
}

}  // namespace nearfar
