// Reads only the configuration out of a result.
#include "report/stored_machine.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace nearfar {

std::vector<MachineValue> stored_machine(const std::string& result_json) {
  // The statistics are most of the text and not wanted here.
  const auto keep = [](int depth, nlohmann::ordered_json::parse_event_t event, nlohmann::ordered_json& parsed) {
    return !(depth == 1 && event == nlohmann::ordered_json::parse_event_t::key && parsed != "configuration" &&
             parsed != "configuration_origins");
  };
  const auto json = nlohmann::ordered_json::parse(result_json, keep, false);
  std::vector<MachineValue> out;
  if (!json.is_object() || !json.contains("configuration")) return out;
  const auto origins = json.value("configuration_origins", nlohmann::ordered_json::object());
  for (const auto& [path, value] : json["configuration"].items()) {
    const auto origin = origins.find(path);
    out.push_back({path, value.is_string() ? value.get<std::string>() : value.dump(),
                   origin == origins.end() ? "" : origin->get<std::string>()});
  }
  return out;
}

std::vector<MachineValue> differences(const std::vector<MachineValue>& base, const std::vector<MachineValue>& values) {
  std::vector<MachineValue> out;
  for (const MachineValue& value : values) {
    const auto before = std::ranges::find(base, value.path, &MachineValue::path);
    if (before == base.end() || before->value != value.value) out.push_back(value);
  }
  return out;
}

}  // namespace nearfar
