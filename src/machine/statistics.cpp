#include "machine/statistics.h"

#include <fmt/format.h>

#include <algorithm>

#include "coherence/coherence_controller.h"
#include "gpu/compute_unit.h"
#include "gpu/gpu_hierarchy.h"
#include "host/command_processor.h"
#include "host/host_hierarchy.h"
#include "interconnect/egress.h"
#include "interconnect/network_interface.h"
#include "interconnect/store_ingress.h"
#include "interconnect/useful_bytes.h"
#include "machine/remote_prefixes.h"
#include "machine/sharing.h"
#include "memory/cache/l1_cache.h"
#include "memory/cache/l2_cache.h"
#include "memory/dram/dram.h"
#include "stats/latency.h"
#include "translation/gmmu/gmmu.h"
#include "translation/host_mmu/host_mmu.h"
#include "translation/iommu/iommu.h"

namespace nearfar {
namespace {

/// A ratio of two sums, reported for every place that has both.
struct Ratio {
  const char* name;
  const char* over;
  const char* under;
  const char* sentence;
};
constexpr Ratio kRatios[] = {
    {"l1v.load_hit_rate", "l1v.load_hits", "l1v.load_lines",
     "Share of the lines of vector loads that hit in the L1 vector cache."},
    {"l1s.load_hit_rate", "l1s.load_hits", "l1s.load_lines",
     "Share of the lines of scalar loads that hit in the L1 scalar cache."},
    {"l2.read_hit_rate", "l2.read_hits", "l2.reads", "Share of reads of lines at home in this GPU that hit in its L2."},
    {"l2.write_hit_rate", "l2.write_hits", "l2.writes",
     "Share of writes to lines at home in this GPU that hit in its L2."},
    {"llc.read_hit_rate", "llc.read_hits", "llc.reads", "Share of reads that hit in the last-level cache of the host."},
    {"dram.row_hit_rate", "dram.row_hits", "dram.accesses", "Share of DRAM accesses that found their row open."},
    {"cu.pages_per_instruction", "cu.page_groups", "cu.vector_memory",
     "Mean number of pages that a vector memory instruction touches."},
    {"cu.lines_per_instruction", "cu.accesses", "cu.vector_memory",
     "Mean number of lines that a vector memory instruction touches."},
    {"egress.small_share", "egress.small_stores", "egress.stores",
     "Share of the posted stores to other devices that write fewer than 32 bytes."},
    {"egress.stores_per_message", "egress.stores", "egress.messages",
     "Mean number of posted stores in a message to another device."},
    {"egress.goodput", "egress.data_bytes", "egress.wire_bytes",
     "Share of the bytes on the link of posted stores that are data of the program."},
    {"l1_tlb.hit_rate", "l1_tlb.hits", "l1_tlb.lookups", "Share of L1 TLB lookups that hit."},
    {"l2_tlb.hit_rate", "l2_tlb.hits", "l2_tlb.lookups", "Share of L2 TLB lookups that hit."},
    {"iommu.concurrent.leaf_share", "iommu.concurrent.leaf", "iommu.concurrent.leaf_reads",
     "Share of reads of page-table lines with leaf entries that a concurrent page walk reads too."},
    {"iommu.concurrent.upper_share", "iommu.concurrent.upper", "iommu.concurrent.upper_reads",
     "Share of reads of page-table lines with upper-level entries of which a concurrent page walk reads another "
     "entry."},
    {"iommu.tlb.hit_rate", "iommu.tlb.hits", "iommu.tlb.lookups", "Share of IOMMU TLB lookups that hit."},
    {"mig.concurrent.leaf_share", "mig.concurrent.leaf", "mig.concurrent.leaf_reads",
     "Share of reads of page-table lines with leaf entries that a concurrent page walk reads too."},
    {"mig.concurrent.upper_share", "mig.concurrent.upper", "mig.concurrent.upper_reads",
     "Share of reads of page-table lines with upper-level entries of which a concurrent page walk reads another "
     "entry."},
    {"mig.l3_tlb.hit_rate", "mig.l3_tlb.hits", "mig.l3_tlb.lookups", "Share of L3 TLB lookups that hit."},
    {"host.mmu.tlb.hit_rate", "host.mmu.tlb.hits", "host.mmu.tlb.lookups",
     "Share of far faults whose page the TLB of the host MMU held."},
    {"l2_miss.mean_cycles", "l2_miss.latency", "l2_miss.count", "Mean time from an L2 TLB miss to its answer."},
    {"coherence.share", "net.bytes.coherence", "net.bytes.data",
     "Bytes of probes, acknowledgements and other messages without data of a unified memory hierarchy, over bytes of "
     "its messages with data; requests and notices of completion are in neither."},
    {"latency.load.mean_cycles", "latency.load.total_cycles", "latency.load.count",
     "Mean time from the load/store unit to the fill of the L1, for lines that missed the L1."},
};

/// What instances of a GPU share.
void list_instances(std::vector<StatInfo>& out) {
  IommuStats shared;
  shared.l3 = true;
  StatLister lister(out, "mig.");
  shared.describe(lister);
  shared.all.describe(lister, ".pid<p>", true);
  list_stats<SubEntryUse>(out, {"mig.l3_tlb.", "gpus.l2_tlb.", "gpu<g>.l2_tlb."});
  StatLister of_l3(out, "mig.l3_tlb.");
  SubEntryCounts().describe(of_l3, ".pid<p>");
}

bool ends_with_component(const std::string& name, const std::string& suffix) {
  if (name.size() < suffix.size() || name.compare(name.size() - suffix.size(), suffix.size(), suffix) != 0)
    return false;
  return name.size() == suffix.size() || name[name.size() - suffix.size() - 1] == '.';
}

}  // namespace

void StatLister::counter(std::string_view name, std::string_view unit, std::string_view sentence, std::uint64_t&) {
  out_.push_back({prefix_ + std::string(name), std::string(unit), std::string(sentence)});
}

void StatLister::histogram(std::string_view name, std::string_view unit, std::string_view sentence, Histogram&) {
  const std::string base = prefix_ + std::string(name);
  sentence.remove_suffix(1);  // the period
  out_.push_back(
      {base + ".below_<n>", "samples", std::string(sentence) + ": number of samples of at least n/2 and below n."});
  out_.push_back({base + ".mean", std::string(unit), std::string(sentence) + ": mean of all samples."});
  out_.push_back({base + ".max", std::string(unit), std::string(sentence) + ": largest sample."});
}

std::vector<StatInfo> list_statistics() {
  std::vector<StatInfo> out = {
      {"run.cycles", "cycles",
       "Simulated time from the first step of a workload, a launch or a copy, to the end of the last."},
      {"run.instructions", "instructions", "Wavefront instructions issued by all compute units."},
      {"run.accesses", "lines", "Line accesses of all compute units after coalescing."},
      {"run.launches", "launches", "Kernel launches of the first executions of all applications."},
      {"kernel.<name>.cycles", "cycles", "Time from launch to end, summed over the launches of a kernel."},
      {"kernel.<name>.launches", "launches", "Number of launches of a kernel."},
      {"kernel.<name>.instructions", "instructions", "Wavefront instructions of a kernel."},
      {"kernel.<name>.accesses", "lines", "Line accesses of a kernel after coalescing."},
      {"app<a>.cycles", "cycles", "Time of the first execution of an application."},
      {"app<a>.instructions", "instructions", "Wavefront instructions of the first execution of an application."},
      {"app<a>.accesses", "lines", "Line accesses of the first execution of an application."},
      {"app<a>.launches", "launches", "Kernel launches of the first execution of an application."},
      {"collective.bytes", "bytes",
       "Bytes of the buffer of a rank in a collective operation, for every time that it ran."},
      {"collective.algorithm_bandwidth", "GB/s",
       "Algorithm bandwidth of a collective operation: bytes of the buffer of a rank over the time that it took."},
      {"collective.bus_bandwidth", "GB/s",
       "Bus bandwidth of a collective operation: what every rank must send at least, over the time that it took; it is "
       "the algorithm bandwidth times 2(G-1)/G for an all-reduce among G ranks, and times (G-1)/G for the others."},
      {"link.packets", "packets", "Packets sent by all devices."},
      {"link.bytes", "bytes", "Bytes of the packets sent by all devices, headers included."},
  };
  list_stats<ComputeUnitStats>(out, {"gpus.cu.", "gpu<g>.cu.", "gpu<g>.cu<c>."});
  list_stats<L1Stats>(
      out, {"gpus.l1v.", "gpu<g>.l1v.", "gpu<g>.cu<c>.l1v.", "gpus.l1s.", "gpu<g>.l1s.", "gpu<g>.array<s>.l1s."});
  list_stats<L2Stats>(out, {"gpus.l2.", "gpu<g>.l2.", "host.llc."});
  list_stats<RemoteLineStats>(out, {"gpus.l2.remote.", "gpu<g>.l2.remote."});
  list_stats<RemoteWriteBackStats>(out, {"gpus.l2.remote.write_back.", "gpu<g>.l2.remote.write_back."});
  list_stats<L2LookupStats>(out, {"gpus.l2.lookup.", "gpu<g>.l2.lookup."});
  list_stats<DirectoryStats>(out, {"gpus.directory.", "gpu<g>.directory."});
  list_stats<CoherenceStats>(out, {"gpus.invalidation.", "gpu<g>.invalidation."});
  list_stats<InvalidationStats>(out, {"gpus.invalidation.", "gpu<g>.invalidation."});
  list_stats<DramStats>(out, {"gpus.dram.", "gpu<g>.dram.", "host.dram."});
  list_stats<LinkStats>(out, {"gpus.link.", "gpu<g>.link.", "host.link."});
  list_stats<DestinationStats>(out, {"gpu<g>.link.to_gpu<h>.", "gpu<g>.link.to_host.", "host.link.to_gpu<h>."});
  list_stats<LinkLayerStats>(out, {"gpus.link_layer.", "gpu<g>.link_layer.", "host.link_layer."});
  list_stats<EgressStats>(out, {"gpus.egress.", "gpu<g>.egress."});
  list_stats<UsefulStats>(out, {"gpus.egress.", "gpu<g>.egress."});
  list_stats<UsefulCopyStats>(out, {"gpus.copy.", "gpu<g>.copy."});
  list_stats<CopyBytesStats>(out, {"gpus.copy.", "gpu<g>.copy.", "host.copy."});
  list_stats<StoreIngressStats>(out, {"gpus.ingress.", "gpu<g>.ingress.", "host.ingress."});
  list_stats<LoadLatency>(out, {"latency.load."});
  list_stats<L1TlbStats>(out, {"gpus.l1_tlb.", "gpu<g>.l1_tlb.", "gpu<g>.cu<c>.l1_tlb."});
  list_stats<L1TlbStats>(out, {"gpus.scalar_tlb.", "gpu<g>.scalar_tlb.", "gpu<g>.array<s>.scalar_tlb."});
  list_stats<L2TlbStats>(out, {"gpus.l2_tlb.", "gpu<g>.l2_tlb."});
  list_stats<MissStats>(out, {"l2_miss.", "gpus.l2_miss.", "gpu<g>.l2_miss."});
  list_stats<GmmuStats>(out, {"gpus.gmmu.", "gpu<g>.gmmu."});
  list_stats<WalkStats>(out, {"gpus.gmmu.", "gpu<g>.gmmu.", "host.mmu.", "iommu.", "mig."});
  list_stats<HostMmuStats>(out, {"host.mmu."});
  list_stats<UvmStats>(out, {"uvm."});
  list_stats<PrefetchStats>(out, {"uvm.prefetch."});
  list_stats<WalkConcurrencyStats>(out, {"iommu.", "mig."});
  list_stats<IommuStats>(out, {"iommu."});
  IommuProcessStats process;
  StatLister lister(out, "iommu.");
  process.describe(lister, ".pid<p>");
  list_instances(out);
  std::vector<StatInfo> tlb;
  list_stats<L2TlbStats>(tlb, {"gpus.l2_tlb."});
  for (const char* what : kProcessTlbStats) {
    const StatInfo& all = *std::ranges::find(tlb, fmt::format("gpus.l2_tlb.{}", what), &StatInfo::name);
    out.push_back(
        {all.name + ".pid<p>", all.unit,
         all.sentence.substr(0, all.sentence.size() - 1) + ", for one of several processes in its first execution."});
  }
  out.push_back({"mig.l3_tlb.occupancy.gpu<g>", "pages",
                 "Pages in the L3 TLB that belong to an instance of a GPU, as a series over time in the JSON of a run "
                 "with `translation.observe`."});
  out.push_back({"iommu.tlb.occupancy.gpu<g>", "pages",
                 "Entries of the IOMMU TLB that belong to a GPU, as a series over time in the JSON of a run with "
                 "`translation.observe`."});
  list_stats<CopyStats>(out, {"copies."});
  list_stats<HostPhaseStats>(out, {"host_phases."});
  list_stats<HostAgentStats>(out, {"host.cpu."});
  list_stats<RunPartStats>(out, {"run."});
  list_stats<SyncStats>(out, {"sync."});
  list_stats<DemandSyncStats>(out, {"sync."});
  list_stats<GpuHierarchyStats>(out, {"gpus.umh.", "gpu<g>.umh."});
  list_stats<HostHierarchyStats>(out, {"host.umh."});
  list_stats<HierarchyTraffic>(out, {""});
  list_stats<SharingStats>(out, {""});
  list_stats<RemotePrefixStats>(out, {"host.mmu."});
  out.push_back({"run.l2_tlb_mpki", "ratio",
                 "Misses of the L2 TLBs per 1000 instructions, without those that merged with a pending miss."});
  out.push_back({"run.l2_tlb_mpki_merged", "ratio",
                 "Misses of the L2 TLBs per 1000 instructions, including those that merged with a pending miss."});
  out.push_back({"run.pfpki", "ratio", "Far faults per 1000 instructions."});
  for (const char* place : {"gpus", "gpu<g>", "host"}) {
    out.push_back({fmt::format("{}.dram.accesses", place), "lines", "Lines read from and written to memory."});
  }
  for (const char* place : {"gpus", "gpu<g>"}) {
    out.push_back({fmt::format("{}.cu.vector_memory", place), "instructions",
                   "Vector load, store and atomic instructions that compute units issued."});
  }
  for (const Ratio& ratio : kRatios) {
    const std::string name = ratio.name;
    if (name.starts_with("latency") || name.starts_with("iommu") || name.starts_with("mig") ||
        name.starts_with("host")) {
      out.push_back({name, "ratio", ratio.sentence});
    } else if (name.starts_with("coherence")) {
      for (const char* place : {"", "gpus.umh.", "gpu<g>.umh.", "host.umh."}) {
        out.push_back({place + name, "ratio", ratio.sentence});
      }
    } else if (name.starts_with("llc")) {
      out.push_back({"host." + name, "ratio", ratio.sentence});
    } else {
      for (const char* place : {"gpus.", "gpu<g>."}) out.push_back({place + name, "ratio", ratio.sentence});
      if (name.starts_with("l2_miss")) out.push_back({name, "ratio", ratio.sentence});
      if (name.starts_with("l1_tlb")) out.push_back({"gpu<g>.cu<c>." + name, "ratio", ratio.sentence});
      if (name.starts_with("l1v")) out.push_back({"gpu<g>.cu<c>." + name, "ratio", ratio.sentence});
      if (name.starts_with("l1s")) out.push_back({"gpu<g>.array<s>." + name, "ratio", ratio.sentence});
    }
  }
  std::sort(out.begin(), out.end(), [](const StatInfo& a, const StatInfo& b) { return a.name < b.name; });
  return out;
}

void StatTable::Adder::counter(std::string_view name, std::string_view, std::string_view, std::uint64_t& value) {
  table_.counters_[prefix_ + std::string(name)] += value;
}

void StatTable::Adder::histogram(std::string_view name, std::string_view, std::string_view, Histogram& value) {
  table_.histograms_[prefix_ + std::string(name)].merge(value);
}

std::uint64_t StatTable::at(const std::string& name) const {
  const auto found = counters_.find(name);
  return found == counters_.end() ? 0 : found->second;
}

void StatTable::merge(const std::string& prefix, const StatTable& other) {
  for (const auto& [name, value] : other.counters_) counters_[prefix + name] += value;
  for (const auto& [name, value] : other.ratios_) ratios_[prefix + name] = value;
  for (const auto& [name, value] : other.histograms_) histograms_[prefix + name].merge(value);
}

std::vector<StatValue> StatTable::values() const {
  std::map<std::string, std::uint64_t> all = counters_;
  for (const auto& [name, value] : counters_) {
    if (ends_with_component(name, "dram.reads")) {
      const std::string place = name.substr(0, name.size() - 5);
      all[place + "accesses"] = value + at(place + "writes");
    } else if (ends_with_component(name, "cu.vector_loads")) {
      const std::string place = name.substr(0, name.size() - 12);
      all[place + "vector_memory"] = value + at(place + "vector_stores") + at(place + "vector_atomics");
    }
  }
  std::vector<StatValue> out;
  for (const auto& [name, value] : all) {
    out.push_back({name, false, value, 0});
    for (const Ratio& ratio : kRatios) {
      if (!ends_with_component(name, ratio.under) || value == 0) continue;
      const std::string place = name.substr(0, name.size() - std::string_view(ratio.under).size());
      const auto over = all.find(place + ratio.over);
      if (over == all.end()) continue;
      out.push_back({place + ratio.name, true, 0, static_cast<double>(over->second) / static_cast<double>(value)});
    }
  }
  const auto per_kilo_instruction = [&](const char* name, std::uint64_t events) {
    const std::uint64_t instructions = at("run.instructions");
    if (instructions != 0) {
      out.push_back({name, true, 0, 1000.0 * static_cast<double>(events) / static_cast<double>(instructions)});
    }
  };
  if (all.contains("gpus.l2_tlb.misses")) {
    per_kilo_instruction("run.l2_tlb_mpki", at("gpus.l2_tlb.misses") - at("gpus.l2_tlb.merges"));
    per_kilo_instruction("run.l2_tlb_mpki_merged", at("gpus.l2_tlb.misses"));
  }
  // A GPU without page tables has no far faults of its own: its page requests are what the driver takes.
  if (all.contains("uvm.faults")) {
    per_kilo_instruction("run.pfpki", at(all.contains("gpus.gmmu.far_faults") ? "gpus.gmmu.far_faults" : "uvm.faults"));
  }
  for (const auto& [name, value] : ratios_) out.push_back({name, true, 0, value});
  for (const auto& [name, histogram] : histograms_) {
    for (std::size_t bin = 0; bin < histogram.bins.size(); ++bin) {
      if (histogram.bins[bin] == 0) continue;
      out.push_back({fmt::format("{}.below_{}", name, std::uint64_t{1} << bin), false, histogram.bins[bin], 0});
    }
    if (histogram.count != 0) {
      out.push_back({name + ".max", false, histogram.max, 0});
      out.push_back(
          {name + ".mean", true, 0, static_cast<double>(histogram.sum) / static_cast<double>(histogram.count)});
    }
  }
  std::sort(out.begin(), out.end(), [](const StatValue& a, const StatValue& b) { return a.name < b.name; });
  return out;
}

}  // namespace nearfar
