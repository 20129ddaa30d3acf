// CSV as RFC 4180 has it, with plain line feeds.
#include "cli/result_csv.h"

#include <fmt/format.h>

#include <cmath>

#include "cli/version.h"
#include "config/words.h"
#include "designs/names.h"
#include "stats/csv.h"

namespace nearfar {
std::string run_csv(const Report& report) {
  const RunResult& result = report.result;
  std::string out = "name,value\n";
  const auto row = [&](std::string_view name, std::string_view value) {
    out += fmt::format("{},{}\n", csv_field(name), csv_field(value));
  };
  row("version", version());
  row("workload", report.workload);
  row("size", size_name(report.experiment.size));
  row("system", report.machine.system);
  row("designs", report.machine.designs.empty() ? std::string(kBaseline) : join(report.machine.designs, "+"));
  row("seed", std::to_string(report.experiment.seed));
  row("threads", std::to_string(report.experiment.threads));
  for (std::size_t i = 0; report.applications.size() > 1 && i < report.applications.size(); ++i) {
    row(fmt::format("app{}.workload", i), report.applications[i].name);
  }
  row("cycles", std::to_string(result.cycles));
  row("instructions", std::to_string(result.instructions));
  row("accesses", std::to_string(result.accesses));
  row("host_seconds", fmt::format("{}", result.host_seconds));
  row("peak_rss_bytes", std::to_string(result.peak_rss_bytes));
  for (const StatValue& stat : result.statistics) {
    if (!stat.real || std::isfinite(stat.ratio)) {
      row(stat.name, stat.real ? fmt::format("{}", stat.ratio) : std::to_string(stat.count));
    }
  }
  return out;
}

}  // namespace nearfar
