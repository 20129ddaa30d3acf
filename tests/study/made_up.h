// Results, runs and a program that are made up, for tests of what is done with them.
#pragma once

#include <fmt/format.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include "study/named_run.h"
#include "study/result_file.h"
#include "study/run_key.h"
#include "study/store.h"

namespace nearfar::testing {

inline std::string made_up_key(unsigned number) {
  return fmt::format("{:016x}{:016x}", number * 0x9e3779b97f4a7c15, number);
}

/// The JSON that a run writes, as far as a study reads it.
inline std::string made_up_json(const std::string& key, std::uint64_t cycles = 1000) {
  return fmt::format(
      R"({{"version":"1","model":"{}","key":"{}","workload":"MT","size":"small","system":"s","designs":["a","b"],"seed":1,)"
      R"("cycles":{},"instructions":5,"accesses":7,"host_seconds":0.5,"peak_rss_bytes":1000000,)"
      R"("statistics":{{"run.cycles":{},"b.ratio":0.25,"a.count":3}}}})",
      model_version(), key, cycles, cycles);
}

inline PlannedRun made_up_run(unsigned number) {
  PlannedRun run;
  run.run.workload = fmt::format("W{}", number);
  run.run.system = "nowhere";
  run.key = made_up_key(number);
  run.program = fmt::format("program {}\n", number);
  run.accesses = 1000;
  return run;
}

inline std::vector<PlannedRun> made_up_runs(unsigned count) {
  std::vector<PlannedRun> runs;
  for (unsigned i = 0; i < count; ++i) runs.push_back(made_up_run(i));
  return runs;
}

inline StoredResult stored(std::vector<std::pair<std::string, double>> statistics) {
  StoredResult result;
  Statistics::Names names;
  std::vector<double> values;
  for (const auto& [name, value] : statistics) {
    names.push_back(name);
    values.push_back(value);
    if (name == "run.cycles") result.cycles = static_cast<std::uint64_t>(value);
  }
  result.statistics = Statistics(std::make_shared<const Statistics::Names>(std::move(names)), std::move(values));
  return result;
}

/// A program to be run in the place of nearfar: a shell script that finds $key, $path (where the result goes) and $name
/// (the workload) and does `body`. `finish` writes a complete result.
inline std::string write_program(const std::string& file, const std::string& body) {
  const std::string json = made_up_json("KEY");
  const std::size_t at = json.find("KEY");
  std::ofstream script(file);
  script << "#!/bin/sh\nname=$2\nwhile [ $# -gt 0 ]; do [ \"$1\" = --json ] && path=$2; shift; done\n"
         << "key=${path##*/}; key=${key%.json}\n"
         << "finish() { printf '%s%s%s' '" << json.substr(0, at) << "' \"$key\" '" << json.substr(at + 3)
         << "' >\"$path.new\" && mv \"$path.new\" \"$path\"; }\n"
         << body << "\n";
  script.close();
  chmod(file.c_str(), 0755);
  return file;
}

}  // namespace nearfar::testing
