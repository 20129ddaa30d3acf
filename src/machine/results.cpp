#include "machine/results.h"

#include <fmt/format.h>

#include <algorithm>

#include "machine/remote_prefixes.h"
#include "sim/timeline_end.h"

namespace nearfar {
namespace {

/// Puts together what the devices noted, up to where all of them are complete.
void gather_timeline(Engine& engine, unsigned host, std::size_t most, RunResult& result) {
  Cycle complete_before = kNever;
  std::uint64_t noted = 0;
  for (unsigned d = 0; d <= host; ++d) {
    Timeline& timeline = *engine.partition(d).timeline();
    const std::vector<TimelineEvent> events = timeline.take_events();
    result.timeline.insert(result.timeline.end(), events.begin(), events.end());
    noted += events.size() + timeline.lost();
    complete_before = std::min(complete_before, timeline.complete_before());
  }
  shorten_timeline(result.timeline, most, complete_before, host);
  result.timeline_lost = noted - result.timeline.size();
  std::ranges::stable_sort(result.timeline, {}, &TimelineEvent::start);
}

/// The statistics of one GPU, added up over its units, under names that its place in the machine is put before.
StatTable gpu_table(Gpu& gpu) {
  StatTable table;
  gpu.for_each_stats([&](const std::string&, const std::string& kind, auto& stats) { table.add(kind + ".", stats); });
  return table;
}

/// An IOMMU, or what instances of a GPU share in its place, and its walkers, with what was observed of them.
void add_iommu(StatTable& table, Iommu& iommu) {
  const std::string prefix = iommu.stats().l3 ? "mig." : "iommu.";
  table.add(prefix, iommu.stats());
  table.add(prefix, iommu.walkers().stats());
  if (iommu.walkers().concurrency() != nullptr) table.add(prefix, iommu.walkers().concurrency()->stats());
  if (iommu.sub_entry_use() != nullptr) table.add("mig.l3_tlb.", *iommu.sub_entry_use());
}

}  // namespace

Results::Results(Machine& machine)
    : machine_(machine), first_executions_(machine.gpus.size()), first_served_(machine.gpus.size()) {
  if (machine.processes.size() > 1) keep_first_executions();
}

void Results::keep_first_executions() {
  for (unsigned g = 0; g < machine_.gpus.size(); ++g) {
    machine_.gpus[g]->dispatcher().on_first_execution = [this, g] {
      first_executions_[g] = std::make_unique<StatTable>(gpu_table(*machine_.gpus[g]));
    };
  }
  // Nothing of a GPU is under way at the host when its application's first execution ends.
  machine_.host->commands().on_first_execution = [this](std::size_t application) {
    const Process& process = machine_.processes[application];
    const ServedMisses* served = machine_.host->served_misses();
    if (served == nullptr) return;
    for (unsigned g = process.first_gpu; g < process.first_gpu + process.gpus; ++g) {
      first_served_[g] = served->of(machine_.gpus[g]->device());
    }
  };
}

StatTable Results::statistics() {
  StatTable table;
  add_devices(table);
  add_steps(table);
  add_translation(table);
  add_sharing(table);
  if (machine_.gpus.front()->l2_tlb() != nullptr) add_processes(table);

  for (const char* what : {"packets", "bytes"}) {
    std::uint64_t sum = 0;
    for (const char* who : {"gpus", "host"}) {
      for (const char* kind : {"request", "reply", "control", "copy", "message", "page", "coherence"}) {
        sum += table.at(fmt::format("{}.link.{}_{}", who, kind, what));
      }
    }
    table.set(fmt::format("link.{}", what), sum);
  }
  for (const char* what : {"request", "data", "coherence", "completion"}) {
    if (!machine_.spec().is_unified()) break;
    const std::string name = fmt::format("net.bytes.{}", what);
    table.set(name, table.at("gpus.umh." + name) + table.at("host.umh." + name));
  }
  return table;
}

void Results::add_devices(StatTable& table) {
  LoadLatency latency;
  for (unsigned g = 0; g < machine_.gpus.size(); ++g) {
    StatTable gpu = first_executions_[g] ? *first_executions_[g] : gpu_table(*machine_.gpus[g]);
    if (const ServedMisses* served = machine_.host->served_misses()) {
      MissStats elsewhere = first_executions_[g] ? first_served_[g] : served->of(machine_.gpus[g]->device());
      gpu.add("l2_miss.", elsewhere);
    }
    table.merge(fmt::format("gpu{}.", g), gpu);
    table.merge("gpus.", gpu);
    machine_.gpus[g]->add_latency(latency);
    if (!machine_.request.per_unit) continue;
    machine_.gpus[g]->for_each_stats([&](const std::string& unit, const std::string&, auto& stats) {
      if (!unit.empty()) table.add(fmt::format("gpu{}.{}.", g, unit), stats);
    });
  }
  machine_.host->for_each_stats([&](const std::string& kind, auto& stats) { table.add("host." + kind + ".", stats); });
  if (machine_.switch_device) add_switch(table, latency);
  if (machine_.request.per_unit) add_link_pairs(table);
  latency.add_stages(machine_.host->llc().latency());
  table.add("latency.load.", latency);
}

void Results::add_switch(StatTable& table, LoadLatency& latency) {
  SwitchDevice& device = *machine_.switch_device;
  table.add("switch.link.", device.network().stats());
  table.add(fmt::format("switch.{}.", device.name()), device);
  latency.add_stages(device.latency());
}

/// What each device sent to each other one.
void Results::add_link_pairs(StatTable& table) {
  const std::size_t host = machine_.gpus.size();
  const auto name = [&](std::size_t d) {
    if (d > host) return std::string("switch");
    return d == host ? std::string("host") : fmt::format("gpu{}", d);
  };
  const auto network_of = [&](std::size_t d) -> NetworkInterface& {
    if (d > host) return machine_.switch_device->network();
    return d == host ? machine_.host->network() : machine_.gpus[d]->network();
  };
  for (std::size_t from = 0; from < machine_.topology.devices(); ++from) {
    NetworkInterface& network = network_of(from);
    for (std::size_t to = 0; to < machine_.topology.devices(); ++to) {
      if (to == from || std::min(from, to) == host) continue;  // host and switch have nothing to say to each other
      table.add(fmt::format("{}.link.to_{}.", name(from), name(to)),
                network.stats_to(DeviceId{static_cast<std::uint16_t>(to)}));
    }
  }
}

/// What was done between launches, where anything was.
void Results::add_steps(StatTable& table) {
  CopyStats& copies = machine_.host->dma().stats();
  HostPhaseStats& phases = machine_.host->commands().host_phases();
  if (copies.count != 0) table.add("copies.", copies);
  if (phases.count != 0) table.add("host_phases.", phases);
  HostAgentStats& core = machine_.host->core().stats();
  if (core.accesses != 0) table.add("host.cpu.", core);
  RunParts& parts = machine_.host->commands().parts();
  if (!parts.on()) return;
  table.add("run.", parts.stats());
  for (const Process& process : machine_.processes) parts.sync().add_buffers(*process.workload);
  if (machine_.spec().is_unified()) {
    parts.sync().home_bytes += machine_.host->level()->synchronized_bytes();
    for (const auto& gpu : machine_.gpus) parts.sync().home_bytes += gpu->level()->flushed_home_bytes();
    table.add("sync.", parts.on_demand());
  }
  table.add("sync.", parts.sync());
}

/// Sharing among the GPUs of each application, from what each noted.
void Results::add_sharing(StatTable& table) {
  if (!machine_.spec().translation.observe) return;
  SharingStats sharing;
  std::vector<const std::vector<L2Tlb::Snapshot>*> snapshots;
  for (const Process& process : machine_.processes) {
    std::vector<const PageTouches*> touches;
    for (unsigned g = 0; g < process.gpus; ++g) touches.push_back(&machine_.gpus[process.first_gpu + g]->touches());
    sharing.add_touches(touches);
  }
  for (const auto& gpu : machine_.gpus) {
    if (gpu->l2_tlb() != nullptr) snapshots.push_back(&gpu->l2_tlb()->snapshots());
  }
  sharing.add_snapshots(snapshots, machine_.host->iommu() == nullptr ? nullptr : &machine_.host->iommu()->snapshots());
  table.add("", sharing);
  add_series(sharing);
  if (machine_.host->mmu() == nullptr) return;
  std::vector<const std::vector<GmmuEvent>*> events;
  for (const auto& gpu : machine_.gpus) events.push_back(&gpu->gmmu()->events());
  RemotePrefixStats prefixes;
  prefixes.add(events, machine_.spec().gpu.gmmu.cache, machine_.host->mmu()->table(0).leaf(),
               machine_.host->mmu()->table(0).root());
  table.add("host.mmu.", prefixes);
}

/// What the TLBs held, instant by instant.
void Results::add_series(const SharingStats& sharing) {
  const Cycle every = machine_.spec().translation.snapshot;
  if (Iommu* iommu = machine_.host->iommu()) {
    for (unsigned g = 0; g < machine_.gpus.size(); ++g) {
      const char* tlb = iommu->stats().l3 ? "mig.l3_tlb" : "iommu.tlb";
      Series series{fmt::format("{}.occupancy.gpu{}", tlb, g), every, {}};
      for (const auto& homes : iommu->occupancy()) series.values.push_back(homes[g]);
      series_.push_back(std::move(series));
    }
  }
  using Held = SharingStats::Held;
  const auto add = [&](const char* name, std::uint64_t Held::*value) {
    Series series{name, every, {}};
    for (const Held& held : sharing.instants) series.values.push_back(held.*value);
    series_.push_back(std::move(series));
  };
  add("tlb.snapshot.in_one_l2", &Held::in_one_l2);
  add("tlb.snapshot.in_several_l2", &Held::in_several_l2);
  add("tlb.snapshot.in_l2_and_iommu", &Held::in_l2_and_iommu);
  add("tlb.snapshot.total", &Held::total);
  std::ranges::sort(series_, {}, &Series::name);
}

/// A GPU runs one of several processes: what is its L2 TLB's is that process's.
void Results::add_processes(StatTable& table) {
  if (machine_.processes.size() == 1) return;
  for (std::size_t p = 0; p < machine_.processes.size(); ++p) {
    for (const char* what : kProcessTlbStats) {
      table.set(fmt::format("gpus.l2_tlb.{}.pid{}", what, p),
                table.at(fmt::format("gpu{}.l2_tlb.{}", machine_.processes[p].first_gpu, what)));
    }
  }
}

/// What is the machine's as a whole: misses of all L2 TLBs, the driver, the IOMMU.
void Results::add_translation(StatTable& table) {
  for (const auto& gpu : machine_.gpus) {
    if (gpu->l2_tlb() != nullptr) table.add("l2_miss.", gpu->l2_tlb()->miss_stats());
    if (gpu->svm() == nullptr) continue;
    MissStats served = gpu->svm()->iommu().parts().total();
    table.add("l2_miss.", served);
    add_iommu(table, gpu->svm()->iommu());
  }
  if (const ServedMisses* served = machine_.host->served_misses()) {
    MissStats total = served->total();
    table.add("l2_miss.", total);
  }
  if (HostMmu* mmu = machine_.host->mmu()) {
    table.add("uvm.", mmu->driver().stats());
    if (TreePrefetcher* prefetcher = mmu->driver().prefetcher()) table.add("uvm.prefetch.", prefetcher->stats());
  }
  if (PageRequests* requests = machine_.host->page_requests()) table.add("uvm.", requests->driver().stats());
  if (Iommu* iommu = machine_.host->iommu()) add_iommu(table, *iommu);
}

void Results::add_launches(StatTable& table, RunResult& result) {
  for (const LaunchRecord& record : machine_.host->commands().records()) {
    const Launch& launch = machine_.processes[record.application].workload->launches()[record.launch];
    result.launches.push_back(
        {launch.kernel, record.application, record.start, record.end, record.instructions, record.accesses});
    result.instructions += record.instructions;
    result.accesses += record.accesses;
    for (const std::string& place :
         {fmt::format("kernel.{}.", launch.kernel), fmt::format("app{}.", record.application)}) {
      table.increase(place + "cycles", record.end - record.start);
      table.increase(place + "instructions", record.instructions);
      table.increase(place + "accesses", record.accesses);
      table.increase(place + "launches", 1);
    }
  }
}

/// The bandwidths of a collective operation, as they are told of communication libraries.
void Results::add_collective(StatTable& table, Cycle cycles) {
  if (machine_.processes.size() != 1 || cycles == 0) return;
  const std::optional<CollectiveWork> work = machine_.processes.front().workload->collective();
  if (!work) return;
  const double seconds = static_cast<double>(cycles) / static_cast<double>(machine_.request.system.gpu.clock.hertz);
  const double bandwidth = static_cast<double>(work->bytes) / seconds / 1e9;
  table.set("collective.bytes", work->bytes);
  table.set_ratio("collective.algorithm_bandwidth", bandwidth);
  table.set_ratio("collective.bus_bandwidth", bandwidth * work->bus_factor);
}

RunResult Results::collect() {
  RunResult result;
  StatTable table = statistics();
  result.cycles = machine_.host->commands().end();
  result.events = machine_.engine.events();
  add_launches(table, result);
  table.set("run.cycles", result.cycles);
  table.set("run.instructions", result.instructions);
  table.set("run.accesses", result.accesses);
  table.set("run.launches", result.launches.size());
  add_collective(table, result.cycles);
  result.statistics = table.values();
  result.series = series_;
  if (machine_.request.timeline.on) {
    gather_timeline(machine_.engine, machine_.topology.host().value, machine_.request.timeline.most, result);
  }
  return result;
}

}  // namespace nearfar
