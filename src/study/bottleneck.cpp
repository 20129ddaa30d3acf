#include "study/bottleneck.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "interconnect/topology.h"
#include "study/statistic.h"

namespace nearfar {
namespace {

/// What the counters of one device are set against.
class DeviceUse {
 public:
  DeviceUse(const Report& report, std::string device, std::string shown, double cycles)
      : report_(report), device_(std::move(device)), shown_(std::move(shown)), cycles_(cycles) {}

  /// `busy` cycles of `units` alike.
  void add(Bound resource, const char* what, std::optional<double> busy, double units) {
    if (!busy || units <= 0 || cycles_ <= 0) return;
    found_.push_back({resource, what, shown_, *busy / (units * cycles_)});
  }

  /// The sum of counters; nothing where the first of them is not there.
  std::optional<double> sum(std::initializer_list<const char*> names) const {
    std::optional<double> sum;
    for (const char* name : names) {
      const auto value = find_statistic(report_.result, fmt::format("{}.{}", device_, name));
      if (!value && !sum) return std::nullopt;
      sum = sum.value_or(0) + value.value_or(0);
    }
    return sum;
  }

  void add_dram(const DramSpec& spec) { add(Bound::Dram, "DRAM", sum({"dram.bus_busy_cycles"}), spec.channels); }

  void add_l2(const char* what, const char* cache, const L2Spec& spec) {
    const std::string reads = fmt::format("{}.reads", cache), writes = fmt::format("{}.writes", cache),
                      atomics = fmt::format("{}.atomics", cache);
    std::optional<double> lookups = sum({reads.c_str(), writes.c_str(), atomics.c_str()});
    if (const auto remote = sum({"l2.remote.reads", "l2.remote.write_hits", "l2.remote.atomics"}); lookups && remote)
      *lookups += *remote;
    add(Bound::L2Banks, what, lookups, spec.banks);
  }

  void add_walkers(Bound resource, const char* what, const char* unit, const WalkersSpec& spec) {
    const auto busy = histogram_sum(report_.result, fmt::format("{}{}.walk_service", device_, unit));
    if (spec.walkers != 0) add(resource, what, busy, spec.walkers);
  }

  void add_links(DeviceId id) {
    const SystemSpec& spec = report_.machine.loaded.spec;
    const Topology topology(spec.link, spec.gpus, spec.has_switch_device());
    add(Bound::Links, "egress", sum({"link.busy_cycles"}), topology.outputs(id));
    if (!topology.shared_input()) return;
    const double bytes_per_cycle =
        static_cast<double>(spec.link.packet_rate().bytes_per_second) / static_cast<double>(spec.gpu.clock.hertz);
    const auto received = sum({"link.received_bytes"});
    if (received) add(Bound::Links, "ingress", *received / bytes_per_cycle, topology.inputs(id));
  }

  std::vector<Utilization> take() { return std::move(found_); }

 private:
  const Report& report_;
  std::string device_, shown_;
  double cycles_;
  std::vector<Utilization> found_;
};

/// How long a GPU's own counters ran: of several applications, the first execution of its own.
double counted_cycles(const Report& report, std::size_t gpu) {
  if (report.applications.size() < 2) return static_cast<double>(report.result.cycles);
  return static_cast<double>(application_statistic(report.result, gpu, "cycles"));
}

std::vector<Utilization> of_gpu(const Report& report, std::size_t gpu) {
  const SystemSpec& spec = report.machine.loaded.spec;
  DeviceUse use(report, fmt::format("gpu{}", gpu), fmt::format("GPU {}", gpu), counted_cycles(report, gpu));
  const double cus = spec.gpu.cus();
  use.add(Bound::Issue, "SIMDs", use.sum({"cu.simd_busy_cycles"}), cus * spec.gpu.cu.simds);
  use.add(Bound::L1Ports, "L1 ports", use.sum({"l1v.load_lines", "l1v.store_lines", "l1v.atomic_lines"}),
          cus * spec.gpu.l1v.lines_per_cycle);
  use.add_dram(spec.gpu.dram);  // before the L2: a line that misses it is in both
  use.add_l2("L2 banks", "l2", spec.gpu.l2);
  use.add_links(DeviceId{static_cast<std::uint16_t>(gpu)});
  use.add(Bound::TlbPorts, "L2 TLB port", use.sum({"l2_tlb.lookups"}), spec.gpu.l2_tlb.lookups_per_cycle);
  use.add_walkers(Bound::Walkers, "page walkers", ".gmmu", spec.gpu.gmmu);
  return use.take();
}

std::vector<Utilization> of_host(const Report& report) {
  const SystemSpec& spec = report.machine.loaded.spec;
  const auto cycles = static_cast<double>(report.result.cycles);
  DeviceUse host(report, "host", "the host", cycles);
  host.add_dram(spec.host.dram);
  host.add(Bound::Dram, "memory modules", host.sum({"umh.memory.busy_cycles"}), spec.umh.hmd.count);
  host.add_l2("last-level cache", "llc", spec.host.llc);
  host.add_links(DeviceId{static_cast<std::uint16_t>(spec.gpus)});
  host.add_walkers(Bound::Walkers, "page walkers", ".mmu", spec.host.mmu);
  DeviceUse iommu(report, "iommu", "the IOMMU", cycles);
  iommu.add_walkers(Bound::Walkers, "page walkers", "", spec.iommu);
  iommu.add(Bound::Iommu, "TLB port", iommu.sum({"tlb.lookups"}), spec.iommu.tlb.lookups_per_cycle);
  std::vector<Utilization> found = host.take();
  const std::vector<Utilization> more = iommu.take();
  found.insert(found.end(), more.begin(), more.end());
  return found;
}

/// The busiest first, and of each kind of resource only that.
std::vector<Utilization> busiest(std::vector<Utilization> all) {
  std::ranges::stable_sort(all, std::greater(), &Utilization::share);
  std::vector<Utilization> kept;
  for (Utilization& each : all) {
    if (std::ranges::find(kept, each.resource, &Utilization::resource) == kept.end()) kept.push_back(std::move(each));
  }
  return kept;
}

struct LatencyGroup {
  Bound bound;
  double cycles = 0;
};

double sum_of(const Report& report, std::string_view prefix, std::initializer_list<std::string_view> names,
              std::string_view suffix = "") {
  double sum = 0;
  for (const std::string_view name : names) {
    sum += find_statistic(report.result, fmt::format("{}{}{}", prefix, name, suffix)).value_or(0);
  }
  return sum;
}

bool is_by_line(Bound bound) {
  return bound == Bound::Links || bound == Bound::L2Banks || bound == Bound::Dram || bound == Bound::Hierarchy;
}

/// The waiting time of accesses by what they wait for, counted once for each page that an instruction touches.
std::vector<LatencyGroup> waiting_times(const Report& report) {
  constexpr std::string_view kLoads = "latency.load.", kMisses = "l2_miss.component.";
  std::vector<LatencyGroup> misses = {
      {Bound::Walkers,
       sum_of(report, kMisses,
              {"gmmu.blocked", "gmmu.queue", "filter", "gmmu.pw_cache", "gmmu.walk_upper", "gmmu.walk_leaf", "host.tlb",
               "host.queue", "host.pw_cache", "host.walk_upper", "host.walk_leaf", "remote.link", "remote.queue",
               "remote.walk", "iommu.queue", "iommu.walk"})},
      {Bound::Migration,
       sum_of(report, kMisses,
              {"fault.buffer", "link.to_host", "driver.batch", "driver.turn", "driver.parked", "migration.invalidate",
               "migration.transfer", "link.to_gpu", "gmmu.update", "replay"})},
      {Bound::Iommu, sum_of(report, kMisses, {"iommu.link", "iommu.tlb"})},
  };
  // What merged with a miss waits for the same.
  const double measured = sum_of(report, "l2_miss.", {"latency"});
  const double merged = sum_of(report, "l2_miss.", {"merged_latency"});
  for (LatencyGroup& group : misses) group.cycles *= measured == 0 ? 0 : (measured + merged) / measured;
  std::vector<LatencyGroup> groups = {
      {Bound::L1Ports, sum_of(report, "gpus.l1v.", {"port_wait_cycles"})},
      {Bound::TlbPorts, sum_of(report, "gpus.l2_tlb.", {"port_wait_cycles"})},
      {Bound::Links, sum_of(report, kLoads, {"request_link", "reply_link"}, "_cycles")},
      {Bound::L2Banks, sum_of(report, kLoads, {"home_wait", "home"}, "_cycles")},
      {Bound::Dram, sum_of(report, kLoads, {"dram", "merge"}, "_cycles")},
  };
  if (report.machine.loaded.spec.is_unified()) {  // which has no components of its own
    double known = sum_of(report, kLoads, {"l1"}, "_cycles");
    for (const LatencyGroup& group : groups) known += is_by_line(group.bound) ? group.cycles : 0;
    groups.push_back({Bound::Hierarchy, sum_of(report, kLoads, {"total"}, "_cycles") - known});
  }
  const double pages = sum_of(report, "gpus.cu.", {"page_groups"}), lines = sum_of(report, "gpus.cu.", {"accesses"});
  for (LatencyGroup& group : groups) {
    if (is_by_line(group.bound) && lines > 0) group.cycles *= pages / lines;
  }
  groups.insert(groups.end(), misses.begin(), misses.end());
  return groups;
}

/// Time of all compute units that had a workgroup at all, each launch having as many as the others.
double compute_unit_cycles(const Report& report) {
  const SystemSpec& spec = report.machine.loaded.spec;
  double cycles = 0;
  for (std::uint32_t g = 0; g < spec.gpus; ++g) {
    const double groups = find_statistic(report.result, fmt::format("gpu{}.cu.groups", g)).value_or(0) /
                          std::max(1.0, find_statistic(report.result, "run.launches").value_or(1));
    cycles += std::min<double>(spec.gpu.cus(), groups) * static_cast<double>(report.result.cycles);
  }
  return cycles;
}

double stalled_share(const Report& report) {
  const double all = find_statistic(report.result, "gpus.cu.vector_memory").value_or(0);
  return all == 0 ? 0 : find_statistic(report.result, "gpus.cu.stalled_instructions").value_or(0) / all;
}

/// Copies and work of the host, where they take at least half of the run.
std::optional<Bottleneck> between_launches(const Report& report) {
  const auto cycles = static_cast<double>(report.result.cycles);
  const std::array parts = {
      std::pair{Bound::Copies, find_statistic(report.result, "copies.cycles").value_or(0)},
      std::pair{Bound::HostWork, find_statistic(report.result, "host_phases.cycles").value_or(0)},
  };
  for (const auto& [bound, time] : parts) {
    if (time >= cycles / 2) {
      return Bottleneck{bound, false,
                        fmt::format("between launches they take {:.1f} % of the run", 100 * time / cycles)};
    }
  }
  return std::nullopt;
}

}  // namespace

const char* bound_name(Bound bound) {
  switch (bound) {
    case Bound::Issue: return "issue";
    case Bound::L1Ports: return "L1 ports";
    case Bound::L2Banks: return "L2 banks";
    case Bound::Links: return "links";
    case Bound::Dram: return "DRAM";
    case Bound::TlbPorts: return "L2 TLB ports";
    case Bound::Walkers: return "page walks";
    case Bound::Iommu: return "the IOMMU";
    case Bound::Migration: return "far faults and page migration";
    case Bound::Hierarchy: return "the unified memory hierarchy";
    case Bound::Copies: return "copies";
    case Bound::HostWork: return "work of the host";
  }
  return "";
}

std::string utilization_name(const Utilization& utilization) {
  return fmt::format("{} of {}", utilization.what, utilization.where);
}

std::string bottleneck_text(const Bottleneck& bottleneck) {
  return fmt::format("{}{}: {}", bottleneck.latency ? "the latency of " : "", bound_name(bottleneck.bound),
                     bottleneck.reason);
}

std::vector<Utilization> utilizations(const Report& report) {
  std::vector<Utilization> all;
  for (std::size_t g = 0; g < report.machine.loaded.spec.gpus; ++g) {
    const std::vector<Utilization> gpu = of_gpu(report, g);
    all.insert(all.end(), gpu.begin(), gpu.end());
  }
  const std::vector<Utilization> host = of_host(report);
  all.insert(all.end(), host.begin(), host.end());
  return busiest(std::move(all));
}

std::vector<Utilization> utilizations(const Report& report, std::size_t gpu) { return busiest(of_gpu(report, gpu)); }

std::optional<Bottleneck> bottleneck(const Report& report) {
  const std::vector<Utilization> resources = utilizations(report);
  if (report.result.cycles == 0 || resources.empty() || report.applications.size() > 1) return std::nullopt;
  if (const auto between = between_launches(report)) return between;
  const Utilization& most = resources.front();
  const std::string busy = fmt::format("{} busy {:.1f} % of the time", utilization_name(most), 100 * most.share);
  if (most.share >= kSaturated) return Bottleneck{most.resource, false, busy};
  const std::vector<LatencyGroup> waits = waiting_times(report);
  const LatencyGroup& longest = *std::ranges::max_element(waits, {}, &LatencyGroup::cycles);
  double waiting = 0;
  for (const LatencyGroup& group : waits) waiting += group.cycles;
  const double compute_units = compute_unit_cycles(report);
  const double under_way = compute_units == 0 ? 0 : waiting / compute_units;
  if (under_way < kFewAccesses && stalled_share(report) < kFewStalls) {
    return Bottleneck{
        Bound::Issue, false,
        fmt::format("a compute unit has {:.2f} accesses waiting below its L1 on average; {}", under_way, busy)};
  }
  if (waiting == 0) return Bottleneck{most.resource, false, busy};  // stores alone
  return Bottleneck{longest.bound, true,
                    fmt::format("{:.0f} % of the time that accesses wait; no resource is busier than {:.1f} % ({})",
                                100 * longest.cycles / waiting, 100 * most.share, utilization_name(most))};
}

}  // namespace nearfar
