// The one place that says how long anything in a machine can take. It errs on the long side everywhere: a machine that
// is stuck mostly has nothing scheduled any more, which is seen at once; these bounds are for one that keeps turning.
#include "machine/watchdog_bounds.h"

#include <algorithm>
#include <cmath>

#include "config/schema.h"
#include "config/units.h"

namespace nearfar {
namespace {

/// Beyond it (eleven days at 1 GHz) nobody waits for the answer.
constexpr double kLongest = 1e15;

/// How often one request may be overtaken by all others, where structures are tiny and nobody keeps a turn for it.
constexpr Cycle kOvertaken = 16;

/// The sum of all times that the system and its designs have parameters for, whoever declared them.
double sum_of_times(SystemSpec spec) {
  double sum = 0;
  const Schema schema(spec);
  for (const Parameter& parameter : schema.parameters()) {
    if (parameter.field->unit() != "cycles") continue;
    if (parameter.path == "watchdog.cycles" || parameter.path == "translation.snapshot") continue;
    sum += static_cast<double>(parse_cycles(parameter.field->text(), std::nullopt).value_or(0));
  }
  return sum;
}

double transfer(Bytes bytes, Bandwidth bandwidth, Frequency clock) {
  return std::ceil(static_cast<double>(bytes) * static_cast<double>(clock.hertz) /
                   static_cast<double>(bandwidth.bytes_per_second));
}

/// Links one after another on the longest way between two devices.
unsigned hops(const SystemSpec& spec) {
  switch (spec.link.topology) {
    case TopologyKind::Ring: return spec.gpus / 2 + 1;
    case TopologyKind::PcieTree: return 4;
    case TopologyKind::FatTree: return 12;  // six levels of at least two switches each have all the GPUs there can be
    case TopologyKind::Switch:
    case TopologyKind::AllToAll: break;
  }
  return 2;
}

/// The longest that one access to a memory holds up others there: a row is closed and opened, and refreshed before.
double row_cycle(const DramSpec& dram) {
  return static_cast<double>(dram.t_rp + dram.t_rcd + dram.t_cl + dram.t_ras + dram.t_wr + dram.t_wtr + dram.t_faw +
                             (dram.refresh ? dram.t_rfc : 0));
}

}  // namespace

WatchdogBounds watchdog_bounds(const SystemSpec& spec) {
  if (spec.watchdog != 0) return {spec.watchdog, kOvertaken * spec.watchdog};
  const GpuSpec& gpu = spec.gpu;
  const Frequency clock = gpu.clock;
  const auto bytes_on_all = [&](Bytes bytes) {
    return hops(spec) * transfer(bytes, spec.link.bandwidth, clock) +
           transfer(bytes, gpu.dram.channel_bandwidth, clock) +
           transfer(bytes, spec.host.dram.channel_bandwidth, clock);
  };
  const Bytes packet = gpu.line + spec.link.header + spec.link.reply_header + gpu.line / 8;
  const double line = bytes_on_all(packet) + row_cycle(gpu.dram) + row_cycle(spec.host.dram);
  const Bytes page_bytes = std::max<Bytes>(spec.page.size.bytes(), kPageBytes);
  const double page = bytes_on_all(page_bytes / gpu.line * packet) + static_cast<double>(page_bytes / gpu.line) * line;

  // One access alone: to each level of a page table, remote ones and again after a fault, and to its line; a page may
  // have to leave and another to come for it.
  const double passes = 4.0 * (spec.page_table.levels + 1);
  const double alone = passes * (hops(spec) * sum_of_times(spec) + line) + 4 * page;
  // A flush ends nothing before its last line; a batch of faults is handled one by one, and its pages may share a link.
  const double flush = static_cast<double>(std::max(gpu.l2.size, spec.host.llc.size) / gpu.line) * line;
  const double batch = spec.uvm.batch_size * static_cast<double>(spec.uvm.per_fault + spec.uvm.fault_software) +
                       spec.uvm.concurrent_migrations * page;
  const bool moves = spec.policy != PagePolicy::Pinned && spec.policy != PagePolicy::NoFault;
  const double progress = alone + flush + (moves ? batch : 0);

  // What may stand before one request: all lines and all translations that the GPUs can have under way, one by one.
  const double lines = static_cast<double>(gpu.cus()) * (gpu.l1v.mshrs + gpu.l1s.mshrs + gpu.cu.store_buffer);
  const double pages = spec.translation.kind == TranslationKind::Ideal ? 0.0 : gpu.l2_tlb.mshrs;
  // A switch that reduces makes a load one of each GPU.
  const double reads = spec.has_switch_device() ? spec.gpus : 1.0;
  const double request = kOvertaken * (progress + spec.gpus * (reads * lines * line + pages * alone));
  return {static_cast<Cycle>(std::min(progress, kLongest)), static_cast<Cycle>(std::min(request, kLongest))};
}

}  // namespace nearfar
