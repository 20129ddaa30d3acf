#include "machine/check.h"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "gpu/gpu_hierarchy.h"
#include "host/host_hierarchy.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

void check_devices(Machine& machine) {
  // The event of a device's link lives as long as the device.
  const auto left_over = [&](std::size_t device) { return machine.engine.partition(device).pool().live() - 1; };
  for (unsigned g = 0; g < machine.gpus.size(); ++g) {
    Gpu& gpu = *machine.gpus[g];
    const std::uint64_t alive = left_over(g);
    if (!gpu.idle() || alive != 0) {
      throw SimulationError(
          fmt::format("check: {} transactions are left in GPU {} at the end.\n{}", alive, g, gpu.describe_waiting()));
    }
    gpu.parts().check();
  }
  if (machine.switch_device && (!machine.switch_device->idle() || left_over(machine.topology.devices() - 1) != 0)) {
    throw SimulationError("check: transactions are left in the switch at the end.\n" +
                          machine.switch_device->describe_waiting());
  }
  Host& host = *machine.host;
  host.parts().check();
  if (!host.idle() || left_over(machine.gpus.size()) != 0) {
    throw SimulationError("check: transactions are left in the host at the end.\n" + host.describe_waiting());
  }
}

void check_links(Machine& machine) {
  std::vector<NetworkInterface*> networks;
  for (const auto& gpu : machine.gpus) networks.push_back(&gpu->network());
  networks.push_back(&machine.host->network());
  if (machine.switch_device) networks.push_back(&machine.switch_device->network());
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (NetworkInterface* network : networks) {
    const LinkStats& stats = network->stats();
    sent += stats.sent_bytes();
    std::uint64_t to_others = 0;
    for (std::size_t to = 0; to < networks.size(); ++to) {
      to_others += network->stats_to(DeviceId{static_cast<std::uint16_t>(to)}).bytes;
    }
    if (to_others != stats.sent_bytes()) {
      throw SimulationError(fmt::format("check: a device sent {} bytes over the links, and {} to the other devices",
                                        stats.sent_bytes(), to_others));
    }
    received += stats.received_bytes;
  }
  if (sent != received) {
    throw SimulationError(fmt::format("check: {} bytes were sent over the links and {} received", sent, received));
  }
  for (const NetworkInterface* at : networks) {
    for (const NetworkInterface* from : networks) {
      if (!at->credits_settled(*from)) throw SimulationError("check: credits of a link were lost");
    }
  }
}

/// No invalidation is in flight any more: every copy of a line in an L2 is the last version of its home, and the home's
/// directory knows of it.
void check_copies(Machine& machine) {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  for (const auto& gpu : machine.gpus) {
    if (gpu->coherence() == nullptr) return;
    gpu->coherence()->directory().check();
    sent += gpu->coherence()->stats().sent_write + gpu->coherence()->stats().sent_eviction;
    received += gpu->coherence()->stats().received;
    gpu->l2().for_each_remote_line([&](PhysLine line, const LineImage* image) {
      Directory& directory = machine.gpus[line.device().value]->coherence()->directory();
      if ((directory.sharers(line) & sharer(gpu->device())) == 0) {
        throw SimulationError(fmt::format(
            "check: GPU {} holds a copy of line {} of frame {} of GPU {}, whose directory does not know of it",
            gpu->device().value, line.index(), line.page().frame(), line.device().value));
      }
      machine.data_oracle->watch(line.device()).check_copy(gpu->device(), line, *image);
    });
  }
  if (sent != received) {
    throw SimulationError(fmt::format("check: {} invalidations were sent and {} received", sent, received));
  }
}

/// Every byte on a link that carried posted stores is useful, wasted or protocol; what went to the host nobody follows.
void check_stores(Machine& machine) {
  if (!machine.spec().follows_useful_bytes()) return;
  std::uint64_t wire = 0;
  std::uint64_t known = 0;
  for (const auto& gpu : machine.gpus) {
    const EgressStats& egress = gpu->egress()->stats();
    const UsefulStats useful = gpu->useful()->stats();
    wire += egress.wire_bytes;
    known += egress.protocol_bytes + egress.host_bytes + useful.useful_bytes + useful.wasted_bytes;
  }
  if (machine.switch_device) {
    // A store that was multicast has come to each member.
    StatTable copied;
    copied.add("", *machine.switch_device);
    wire += copied.at("extra_bytes");
  }
  if (wire != known) {
    throw SimulationError(fmt::format(
        "check: posted stores took {} bytes on the links, but {} are useful, wasted or protocol", wire, known));
  }
}

/// And so is every byte of copies.
void check_copied_bytes(Machine& machine) {
  if (!machine.spec().follows_useful_bytes()) return;
  std::uint64_t wire = machine.host->network().stats().copy_bytes;
  std::uint64_t known = machine.host->copies().stats().protocol_bytes;
  for (const auto& gpu : machine.gpus) {
    const CopyBytesStats& sent = gpu->copies().stats();
    const UsefulCopyStats useful = gpu->useful()->copy_stats();
    wire += gpu->network().stats().copy_bytes;
    known += sent.protocol_bytes + sent.host_bytes + useful.useful_bytes + useful.wasted_bytes;
  }
  if (wire != known) {
    throw SimulationError(
        fmt::format("check: copies took {} bytes on the links, but {} are useful, wasted or protocol", wire, known));
  }
}

/// Whether the host may have written to a program's data behind its last launch, whose end writes caches back. Beside
/// others a program is executed again, and may be stopped behind any of its steps.
bool host_writes_last(const Process& process, bool alone) {
  for (auto step = process.steps.rbegin(); step != process.steps.rend(); ++step) {
    if (alone && std::holds_alternative<LaunchStep>(*step)) return false;
    const auto* access = std::get_if<HostAccess>(&*step);
    if (access != nullptr && access->writes) return true;
  }
  return false;
}

/// What memory and all copies of a line come to together is what was written last; and who has a copy alone is alone.
void check_hierarchy(Machine& machine) {
  const auto& host = static_cast<const HostHierarchy&>(*machine.host->level());
  std::vector<const GpuHierarchy*> gpus;
  for (const auto& gpu : machine.gpus) gpus.push_back(static_cast<const GpuHierarchy*>(gpu->level()));
  DataOracle& oracle = *machine.data_oracle;
  for (std::size_t a = 0; a < machine.processes.size(); ++a) {
    oracle.watch(machine.topology.host()).boundary(static_cast<std::uint8_t>(a));
  }
  oracle.merge();
  for (unsigned device = 0; device <= machine.gpus.size(); ++device) {
    DataWatch& watch = oracle.watch(DeviceId{static_cast<std::uint16_t>(device)});
    watch.for_each_unified_line([&](PhysLine line) {
      LineImage contents = host.contents(HierarchyMap::number(line));
      for (const GpuHierarchy* gpu : gpus) gpu->overlay(HierarchyMap::number(line), contents);
      watch.unified_end(line, contents);
    });
  }
  oracle.merge();
}

}  // namespace

void check_conservation(Machine& machine) {
  check_devices(machine);
  check_links(machine);
  check_stores(machine);
  check_copied_bytes(machine);
  if (machine.masks.live() != 0) {
    throw SimulationError(fmt::format("check: byte masks of {} stores are left at the end", machine.masks.live()));
  }
  // A kernel's end writes the GPUs' caches back, not the host's, where pages may lie that GPUs have mapped.
  machine.data_oracle->merge();
  check_copies(machine);
  if (machine.spec().is_unified()) {
    check_hierarchy(machine);
    return;
  }
  const bool alone = machine.processes.size() == 1;
  const auto left_dirty = [&](const Process& process) { return host_writes_last(process, alone); };
  if (!machine.spec().boundary.write_back || std::ranges::any_of(machine.processes, left_dirty)) return;
  for (const auto& gpu : machine.gpus) machine.data_oracle->watch(gpu->device()).check_written_back();
}

}  // namespace nearfar
