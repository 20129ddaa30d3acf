// Reads the JSON of a result with all the doubt that a file deserves which another process has written.
#include "study/result_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

namespace nearfar {
namespace {

using Json = nlohmann::json;

std::string joined(const Json& designs) {
  std::string text;
  for (const Json& design : designs) text += (text.empty() ? "" : "+") + design.get<std::string>();
  return text.empty() ? "baseline" : text;
}

ResultFile fields_of(const Json& json) {
  ResultFile result;
  json.at("key").get_to(result.key);
  json.at("model").get_to(result.model);
  json.at("version").get_to(result.version);
  json.at("workload").get_to(result.workload);
  json.at("size").get_to(result.size);
  json.at("system").get_to(result.system);
  result.designs = joined(json.at("designs"));
  json.at("seed").get_to(result.seed);
  json.at("cycles").get_to(result.cycles);
  json.at("instructions").get_to(result.instructions);
  json.at("accesses").get_to(result.accesses);
  json.at("host_seconds").get_to(result.host_seconds);
  json.at("peak_rss_bytes").get_to(result.peak_rss_bytes);
  for (const auto& [name, value] : json.at("statistics").items()) result.statistics.emplace_back(name, value);
  if (result.statistics.empty()) throw BadResult("it has no statistics");
  std::ranges::sort(result.statistics);
  return result;
}

}  // namespace

ResultFile parse_result(std::string json, const std::string& expected_key) {
  ResultFile result;
  try {
    result = fields_of(Json::parse(json));
  } catch (const Json::parse_error& error) {
    throw BadResult(fmt::format("it is cut off or corrupt at byte {} of {}", error.byte, json.size()));
  } catch (const Json::exception&) {
    throw BadResult("it is not a complete result of a run");
  }
  if (result.key != expected_key) {
    throw BadResult(fmt::format("it is the result of another run or of another version of the model ({}, not {})",
                                result.key, expected_key));
  }
  result.json = std::move(json);
  return result;
}

ResultFile read_result(const std::string& path, const std::string& expected_key) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw BadResult(fmt::format("it cannot be read: {}", std::strerror(errno)));
  return parse_result({std::istreambuf_iterator<char>(file), {}}, expected_key);
}

}  // namespace nearfar
