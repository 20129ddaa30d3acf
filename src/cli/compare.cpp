// `nearfar compare`: every workload on every variant of the machine, side by side.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <optional>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/comparison.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/result_json.h"
#include "config/error.h"
#include "config/words.h"
#include "study/named_run.h"

namespace nearfar {
namespace {

struct CompareArguments {
  std::vector<std::string> workloads;
  ExperimentArguments experiment;
  std::string systems = kDefaultSystem;
  std::vector<std::string> overrides;
  std::string designs = "baseline";
  std::string vary;
  std::string repeat = "1";
  std::string json;
};

struct Variant {
  std::string label;
  std::vector<NamedSystem> draws;  ///< the machine, once for each repeat
};

/// The overrides of `--vary key=v1,v2`, one for each value; one empty one without --vary.
std::vector<std::string> varied(const std::string& text) {
  if (text.empty()) return {""};
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    throw InputError(fmt::format("--vary wants key=v1,v2,…, such as gpu.l2.size=1MiB,2MiB; `{}` is not.", text));
  }
  std::vector<std::string> out;
  for (const std::string& value : split(text.substr(equals + 1), ','))
    out.push_back(text.substr(0, equals + 1) + value);
  return out;
}

/// What differs between variants is in their labels, and what --vary sets, be it one value.
std::vector<Variant> make_variants(const CompareArguments& arguments, std::uint32_t repeats) {
  const auto systems = split(arguments.systems, ',');
  const auto designs = split(arguments.designs, ',');
  const auto settings = varied(arguments.vary);
  std::vector<Variant> variants;
  for (const std::string& system : systems) {
    for (const std::string& design : designs) {
      for (const std::string& setting : settings) {
        std::vector<std::string> overrides = arguments.overrides;
        std::vector<std::string> label;
        if (systems.size() > 1) label.push_back(system);
        if (designs.size() > 1 || (systems.size() == 1 && setting.empty())) label.push_back(design);
        if (!setting.empty()) {
          overrides.push_back(setting);
          label.push_back(setting);
        }
        variants.push_back({join(label, " "), repeated_machine(system, design, overrides, repeats)});
      }
    }
  }
  for (std::size_t i = 0; i < variants.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (variants[i].label == variants[j].label) {
        throw InputError(fmt::format("`{}` is named twice; variants to compare must differ.", variants[i].label));
      }
    }
  }
  return variants;
}

std::vector<Variant> read_variants(const CompareArguments& arguments, std::uint32_t repeats) {
  const std::string key = arguments.vary.substr(0, arguments.vary.find('='));
  if (!key.empty()) refuse_set_too("--vary " + arguments.vary, key, arguments.overrides);
  try {
    return make_variants(arguments, repeats);
  } catch (const OverrideError& error) {
    rethrow_varied(error, {key});
  }
}

Comparison run_all(const CompareArguments& arguments, const Experiment& experiment,
                   const std::vector<Variant>& variants, const std::vector<std::vector<Application>>& applications) {
  const Terminal terminal = arguments.experiment.quiet ? Terminal{} : Terminal::of(STDERR_FILENO);
  Comparison comparison;
  comparison.workloads = arguments.workloads;
  for (const Variant& variant : variants) comparison.variants.push_back(variant.label);
  comparison.repeats = variants.front().draws.size();
  const std::size_t total = variants.size() * applications.size() * comparison.repeats;
  std::size_t number = 0;
  for (std::size_t w = 0; w < applications.size(); ++w) {
    const std::string& workload = arguments.workloads[w];
    auto& row = comparison.runs.emplace_back();
    for (const Variant& variant : variants) {
      ComparedRun& run = row.emplace_back();
      for (const NamedSystem& machine : variant.draws) {
        ProgressLine line(fmt::format("[{}/{}] {} {}", ++number, total, workload, variant.label), terminal);
        Report report = perform(workload, applications[w], experiment, machine,
                                [&](const Progress& progress) { line.update(progress); });
        run.cycles.push_back(report.result.cycles);
        if (run.cycles.size() == 1) run.report = std::move(report);
      }
    }
  }
  measure(comparison);
  return comparison;
}

std::string heading(const CompareArguments& arguments, const Experiment& experiment,
                    const std::vector<Variant>& variants) {
  std::string out = fmt::format("size {}, seed {}", size_name(experiment.size), experiment.seed);
  if (split(arguments.systems, ',').size() == 1) out += ", system " + arguments.systems;
  for (const std::string& setting : arguments.overrides) out += ", " + setting;
  out += fmt::format("; speedup is against {}", variants.front().label);
  if (const std::size_t repeats = variants.front().draws.size(); repeats > 1) {
    out += fmt::format(", mean and 95 % interval of {} repeats", repeats);
  }
  return out + "\n\n";
}

void perform_compare(const CompareArguments& arguments) {
  if (arguments.workloads.empty()) {
    throw InputError(
        "`nearfar compare` needs WORKLOADS, as in `nearfar compare MT PR --vary gpus=1,2,4`; `nearfar list workloads` "
        "shows them all.");
  }
  refuse_repeated("workload", arguments.workloads);
  std::optional<OutputFile> json;
  if (!arguments.json.empty()) json.emplace(arguments.json);
  const Experiment experiment = arguments.experiment.experiment(arguments.workloads);
  const std::uint32_t repeats = read_repeat(arguments.repeat, arguments.overrides);
  refuse_varied_draw(arguments.vary.substr(0, arguments.vary.find('=')), arguments.repeat);
  const auto variants = read_variants(arguments, repeats);
  // Everything is made and checked before the first run: a mistake in the last one must not cost the others' time.
  std::vector<std::vector<Application>> applications;
  for (const std::string& workload : arguments.workloads) {
    applications.push_back(make_applications(workload, experiment, arguments.workloads));
    for (const Variant& variant : variants) check_fits(workload, applications.back(), variant.draws.front());
  }
  const Comparison comparison = run_all(arguments, experiment, variants, applications);
  if (json) json->write(comparison_json(comparison));
  if (!arguments.experiment.quiet && !(json && json->is_stdout())) {
    write_stdout(heading(arguments, experiment, variants) + comparison_table(comparison, Terminal::of(STDOUT_FILENO)));
  }
}

}  // namespace

Command add_compare_command(CLI::App& program) {
  auto arguments = std::make_shared<CompareArguments>();
  CLI::App& app =
      add_command(program, "compare", "Run workloads on several systems, designs or settings, side by side");
  using namespace value_kind;
  add_words(app, "WORKLOADS", arguments->workloads, kWorkloads, "The workloads, each as `nearfar run` takes it");
  add_value(app, "--system", arguments->systems, kSystems, "The machines: names or .yaml files, with commas between");
  add_set_option(app, arguments->overrides);
  add_value(app, "--design", arguments->designs, kDesigns, "The designs, with commas between, each as a or a+b");
  add_value(app, "--vary", arguments->vary, kSettings,
            "One value of the system in several settings; the first is what the others are measured against");
  add_repeat_option(app, arguments->repeat);
  add_experiment_options(app, arguments->experiment);
  add_value(app, "--json", arguments->json, kFile, "Write all results as JSON; - is standard output");
  return {&app, [arguments] { perform_compare(*arguments); }};
}

}  // namespace nearfar
