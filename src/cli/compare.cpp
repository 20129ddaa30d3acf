// `nearfar compare`: every workload on every variant of the machine, side by side.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <thread>

#include "cli/batch.h"
#include "cli/command.h"
#include "cli/comparison.h"
#include "cli/output_file.h"
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
  std::string instances;
  std::vector<std::string> overrides;
  std::string designs = "baseline";
  std::string vary;
  std::string repeat = "1";
  std::string json, csv;
  BatchArguments batch;
};

struct Variant {
  std::string label, system, design;
  std::vector<std::string> overrides;
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
std::vector<Variant> make_variants(const CompareArguments& arguments) {
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
        variants.push_back({join(label, " "), system, design, std::move(overrides)});
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

/// All runs, planned: by workload, by variant, by draw.
std::vector<PlannedRun> plan_all(const CompareArguments& arguments, const Experiment& experiment,
                                 const std::vector<Variant>& variants, std::uint32_t repeats) {
  Planner planner;
  std::vector<PlannedRun> planned;
  for (const std::string& workload : arguments.workloads) {
    for (const Variant& variant : variants) {
      NamedRun run;
      run.workload = workload;
      run.size = experiment.size;
      run.parameters = parameters_for(workload, experiment.parameters, arguments.workloads);
      run.input = input_for_run(workload, experiment.input, arguments.workloads);
      run.system = variant.system;
      run.designs = variant.design;
      run.overrides = variant.overrides;
      run.seed = experiment.seed;
      for (std::uint32_t draw = 0; draw < repeats; ++draw) {
        if (repeats > 1) run.draw = draw;
        planned.push_back(planner.plan(run));
      }
    }
  }
  return planned;
}

/// The same; a mistake in what --vary sets is said of --vary.
std::vector<PlannedRun> plan_varied(const CompareArguments& arguments, const Experiment& experiment,
                                    const std::vector<Variant>& variants, std::uint32_t repeats) {
  try {
    return plan_all(arguments, experiment, variants, repeats);
  } catch (const OverrideError& error) {
    rethrow_varied(error, {arguments.vary.substr(0, arguments.vary.find('='))});
  }
}

/// A folder for a store that nobody keeps.
class ScratchFolder {
 public:
  ScratchFolder() : path_((std::filesystem::temp_directory_path() / "nearfar-XXXXXX").string()) {
    if (mkdtemp(path_.data()) == nullptr) {
      throw InputError(fmt::format("A folder for the results cannot be made: `{}`.", path_));
    }
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  ~ScratchFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::string file(const std::string& name) const { return (std::filesystem::path(path_) / name).string(); }

 private:
  std::string path_;
};

/// How every run is done.
std::vector<std::string> words_of(const Experiment& experiment) {
  std::vector<std::string> words = {"--threads", std::to_string(experiment.threads)};
  if (experiment.check) words.emplace_back("--check");
  if (experiment.per_unit) words.emplace_back("--per-unit");
  return words;
}

void read_result(ComparedRun& run, const StoredResult& result, const std::vector<ApplicationPart>& parts) {
  run.cycles.push_back(result.cycles);
  if (parts.size() == 1) return;
  run.applications.resize(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    run.applications[i].name = parts[i].name;
    const auto cycles = result.statistics.find(fmt::format("app{}.cycles", i)).value_or(0);
    run.applications[i].cycles.push_back(static_cast<Cycle>(cycles));
  }
}

Comparison run_all(const CompareArguments& arguments, const Experiment& experiment,
                   const std::vector<Variant>& variants, std::uint32_t repeats) {
  const std::vector<PlannedRun> planned = plan_varied(arguments, experiment, variants, repeats);
  std::vector<NamedRun> named;
  for (const PlannedRun& run : planned) named.push_back(run.run);
  check_inputs(named);
  // A thread of each run takes a core.
  unsigned jobs = jobs_of(arguments.batch);
  if (jobs == 0) jobs = std::max(1U, std::thread::hardware_concurrency() / experiment.threads);
  // Nobody knows whether what is in the store was checked, and it has no statistics of single units.
  std::optional<ScratchFolder> scratch;
  if (experiment.check || experiment.per_unit) scratch.emplace();
  ResultStore store(scratch ? scratch->file("results.db") : arguments.batch.database);
  refuse_failures(run_batch(planned, store, jobs, arguments.experiment.quiet, words_of(experiment)), planned.size());

  Comparison comparison;
  comparison.workloads = arguments.workloads;
  comparison.repeats = repeats;
  for (const Variant& variant : variants) comparison.variants.push_back(variant.label);
  auto next = planned.begin();
  for (const std::string& workload : arguments.workloads) {
    const std::vector<ApplicationPart> parts = application_parts(workload, experiment.size);
    auto& row = comparison.runs.emplace_back();
    for (std::size_t v = 0; v < variants.size(); ++v) {
      ComparedRun& run = row.emplace_back();
      run.result = store.json(next->key);
      for (std::uint32_t draw = 0; draw < repeats; ++draw) read_result(run, *store.find((next++)->key), parts);
    }
  }
  measure(comparison);
  return comparison;
}

std::string heading(const CompareArguments& arguments, const Experiment& experiment,
                    const std::vector<Variant>& variants, std::uint32_t repeats) {
  std::string out = fmt::format("size {}, seed {}", size_name(experiment.size), experiment.seed);
  if (split(arguments.systems, ',').size() == 1) out += ", system " + arguments.systems;
  for (const std::string& setting : arguments.overrides) out += ", " + setting;
  out += fmt::format("; speedup is against {}", variants.front().label);
  if (repeats > 1) out += fmt::format(", mean and 95 % interval of {} repeats", repeats);
  return out + "\n\n";
}

void perform_compare(CompareArguments arguments) {
  arguments.overrides = with_instances(arguments.overrides, arguments.instances);
  if (arguments.workloads.empty()) {
    throw InputError(
        "`nearfar compare` needs WORKLOADS, as in `nearfar compare MT PR --vary gpus=1,2,4`; `nearfar list workloads` "
        "shows them all.");
  }
  refuse_repeated("workload", arguments.workloads);
  std::optional<OutputFile> json, csv;
  if (!arguments.json.empty()) json.emplace(arguments.json);
  if (!arguments.csv.empty()) csv.emplace(arguments.csv);
  const bool to_stdout = check_outputs({&json, &csv});
  const Experiment experiment = arguments.experiment.experiment(arguments.workloads);
  const std::uint32_t repeats = read_repeat(arguments.repeat, arguments.overrides);
  const std::string key = arguments.vary.substr(0, arguments.vary.find('='));
  refuse_varied_draw(key, arguments.repeat);
  if (!key.empty()) refuse_set_too("--vary " + arguments.vary, key, arguments.overrides);
  const std::vector<Variant> variants = make_variants(arguments);
  const Comparison comparison = run_all(arguments, experiment, variants, repeats);
  if (json) json->write(comparison_json(comparison));
  if (csv) csv->write(comparison_csv(comparison));
  if (!arguments.experiment.quiet && !to_stdout) {
    write_stdout(heading(arguments, experiment, variants, repeats) +
                 comparison_table(comparison, Terminal::of(STDOUT_FILENO)));
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
  add_instances_option(app, arguments->instances);
  add_set_option(app, arguments->overrides);
  add_value(app, "--design", arguments->designs, kDesigns, "The designs, with commas between, each as a or a+b");
  add_value(app, "--vary", arguments->vary, kSettings,
            "One value of the system in several settings; the first is what the others are measured against");
  add_repeat_option(app, arguments->repeat);
  add_experiment_options(app, arguments->experiment);
  add_store_options(app, arguments->batch);
  add_value(app, "--json", arguments->json, kFile, "Write all results as JSON; - is standard output");
  add_value(app, "--csv", arguments->csv, kFile, "Write cycles and speedups as CSV; - is standard output");
  return {&app, [arguments] { perform_compare(*arguments); }};
}

}  // namespace nearfar
