#include "explore/result_view.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "report/stored_machine.h"
#include "study/bottleneck.h"
#include "study/latency_components.h"

namespace nearfar {
namespace {

using Json = nlohmann::ordered_json;

std::string view_text(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// The stored result as one that has just been made.
Report report_of(const NamedRun& run, const StoredResult& stored) {
  Report report;
  report.workload = run.workload;
  report.experiment.size = run.size;
  report.machine = make_machine(run.system, run.designs, run.overrides);
  for (const ApplicationPart& part : application_parts(run.workload, run.size)) {
    report.applications.push_back({part.name, part.settings, nullptr});
  }
  report.result.cycles = stored.cycles;
  report.result.instructions = stored.instructions;
  report.result.accesses = stored.accesses;
  const Statistics::Names& names = stored.statistics.names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const double value = stored.statistics.values()[i];
    report.result.statistics.push_back({names[i], true, 0, value});
  }
  return report;
}

struct ShownRate {
  const char* statistic;
  const char* shown;
};
constexpr ShownRate kRates[] = {
    {"gpus.l1v.load_hit_rate", "L1 hit rate of loads"}, {"gpus.l2.read_hit_rate", "L2 hit rate of reads"},
    {"gpus.l1_tlb.hit_rate", "L1 TLB hit rate"},        {"gpus.l2_tlb.hit_rate", "L2 TLB hit rate"},
    {"iommu.tlb.hit_rate", "IOMMU TLB hit rate"},       {"gpus.dram.row_hit_rate", "DRAM row hit rate"},
};

}  // namespace

std::string result_view(const NamedRun& run, const StoredResult& stored) {
  const Report report = report_of(run, stored);
  Json out = {{"key", stored.key},
              {"label", run_label(run)},
              {"stored", true},
              {"cycles", stored.cycles},
              {"instructions", stored.instructions},
              {"accesses", stored.accesses},
              {"host_seconds", stored.host_seconds}};
  const auto found = bottleneck(report);
  out["bound_by"] = found ? Json(bottleneck_text(*found)) : Json(nullptr);
  out["utilizations"] = Json::array();
  for (const Utilization& each : utilizations(report)) {
    out["utilizations"].push_back({{"of", utilization_name(each)}, {"share", each.share}});
  }
  out["latencies"] = Json::array();
  for (const LatencyBreakdown& breakdown : latency_breakdowns(report.result)) {
    Json parts = Json::array();
    for (const LatencyPart& part : breakdown.parts) {
      parts.push_back({{"name", part.name}, {"cycles", part.cycles}, {"share", part.share}});
    }
    out["latencies"].push_back({{"of", breakdown.of}, {"mean", breakdown.mean}, {"parts", parts}});
  }
  out["rates"] = Json::array();
  for (const ShownRate& rate : kRates) {
    if (const auto value = stored.statistics.find(rate.statistic))
      out["rates"].push_back({{"name", rate.shown}, {"share", *value}});
  }
  return view_text(out);
}

std::string difference_view(const std::string& base_json, const std::string& other_json) {
  const auto base = stored_machine(base_json);
  Json out = Json::array();
  for (const MachineValue& value : differences(base, stored_machine(other_json))) {
    const auto before = std::ranges::find(base, value.path, &MachineValue::path);
    out.push_back({{"parameter", value.path},
                   {"before", before == base.end() ? "" : before->value},
                   {"value", value.value},
                   {"origin", value.origin}});
  }
  return view_text({{"differences", out}});
}

}  // namespace nearfar
