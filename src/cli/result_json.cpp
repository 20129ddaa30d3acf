// Keys keep the order in which they are written here.
#include "cli/result_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/version.h"
#include "study/plugins.h"
#include "study/run_key.h"

namespace nearfar {
namespace {

using Json = nlohmann::ordered_json;

Json parameters_of(const Application& application) {
  Json out = Json::object();
  for (const ParameterSetting& setting : application.parameters) out[setting.name] = setting.value;
  return out;
}

/// Of several applications, each name carries its workload's.
Json parameters_of(const std::vector<Application>& applications) {
  if (applications.size() == 1) return parameters_of(applications.front());
  Json out = Json::object();
  for (const Application& application : applications) {
    for (const ParameterSetting& setting : application.parameters) {
      out[application.name + "." + setting.name] = setting.value;
    }
  }
  return out;
}

Json applications_of(const Report& report) {
  Json out = Json::array();
  for (std::size_t i = 0; i < report.applications.size(); ++i) {
    const Application& application = report.applications[i];
    Json gpus = Json::array();
    if (report.applications.size() > 1) {
      gpus.push_back(i);
    } else {
      for (std::uint32_t gpu = 0; gpu < report.machine.loaded.spec.gpus; ++gpu) gpus.push_back(gpu);
    }
    Json each = {{"workload", application.name}, {"gpus", gpus}, {"parameters", parameters_of(application)}};
    for (const char* what : {"cycles", "instructions", "accesses", "launches"}) {
      each[what] = application_statistic(report.result, i, what);
    }
    out.push_back(std::move(each));
  }
  return out;
}

Json launches_of(const RunResult& result) {
  Json out = Json::array();
  for (const LaunchResult& launch : result.launches) {
    out.push_back({{"application", launch.application},
                   {"kernel", launch.kernel},
                   {"start", launch.start},
                   {"end", launch.end},
                   {"instructions", launch.instructions},
                   {"accesses", launch.accesses}});
  }
  return out;
}

/// Adds a key that is known to be new: operator[] would search all those before it.
void append(Json& object, const std::string& key, Json value) {
  object.get_ref<Json::object_t&>().emplace_back(key, std::move(value));
}

Json statistics_of(const std::vector<StatValue>& statistics) {
  Json out = Json::object();
  for (const StatValue& stat : statistics) {
    if (!stat.real) {
      append(out, stat.name, stat.count);
    } else if (std::isfinite(stat.ratio)) {
      append(out, stat.name, stat.ratio);
    }
  }
  return out;
}

Json series_of(const RunResult& result) {
  Json out = Json::object();
  for (const Series& series : result.series) {
    append(out, series.name, {{"every_cycles", series.every}, {"values", series.values}});
  }
  return out;
}

void add_configuration(Json& out, const NamedSystem& machine) {
  Json values = Json::object();
  Json origins = Json::object();
  for (const EffectiveParameter& parameter : machine.loaded.parameters) {
    append(values, parameter.path, parameter.value);
    append(origins, parameter.path, parameter.origin);
  }
  out["configuration"] = std::move(values);
  out["configuration_origins"] = std::move(origins);
}

Json json_of(const Report& report) {
  const RunResult& result = report.result;
  Json out;
  out["version"] = version();
  out["model"] = model_version();
  out["key"] = run_key(report);
  out["workload"] = report.workload;
  out["size"] = size_name(report.experiment.size);
  out["system"] = report.machine.system;
  out["designs"] = report.machine.designs;
  for (const LoadedPlugin& plugin : loaded_plugins()) {
    Json entry;
    entry["file"] = plugin.path;
    entry["sha256"] = plugin.hash;
    out["plugins"].push_back(entry);
  }
  out["seed"] = report.experiment.seed;
  if (!report.experiment.input.empty()) out["input"] = report.experiment.input;
  out["threads"] = report.experiment.threads;
  out["cycles"] = result.cycles;
  out["instructions"] = result.instructions;
  out["accesses"] = result.accesses;
  out["host_seconds"] = result.host_seconds;
  out["peak_rss_bytes"] = result.peak_rss_bytes;
  out["parameters"] = parameters_of(report.applications);
  out["applications"] = applications_of(report);
  out["launches"] = launches_of(result);
  add_configuration(out, report.machine);
  out["statistics"] = statistics_of(result.statistics);
  if (!result.series.empty()) out["series"] = series_of(result);
  return out;
}

Json json_of(const Interval& interval) {
  return {{"n", interval.count}, {"mean", interval.mean}, {"low", interval.low}, {"high", interval.high}};
}

/// Cycles are those of the first draw.
void add_speedup(Json& out, const ComparedCycles& run, bool repeated) {
  out["cycles"] = run.cycles.front();
  out["speedup"] = run.speedup;
  if (!repeated) return;
  out["speedup_interval"] = json_of(run.interval);
  out["cycles_by_draw"] = run.cycles;
  out["within_noise"] = run.interval.within_noise_of(1);
}

Json json_of(const Touched& touched) {
  return {{"pages", touched.pages},
          {"lines", touched.lines},
          {"lines_read", touched.lines_read},
          {"lines_written", touched.lines_written},
          {"pages_by_gpus", touched.pages_by},
          {"written_pages_by_gpus", touched.written_pages_by}};
}

Json json_of(const Distribution& distribution) {
  Json times = Json::object();
  for (std::size_t value = 0; value < Distribution::kValues; ++value) {
    if (distribution.times[value] != 0) append(times, std::to_string(value), distribution.times[value]);
  }
  return {
      {"least", distribution.least()}, {"mean", distribution.mean()}, {"most", distribution.most()}, {"times", times}};
}

Json json_of(const ReuseCurve& curve) {
  Json capacities = Json::array(), hits = Json::array();
  for (unsigned k = 0; k < ReuseCurve::kCapacities; ++k) {
    capacities.push_back(std::uint64_t{1} << k);
    hits.push_back(curve.hits[k]);
  }
  return {{"touches", curve.touches}, {"first", curve.first}, {"capacities", capacities}, {"hits", hits}};
}

Json json_of(const Strides& strides) {
  Json out = Json::object();
  append(out, "backwards", strides.backward);
  for (std::size_t i = 0; i < Strides::kForward; ++i) append(out, Strides::label(i), strides.forward[i]);
  return out;
}

/// Bytes that are no UTF-8 (they may stand in the name of a file) are replaced.
std::string text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string run_json(const Report& report) { return text(json_of(report)); }

std::string comparison_json(const Comparison& comparison) {
  Json out;
  out["version"] = version();
  out["workloads"] = comparison.workloads;
  out["variants"] = comparison.variants;
  out["repeats"] = comparison.repeats;
  const bool repeated = comparison.repeats > 1;
  out["geometric_means"] = Json::object();
  for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
    out["geometric_means"][comparison.variants[v]] = comparison.geometric_means[v];
  }
  if (repeated) {
    out["geometric_mean_intervals"] = Json::object();
    for (std::size_t v = 0; v < comparison.variants.size(); ++v) {
      out["geometric_mean_intervals"][comparison.variants[v]] = json_of(comparison.mean_intervals[v]);
    }
  }
  out["runs"] = Json::array();
  for (std::size_t w = 0; w < comparison.runs.size(); ++w) {
    const auto& row = comparison.runs[w];
    for (std::size_t v = 0; v < row.size(); ++v) {
      Json run = {{"workload", comparison.workloads[w]}, {"variant", comparison.variants[v]}};
      add_speedup(run, row[v], repeated);
      for (const ComparedApplication& application : row[v].applications) {
        Json each = {{"workload", application.name}};
        add_speedup(each, application, repeated);
        run["applications"].push_back(std::move(each));
      }
      run["result"] = Json::parse(row[v].result);
      out["runs"].push_back(std::move(run));
    }
  }
  return text(out);
}

std::string configuration_json(const std::string& system, const std::vector<EffectiveParameter>& parameters) {
  Json out;
  out["version"] = version();
  out["system"] = system;
  out["parameters"] = Json::array();
  for (const EffectiveParameter& parameter : parameters) {
    out["parameters"].push_back({{"path", parameter.path},
                                 {"value", parameter.value},
                                 {"typed", parameter.typed},
                                 {"default", parameter.default_value},
                                 {"unit", parameter.unit},
                                 {"range", parameter.range},
                                 {"sentence", parameter.sentence},
                                 {"origin", parameter.origin}});
  }
  return text(out);
}

std::string characterization_json(const Application& application, const Experiment& experiment,
                                  const Characterization& result) {
  Json out;
  out["version"] = version();
  out["workload"] = application.name;
  out["size"] = size_name(experiment.size);
  out["seed"] = experiment.seed;
  if (!experiment.input.empty()) out["input"] = experiment.input;
  out["parameters"] = parameters_of(application);
  out["gpus"] = result.spec.gpus;
  out["resident_wavefronts"] = result.spec.resident;
  out["launches"] = result.launches;
  out["workgroups"] = result.workgroups;
  out["wavefronts"] = result.wavefronts;
  out["instructions"] = result.instructions;
  out["vector_loads"] = result.loads;
  out["vector_stores"] = result.stores;
  out["atomics"] = result.atomics;
  out["scalar_loads"] = result.scalar_loads;
  out["barriers"] = result.barriers;
  out["accesses"] = result.accesses();
  out["footprint_bytes"] = result.bytes;
  out["touched"] = json_of(result.touched);
  out["lines_per_instruction"] = json_of(result.lines);
  out["pages_per_instruction"] = json_of(result.pages);
  out["active_lanes"] = {{"reading", result.lanes_reading}, {"writing", result.lanes_writing}};
  out["buffers"] = Json::array();
  for (const BufferTouched& buffer : result.buffers) {
    Json each = {{"name", buffer.name}, {"bytes", buffer.bytes}, {"private_copies", buffer.private_copies}};
    each.update(json_of(buffer.touched));
    out["buffers"].push_back(std::move(each));
  }
  out["page_reuse"] = json_of(result.page_reuse);
  out["line_reuse"] = json_of(result.line_reuse);
  out["strides"] = json_of(result.strides);
  return text(out);
}

std::string functional_json(const FunctionalReport& report) {
  Json out;
  out["version"] = version();
  out["model"] = model_version();
  out["size"] = size_name(report.experiment.size);
  out["system"] = report.machine.system;
  out["designs"] = report.machine.designs;
  out["seed"] = report.experiment.seed;
  if (!report.experiment.input.empty()) out["input"] = report.experiment.input;
  out["passes"] = Json::array();
  for (const FunctionalOfWorkload& each : report.passes) {
    Json pass;
    pass["workload"] = each.application.name;
    pass["parameters"] = parameters_of(each.application);
    pass["launches"] = each.result.launches;
    pass["instructions"] = each.result.instructions;
    pass["accesses"] = each.result.accesses;
    pass["host_seconds"] = each.result.host_seconds;
    pass["statistics"] = statistics_of(each.result.statistics);
    out["passes"].push_back(std::move(pass));
  }
  add_configuration(out, report.machine);
  return text(out);
}

}  // namespace nearfar
