// From a study to its runs: every cell of its grid, and what its figures need beside them.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "designs/names.h"
#include "machine/system_file.h"
#include "study/study_file.h"

namespace nearfar {
namespace {

/// The overrides of a variant that its system knows without its designs.
std::vector<std::string> without_design_parameters(const StudyVariant& variant) {
  std::vector<std::string> overrides = variant.overrides;
  if (variant.designs == kBaseline || overrides.empty()) return overrides;
  const auto& known = make_machine(variant.system, std::string(kBaseline), {}).loaded.parameters;
  std::erase_if(overrides, [&](const std::string& text) {
    return std::ranges::find(known, text.substr(0, text.find('=')), &EffectiveParameter::path) == known.end();
  });
  return overrides;
}

}  // namespace

NamedRun cell_run(const Study& study, const std::string& workload, const StudyVariant& variant, std::uint64_t seed,
                  std::uint32_t draw) {
  return {workload,          variant.size,   parameters_for(workload, variant.parameters, study.workloads),
          variant.input,     variant.system, variant.designs,
          variant.overrides, seed,           study.repeat > 1 ? std::optional(draw) : std::nullopt};
}

/// What leaves one GPU of a run's machine: where GPUs are instances of one, the instance that an application has.
std::string one_gpu(const NamedRun& run, std::size_t index) {
  const SystemSpec spec = load_system(run.system, run.overrides).spec;
  if (!spec.has_instances()) return "gpus=1";
  return "mig.instances=" + spec.mig.instances.alone(static_cast<unsigned>(index)).text();
}

NamedRun alone_run(const Study& study, const std::string& workload, std::size_t index, const StudyVariant& variant,
                   std::uint64_t seed, std::uint32_t draw) {
  const ApplicationPart part = application_parts(workload, variant.size).at(index);
  NamedRun run = cell_run(study, workload, variant, seed, draw);
  std::vector<std::string> given = parameters_for(part.name, run.parameters, {workload});
  run.workload = part.name;
  run.parameters.clear();
  for (const ParameterSetting& setting : part.settings) {
    run.parameters.push_back(fmt::format("{}={}", setting.name, setting.value));
  }
  run.parameters.insert(run.parameters.end(), given.begin(), given.end());
  run.overrides = without_design_parameters(variant);
  const std::string one = one_gpu(run, index);
  std::erase_if(run.overrides, [](const std::string& text) { return text.starts_with("mig.instances="); });
  run.overrides.push_back(one);
  run.designs = kBaseline;
  return run;
}

std::vector<NamedRun> study_runs(const Study& study) {
  std::vector<NamedRun> runs;
  std::set<NamedRun> known;
  const auto add = [&](NamedRun run) {
    if (known.insert(run).second) runs.push_back(std::move(run));
  };
  for (const std::string& workload : study.workloads) {
    for (const StudyVariant& variant : study.variants) {
      for (const std::uint64_t seed : study.seeds) {
        for (std::uint32_t draw = 0; draw < study.repeat; ++draw) add(cell_run(study, workload, variant, seed, draw));
      }
    }
  }
  for (const StudyFigure& figure : study.figures) {
    if (std::ranges::none_of(figure.values, is_against_alone, &StudyValue::quantity)) continue;
    for (const std::string& workload : figure.workloads) {
      for (const StudyVariant& variant : study.variants) {
        for (const std::uint64_t seed : study.seeds) {
          for (std::size_t i = 0; i < application_count(workload); ++i) {
            for (std::uint32_t draw = 0; draw < study.repeat; ++draw)
              add(alone_run(study, workload, i, variant, seed, draw));
          }
        }
      }
    }
  }
  return runs;
}

std::size_t application_count(const std::string& workload) {
  return application_parts(workload, SizeClass::Small).size();
}

std::string shown_name(const Study& study, const std::string& workload) {
  const auto found = study.names.find(workload);
  return found == study.names.end() ? workload : found->second;
}

const StudyVariant& variant_of(const Study& study, const std::string& label) {
  return *std::ranges::find(study.variants, label, &StudyVariant::label);
}

}  // namespace nearfar
