// Keys keep the order in which they are written here; what was not measured is null.
#include "cli/report_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/version.h"

namespace nearfar {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const std::optional<double>& value) { return value ? Json(*value) : Json(nullptr); }

Json interval_json(const std::optional<Interval>& interval) {
  if (!interval || !interval->has_spread()) return nullptr;
  return {{"n", interval->count}, {"mean", interval->mean}, {"low", interval->low}, {"high", interval->high}};
}

template <class Key, class Value>
Json named(const std::vector<Key>& keys, const std::vector<Value>& values) {
  Json out = Json::object();
  for (std::size_t i = 0; i < keys.size(); ++i) out[keys[i]] = json_of(values[i]);
  return out;
}

/// Cycles are whole numbers.
Json cycles_of(const std::vector<std::string>& workloads, const std::vector<std::optional<double>>& cycles) {
  Json out = Json::object();
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    out[workloads[i]] = cycles[i] ? Json(std::llround(*cycles[i])) : Json(nullptr);
  }
  return out;
}

std::string json_text(const Json& json) { return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"; }

}  // namespace

std::string composition_json(const Composition& composition) {
  Json out;
  out["version"] = version();
  out["workloads"] = composition.workloads;
  out["designs"] = composition.designs;
  out["threshold"] = Composition::kThreshold;
  out["combinations"] = Json::array();
  for (const Combination& each : composition.combinations) {
    Json entry = {{"designs", each.label}};
    if (!each.refused.empty()) {
      entry["refused"] = each.refused;
    } else {
      entry["cycles"] = cycles_of(composition.workloads, each.cycles);
      entry["speedups"] = named(composition.workloads, each.speedups);
      entry["mean"] = json_of(each.mean);
      if (!each.intervals.empty()) {
        for (std::size_t w = 0; w < composition.workloads.size(); ++w)
          entry["speedup_intervals"][composition.workloads[w]] = interval_json(each.intervals[w]);
        entry["mean_interval"] = interval_json(each.mean_interval);
      }
    }
    out["combinations"].push_back(std::move(entry));
  }
  out["effects"] = Json::array();
  for (std::size_t i = 0; i < composition.designs.size(); ++i) {
    const DesignEffect& effect = composition.effects[i];
    out["effects"].push_back({{"design", composition.designs[i]},
                              {"alone", json_of(effect.alone)},
                              {"average", json_of(effect.average)},
                              {"by_workload", named(composition.workloads, effect.by_workload)}});
    if (!effect.alone_interval) continue;
    out["effects"].back()["alone_interval"] = interval_json(effect.alone_interval);
    out["effects"].back()["average_interval"] = interval_json(effect.average_interval);
  }
  out["interactions"] = Json::array();
  for (const PairEffect& pair : composition.pairs) {
    out["interactions"].push_back({{"first", composition.designs[pair.first]},
                                   {"second", composition.designs[pair.second]},
                                   {"interaction", json_of(pair.interaction)},
                                   {"average", json_of(pair.average)},
                                   {"relationship", relationship_name(pair.relationship)},
                                   {"by_workload", named(composition.workloads, pair.by_workload)}});
    if (!pair.interaction_interval) continue;
    out["interactions"].back()["interaction_interval"] = interval_json(pair.interaction_interval);
    out["interactions"].back()["average_interval"] = interval_json(pair.average_interval);
  }
  return json_text(out);
}

std::string tuning_json(const Tuning& tuning) {
  Json out;
  out["version"] = version();
  out["workloads"] = tuning.workloads;
  out["points"] = Json::array();
  for (std::size_t point = 0; point < tuning.points(); ++point) {
    Json cycles = Json::object(), speedups = Json::object();
    for (std::size_t w = 0; w < tuning.workloads.size(); ++w)
      cycles[tuning.workloads[w]] = std::llround(tuning.cycles[w][point]);
    for (const TunedCurve& curve : tuning.curves) speedups[curve.label] = curve.speedups[point];
    Json entry = {{"settings", tuning.overrides(point)}, {"cycles", cycles}, {"speedups", speedups}};
    if (!tuning.curves.front().intervals.empty()) {
      for (const TunedCurve& curve : tuning.curves)
        entry["speedup_intervals"][curve.label] = interval_json(curve.intervals[point]);
    }
    out["points"].push_back(std::move(entry));
  }
  out["knees"] = Json::array();
  for (const TunedCurve& curve : tuning.curves) {
    out["knees"].push_back({{"of", curve.label},
                            {"enough", curve.knee.enough ? Json(tuning.overrides(*curve.knee.enough)) : Json(nullptr)},
                            {"still_rises", curve.knee.rising},
                            {"knee", curve.knee.bend ? Json(tuning.overrides(*curve.knee.bend)) : Json(nullptr)}});
  }
  return json_text(out);
}

std::string claims_json(const std::vector<MeasuredClaim>& claims) {
  Json out;
  out["version"] = version();
  out["claims"] = Json::array();
  for (const MeasuredClaim& measured : claims) {
    const Claim& claim = *measured.claim;
    Json entry = {{"id", claim.id},
                  {"paper", claim.paper},
                  {"figure", claim.figure},
                  {"sentence", claim.sentence},
                  {"published", claim.published.text},
                  {"unit", claim.unit},
                  {"band", claim.band},
                  {"study", claim.study},
                  {"role", role_name(claim.role)},
                  {"outcome", outcome_text(measured)},
                  {"measured", measured.values},
                  {"ratio", json_of(measured.ratio)},
                  {"verdict", verdict_name(measured.verdict)}};
    if (!measured.intervals.empty()) {
      entry["intervals"] = Json::array();
      for (const Interval& interval : measured.intervals) entry["intervals"].push_back(interval_json(interval));
    }
    if (!measured.note.empty()) entry["note"] = measured.note;
    if (!measured.warnings.empty()) entry["warnings"] = measured.warnings;
    if (const UnderReadings& under = measured.readings; !under.reading.empty()) {
      entry["reading"] = under.reading;
      entry["readings"] = {
          {"not_ruled_out", under.remaining}, {"measured", under.measured}, {"reproducing", under.reproducing}};
      if (under.measured > 0) entry["readings"]["low"] = under.low, entry["readings"]["high"] = under.high;
    }
    out["claims"].push_back(std::move(entry));
  }
  return json_text(out);
}

}  // namespace nearfar
