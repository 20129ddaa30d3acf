// The summary of a run, made from its flat statistics.
#include "cli/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/bars.h"
#include "cli/designs.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "cli/words.h"
#include "interconnect/topology.h"

namespace nearfar {
namespace {

constexpr unsigned kBarWidth = 30;

std::optional<double> find(const RunResult& result, std::string_view name) {
  const auto& all = result.statistics;
  const auto found =
      std::ranges::lower_bound(all, name, {}, [](const StatValue& s) -> std::string_view { return s.name; });
  if (found == all.end() || found->name != name) return std::nullopt;
  return found->as_double();
}

std::string parameters_text(const Application& application) {
  std::vector<std::string> parts;
  for (const ParameterSetting& setting : application.parameters) {
    parts.push_back(fmt::format("{}={}", setting.name, setting.value));
  }
  return join(parts, " ");
}

std::string title_of(const std::string& workload) {
  for (const WorkloadInfo& info : catalog()) {
    if (info.name == workload) return info.title;
  }
  return "";
}

std::string heading(const Report& report, const Terminal& terminal) {
  const auto& machine = report.machine;
  const auto& designs = machine.designs;
  std::string out;
  for (std::size_t i = 0; i < report.applications.size(); ++i) {
    const Application& application = report.applications[i];
    const std::string where = report.applications.size() > 1 ? fmt::format("GPU {}: ", i) : "";
    out += fmt::format("{}{}, {}, {} ({})\n", where, terminal.paint(Tint::Bold, application.name),
                       title_of(application.name), size_name(report.experiment.size), parameters_text(application));
  }
  const auto gpus = machine.loaded.spec.gpus;
  if (!report.experiment.input.empty()) out += fmt::format("input {}\n", report.experiment.input);
  return out + fmt::format("on {} ({} GPU{}), {}, seed {}{}\n\n", terminal.paint(Tint::Bold, machine.system), gpus,
                           gpus == 1 ? "" : "s", designs.empty() ? std::string(kBaseline) : join(designs, "+"),
                           report.experiment.seed, report.experiment.check ? ", checked" : "");
}

void add_size_of_run(Table& table, const Report& report, double seconds) {
  const RunResult& result = report.result;
  const double clock = static_cast<double>(report.machine.loaded.spec.gpu.clock.hertz);
  const double cycles = static_cast<double>(result.cycles);
  table.row({"cycles", grouped(result.cycles), fmt::format("{} at {}", time_text(seconds), clock_text(clock))});
  table.row({"instructions", grouped(result.instructions),
             fmt::format("{} a cycle", fixed(static_cast<double>(result.instructions) / cycles, 2))});
  table.row({"accesses", grouped(result.accesses),
             fmt::format("lines, {} a cycle", fixed(static_cast<double>(result.accesses) / cycles, 2))});
}

void add_hits(Table& table, const RunResult& result, const char* label, const char* hits, const char* all,
              const char* of_what) {
  const auto part = find(result, hits);
  const auto whole = find(result, all);
  if (!part || !whole || *whole == 0) return;
  table.row(
      {label, percent(*part, *whole), fmt::format("of {} {}", grouped(static_cast<std::uint64_t>(*whole)), of_what)});
}

void add_dram(Table& table, const Report& report, double seconds) {
  const auto read = find(report.result, "gpus.dram.read_bytes");
  const auto written = find(report.result, "gpus.dram.write_bytes");
  if (!read || !written) return;
  const double bytes = *read + *written;
  const SystemSpec& spec = report.machine.loaded.spec;
  const double peak = static_cast<double>(spec.gpu.dram.channel_bandwidth.bytes_per_second) *
                      static_cast<double>(spec.gpu.dram.channels) * static_cast<double>(spec.gpus);
  table.row({"DRAM traffic", size_text(bytes),
             fmt::format("{} read, {} written; {}, {} of the peak", size_text(*read), size_text(*written),
                         rate_text(bytes / seconds), percent(bytes / seconds, peak))});
  if (spec.gpu.dram.model == DramModel::Fixed) return;  // it has no rows
  add_hits(table, report.result, "DRAM row hits", "gpus.dram.row_hits", "gpus.dram.accesses", "accesses");
}

void add_links(Table& table, const Report& report, double seconds) {
  const auto bytes = find(report.result, "link.bytes");
  const auto packets = find(report.result, "link.packets");
  if (!bytes || !packets) return;
  std::string note =
      fmt::format("{} packets; {}", grouped(static_cast<std::uint64_t>(*packets)), rate_text(*bytes / seconds));
  const SystemSpec& spec = report.machine.loaded.spec;
  if (const auto busy = find(report.result, "gpus.link.busy_cycles")) {
    const double outputs = static_cast<double>(Topology(spec.link, spec.gpus).outputs(DeviceId{0})) * spec.gpus;
    note += fmt::format("; the GPUs' outputs are busy {} of the time",
                        percent(*busy, outputs * static_cast<double>(report.result.cycles)));
  }
  table.row({"link traffic", size_text(*bytes), note});
}

/// Stages are whatever the result has between this prefix and suffix.
std::string latency(const RunResult& result, const Terminal& terminal) {
  constexpr std::string_view kPrefix = "latency.load.";
  constexpr std::string_view kSuffix = "_cycles";
  const auto count = find(result, "latency.load.count");
  const auto total = find(result, "latency.load.total_cycles");
  if (!count || !total || *count == 0 || *total == 0) return "";
  std::vector<std::pair<std::string, double>> stages;
  for (const StatValue& stat : result.statistics) {
    const std::string_view name = stat.name;
    if (stat.real || !name.starts_with(kPrefix) || !name.ends_with(kSuffix) || name == "latency.load.total_cycles")
      continue;
    const auto stage = name.substr(kPrefix.size(), name.size() - kPrefix.size() - kSuffix.size());
    if (stat.as_double() > 0) stages.emplace_back(stage, stat.as_double());
  }
  std::ranges::stable_sort(stages, [](const auto& a, const auto& b) { return a.second > b.second; });
  Table table({{"", Align::Left}, {"", Align::Right}, {"", Align::Right}, {"", Align::Left, Tint::Cyan}}, 4);
  for (auto& [stage, cycles] : stages) {
    std::ranges::replace(stage, '_', ' ');
    table.row(
        {stage, fixed(cycles / *count, 1), percent(cycles, *total), bar(cycles, stages.front().second, kBarWidth)});
  }
  return fmt::format("\n  mean latency of a load that misses the L1: {} cycles\n", fixed(*total / *count, 1)) +
         table.text(terminal);
}

}  // namespace

std::string summary(const Report& report, const Terminal& terminal) {
  const RunResult& result = report.result;
  const double seconds =
      static_cast<double>(result.cycles) / static_cast<double>(report.machine.loaded.spec.gpu.clock.hertz);
  Table table({{"", Align::Left}, {"", Align::Right}, {"", Align::Left, Tint::Dim}}, 2);
  add_size_of_run(table, report, seconds);
  table.blank_line();
  add_hits(table, result, "L1 hits", "gpus.l1v.load_hits", "gpus.l1v.load_lines", "lines loaded");
  add_hits(table, result, "L2 hits", "gpus.l2.read_hits", "gpus.l2.reads", "reads");
  add_dram(table, report, seconds);
  add_links(table, report, seconds);
  Table host({{"", Align::Left}, {"", Align::Right}, {"", Align::Left, Tint::Dim}}, 2);
  const double accesses = static_cast<double>(result.accesses);
  host.row({"simulated in", time_text(result.host_seconds),
            fmt::format("{} accesses/s, {} thread{}, {} of memory at most", count_text(accesses / result.host_seconds),
                        report.experiment.threads, report.experiment.threads == 1 ? "" : "s",
                        size_text(static_cast<double>(result.peak_rss_bytes)))});
  return heading(report, terminal) + table.text(terminal) + latency(result, terminal) + "\n" + host.text(terminal);
}

}  // namespace nearfar
