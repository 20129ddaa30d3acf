// The summary of a run, made from its flat statistics.
#include "cli/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "cli/bars.h"
#include "cli/numbers.h"
#include "cli/table.h"
#include "config/words.h"
#include "designs/names.h"
#include "interconnect/topology.h"
#include "machine/system_check.h"
#include "study/bottleneck.h"
#include "study/latency_components.h"
#include "study/statistic.h"

namespace nearfar {
namespace {

constexpr std::size_t kMostResources = 6;  // named with how busy they are

std::optional<double> find(const RunResult& result, std::string_view name) { return find_statistic(result, name); }

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
    const std::string name = terminal.paint(Tint::Bold, application.name);
    if (is_trace(application.name)) {
      out += fmt::format("{}{} ({})\n", where, name, parameters_text(application));
      continue;
    }
    out += fmt::format("{}{}, {}, {} ({})\n", where, name, title_of(application.name),
                       size_name(report.experiment.size), parameters_text(application));
  }
  const auto gpus = machine.loaded.spec.gpus;
  if (!report.experiment.input.empty()) out += fmt::format("input {}\n", report.experiment.input);
  out += fmt::format("on {} ({} GPU{}), {}, seed {}", terminal.paint(Tint::Bold, machine.system), gpus,
                     gpus == 1 ? "" : "s", designs.empty() ? std::string(kBaseline) : join(designs, "+"),
                     report.experiment.seed);
  for (const std::string& setting : machine.overrides) out += ", " + setting;
  return out + (report.experiment.check ? ", checked\n\n" : "\n\n");
}

void add_size_of_run(Table& table, const Report& report, double seconds) {
  const RunResult& result = report.result;
  const double clock = static_cast<double>(report.machine.loaded.spec.gpu.clock.hertz);
  const double cycles = static_cast<double>(result.cycles);
  table.row({"cycles", grouped(result.cycles), fmt::format("{} at {}", time_text(seconds), clock_text(clock))});
  const double ipc = static_cast<double>(result.instructions) / cycles;
  const SystemSpec& spec = report.machine.loaded.spec;
  table.row({"instructions", grouped(result.instructions), "of wavefronts"});
  table.row({"IPC", fixed(ipc, 2),
             fmt::format("wavefront instructions a cycle, {} of a compute unit",
                         fixed(ipc / static_cast<double>(spec.gpus * spec.gpu.cus()), 3))});
  table.row({"accesses", grouped(result.accesses),
             fmt::format("lines, {} a cycle", fixed(static_cast<double>(result.accesses) / cycles, 2))});
}

/// What the run is bound by (study/bottleneck.h), and how busy everything is.
std::string bottleneck_lines(const Report& report, const Terminal& terminal) {
  const std::vector<Utilization> resources = utilizations(report);
  if (resources.empty()) return "";
  Table table({{""}, {""}}, 2);
  if (const auto found = bottleneck(report)) table.row({"bound by", bottleneck_text(*found)});
  std::vector<std::string> busy;
  for (const Utilization& each : resources) {
    if (busy.size() < kMostResources)
      busy.push_back(fmt::format("{} {}", utilization_name(each), percent(each.share, 1)));
  }
  table.row({"utilization", join(busy, ", ")});
  return "\n" + table.text(terminal);
}

void add_hits(Table& table, const RunResult& result, const char* label, const char* hits, const char* all,
              const char* of_what) {
  const auto part = find(result, hits);
  const auto whole = find(result, all);
  if (!part || !whole || *whole == 0) return;
  table.row(
      {label, percent(*part, *whole), fmt::format("of {} {}", grouped(static_cast<std::uint64_t>(*whole)), of_what)});
}

/// How many times the memory of `gpu` there is: instances have slices of one.
double whole_gpus(const SystemSpec& spec) {
  if (!spec.has_instances()) return spec.gpus;
  double slices = 0;
  for (unsigned i = 0; i < spec.gpus; ++i) slices += spec.mig.instances.memory_slices(i);
  return slices / InstanceLayout::kMemorySlices;
}

void add_dram(Table& table, const Report& report, double seconds) {
  const auto read = find(report.result, "gpus.dram.read_bytes");
  const auto written = find(report.result, "gpus.dram.write_bytes");
  if (!read || !written) return;
  const double bytes = *read + *written;
  const SystemSpec& spec = report.machine.loaded.spec;
  const double peak = static_cast<double>(spec.gpu.dram.channel_bandwidth.bytes_per_second) *
                      static_cast<double>(spec.gpu.dram.channels) * whole_gpus(spec);
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
    note += fmt::format("; link egress utilization {}, the mean of all GPUs",
                        percent(*busy, outputs * static_cast<double>(report.result.cycles)));
  }
  table.row({"link traffic", size_text(*bytes), note});
}

void add_collective(Table& table, const RunResult& result) {
  const auto algorithm = find(result, "collective.algorithm_bandwidth");
  const auto bus = find(result, "collective.bus_bandwidth");
  if (!algorithm || !bus) return;
  table.row(
      {"bus bandwidth", rate_text(1e9 * *bus), fmt::format("algorithm bandwidth {}", rate_text(1e9 * *algorithm))});
}

/// Lines of other GPUs in L2 caches, and what keeps them right.
void add_coherence(Table& table, const RunResult& result) {
  add_hits(table, result, "remote L2 hits", "gpus.l2.remote.read_hits", "gpus.l2.remote.reads",
           "reads of other GPUs' lines in the own L2");
  const auto value = [&](const char* name) { return find(result, name).value_or(0); };
  const double sent = value("gpus.invalidation.sent_write") + value("gpus.invalidation.sent_eviction");
  if (sent == 0) return;
  const double hits = value("gpus.invalidation.hit_write") + value("gpus.invalidation.hit_eviction") +
                      value("gpus.invalidation.hit_collateral");
  table.row(
      {"invalidations", grouped(static_cast<std::uint64_t>(sent)),
       fmt::format("{} by replaced directory entries; {} lines dropped, {} of them unnecessarily",
                   percent(value("gpus.invalidation.sent_eviction"), sent), grouped(static_cast<std::uint64_t>(hits)),
                   percent(value("gpus.invalidation.hit_eviction"), hits))});
}

void add_translation(Table& table, const RunResult& result) {
  add_hits(table, result, "L1 TLB hits", "gpus.l1_tlb.hits", "gpus.l1_tlb.lookups", "pages looked up");
  add_hits(table, result, "L2 TLB hits", "gpus.l2_tlb.hits", "gpus.l2_tlb.lookups", "lookups");
  add_hits(table, result, "IOMMU TLB hits", "iommu.tlb.hits", "iommu.tlb.lookups", "requests");
  const auto faults = find(result, "uvm.faults");
  const auto moved = find(result, "uvm.migration.count");
  if (!faults || !moved) return;
  const auto count = [](double value) { return grouped(static_cast<std::uint64_t>(value)); };
  table.row({"far faults", count(*faults),
             fmt::format("{} pages moved, {} mapped remotely, {} copied; {} per 1000 instructions", count(*moved),
                         count(find(result, "uvm.migration.remote_mappings").value_or(0)),
                         count(find(result, "uvm.migration.replications").value_or(0)),
                         fixed(find(result, "run.pfpki").value_or(0), 2))});
}

std::string ratio(double part, double whole, int digits) { return whole == 0 ? "" : fixed(part / whole, digits); }

/// Of several applications, what each did, how the caches and the TLB of its GPU did, and which of its GPU's resources
/// was busiest.
std::string applications_table(const Report& report, const Terminal& terminal) {
  if (report.applications.size() < 2) return "";
  const RunResult& result = report.result;
  const auto share = [&](std::size_t gpu, const char* hits, const char* all) -> std::string {
    const auto part = find(result, fmt::format("gpu{}.{}", gpu, hits));
    const auto whole = find(result, fmt::format("gpu{}.{}", gpu, all));
    return part && whole && *whole != 0 ? percent(*part, *whole) : "";
  };
  Table table({{"application"},
               {"cycles", Align::Right},
               {"instructions", Align::Right},
               {"IPC", Align::Right},
               {"accesses", Align::Right},
               {"L1 hits", Align::Right},
               {"L2 hits", Align::Right},
               {"L2 TLB hits", Align::Right},
               {"L2 TLB MPKI", Align::Right},
               {"busiest"}},
              2);
  for (std::size_t i = 0; i < report.applications.size(); ++i) {
    std::vector<std::string> cells = {fmt::format("GPU {}: {}", i, report.applications[i].name)};
    const auto counted = [&](const char* what) { return application_statistic(result, i, what); };
    cells.push_back(grouped(counted("cycles")));
    cells.push_back(grouped(counted("instructions")));
    cells.push_back(ratio(static_cast<double>(counted("instructions")), static_cast<double>(counted("cycles")), 2));
    cells.push_back(grouped(counted("accesses")));
    cells.push_back(share(i, "l1v.load_hits", "l1v.load_lines"));
    cells.push_back(share(i, "l2.read_hits", "l2.reads"));
    cells.push_back(share(i, "l2_tlb.hits", "l2_tlb.lookups"));
    const auto misses = find(result, fmt::format("gpu{}.l2_tlb.misses", i));
    const double merges = find(result, fmt::format("gpu{}.l2_tlb.merges", i)).value_or(0);
    cells.push_back(misses ? ratio(1000 * (*misses - merges), static_cast<double>(counted("instructions")), 2) : "");
    const std::vector<Utilization> resources = utilizations(report, i);
    cells.push_back(
        resources.empty() ? "" : fmt::format("{} {}", resources.front().what, percent(resources.front().share, 1)));
    table.row(cells);
  }
  return "\n" + table.text(terminal);
}

std::string breakdowns(const RunResult& result, const Terminal& terminal) {
  std::string out;
  for (const LatencyBreakdown& breakdown : latency_breakdowns(result)) {
    Table table({{"", Align::Left}, {"", Align::Right}, {"", Align::Right}, {"", Align::Left, Tint::Cyan}}, 4);
    for (const LatencyPart& part : breakdown.parts) {
      table.row({part.name, fixed(part.cycles, 1), percent(part.share, 1),
                 bar(part.cycles, breakdown.parts.front().cycles, kBarWidth)});
    }
    out += fmt::format("\n  mean latency of {}: {} cycles\n", breakdown.of, fixed(breakdown.mean, 1)) +
           table.text(terminal);
  }
  return out;
}

/// What is to be said about the machine, and what its designs have to say about the run.
std::string remarks(const Report& report) {
  std::string out;
  const auto add = [&](const std::string& remark) {
    if (!remark.empty()) out += fmt::format("\n  note: {}\n", remark);
  };
  add(system_remark(report.machine.loaded.spec));
  for (const auto& plug_in : report.machine.loaded.spec.plug_ins) {
    add(plug_in->remark([&](const std::string& name) { return find(report.result, name).value_or(0); }));
  }
  return out;
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
  add_collective(table, result);
  add_coherence(table, result);
  add_translation(table, result);
  Table host({{"", Align::Left}, {"", Align::Right}, {"", Align::Left, Tint::Dim}}, 2);
  const double accesses = static_cast<double>(result.accesses);
  host.row({"simulated in", time_text(result.host_seconds),
            fmt::format("{} accesses/s, {} thread{}, {} of memory at most", count_text(accesses / result.host_seconds),
                        report.experiment.threads, report.experiment.threads == 1 ? "" : "s",
                        size_text(static_cast<double>(result.peak_rss_bytes)))});
  return heading(report, terminal) + table.text(terminal) + applications_table(report, terminal) +
         bottleneck_lines(report, terminal) + breakdowns(result, terminal) + remarks(report) + "\n" +
         host.text(terminal);
}

}  // namespace nearfar
