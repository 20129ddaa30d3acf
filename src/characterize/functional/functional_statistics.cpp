#include "characterize/functional/functional_statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "characterize/functional/functional_pass.h"
#include "machine/statistics.h"

namespace nearfar {
namespace {

/// What happens only where accesses overlap, or wait for something.
constexpr std::string_view kTimed[] = {
    "merges", "poisoned_fills", "stalled_requests",   "stalled_instructions", "pending_write", "pending_eviction",
    "timed",  "markers",        "pending_collateral", "boundaries",           "fences"};

/// Adds counters that need no time.
class UntimedAdder final : public StatVisitor {
 public:
  UntimedAdder(StatTable& table, std::string prefix) : table_(table), prefix_(std::move(prefix)) {}

  void counter(std::string_view name, std::string_view unit, std::string_view, std::uint64_t& value) override {
    if (unit == "cycles" || std::ranges::find(kTimed, name) != std::end(kTimed)) return;
    table_.increase(prefix_ + std::string(name), value);
  }
  void histogram(std::string_view, std::string_view, std::string_view, Histogram&) override {}

 private:
  StatTable& table_;
  std::string prefix_;
};

template <class Stats>
void add_untimed(StatTable& table, const std::string& prefix, Stats& stats) {
  UntimedAdder adder(table, prefix);
  stats.describe(adder);
}

/// A cache with its memory, and what its device sent over links in requests and replies.
void add_device(StatTable& table, const std::string& cache, DeviceId device, FunctionalMemory& memory) {
  FunctionalL2& l2 = memory.l2_of(device);
  const LinkStats& link = memory.link_of(device);
  add_untimed(table, cache + ".", l2.stats());
  table.set("dram.reads", l2.memory_reads());
  table.set("dram.writes", l2.memory_writes());
  table.set("link.request_packets", link.request_packets);
  table.set("link.request_bytes", link.request_bytes);
  table.set("link.reply_packets", link.reply_packets);
  table.set("link.reply_bytes", link.reply_bytes);
}

StatTable gpu_table(const SystemSpec& system, FunctionalGpu& gpu, FunctionalMemory& memory) {
  StatTable table;
  FunctionalL2& l2 = memory.l2_of(gpu.device());
  add_untimed(table, "cu.", gpu.stats());
  for (L1Cache& l1 : gpu.vector_l1s()) add_untimed(table, "l1v.", l1.stats());
  for (L1Cache& l1 : gpu.scalar_l1s()) add_untimed(table, "l1s.", l1.stats());
  add_device(table, "l2", gpu.device(), memory);
  table.add("link.", memory.requests_of(gpu.device()));
  add_untimed(table, "l2.lookup.", l2.lookup_stats());
  if (system.remote_cache == RemoteCache::L1L2) add_untimed(table, "l2.remote.", l2.remote_stats());
  if (Directory* directory = memory.directory_of(gpu.device())) {
    table.add("directory.", directory->stats());
    add_untimed(table, "invalidation.", memory.coherence_of(gpu.device()));
    add_untimed(table, "invalidation.", l2.invalidation_stats());
  }
  return table;
}

/// A ratio of sums of counters, for a place that has any.
void add_ratio(std::vector<StatValue>& out, const std::string& name, std::uint64_t part, std::uint64_t whole) {
  if (whole != 0) out.push_back({name, true, 0, static_cast<double>(part) / static_cast<double>(whole)});
}

void add_ratios(std::vector<StatValue>& out, const StatTable& table, const std::string& place) {
  const auto count = [&](const char* name) { return table.at(place + name); };
  add_ratio(out, place + kWarmMissRate, count("l2.lookup.misses") - count("l2.lookup.cold_misses"),
            count("l2.lookup.lookups"));
  const std::uint64_t evicted = count("invalidation.hit_eviction");
  add_ratio(out, place + kEvictionShare, evicted,
            evicted + count("invalidation.hit_write") + count("invalidation.hit_collateral"));
}

}  // namespace

std::vector<StatValue> collect_functional(const SystemSpec& system, std::vector<FunctionalGpu>& gpus,
                                          FunctionalMemory& memory, std::uint64_t launches) {
  StatTable table;
  for (FunctionalGpu& gpu : gpus) {
    const StatTable one = gpu_table(system, gpu, memory);
    table.merge(fmt::format("gpu{}.", gpu.device().value), one);
    table.merge("gpus.", one);
  }
  StatTable host;
  add_device(host, "llc", DeviceId{static_cast<std::uint16_t>(system.gpus)}, memory);
  table.merge("host.", host);
  table.set("run.launches", launches);
  table.set("run.instructions", table.at("gpus.cu.instructions"));
  table.set("run.accesses", table.at("gpus.cu.accesses"));
  std::vector<StatValue> values = table.values();
  add_ratios(values, table, "gpus.");
  for (const FunctionalGpu& gpu : gpus) add_ratios(values, table, fmt::format("gpu{}.", gpu.device().value));
  std::ranges::sort(values, {}, &StatValue::name);
  return values;
}

std::vector<StatInfo> functional_statistics() {
  std::vector<StatInfo> out;
  list_stats<RequestTypeStats>(out, {"gpus.link.", "gpu<g>.link."});
  for (const std::string place : {"gpus.", "gpu<g>."}) {
    out.push_back({place + kWarmMissRate, "ratio",
                   "Share of lookups of a GPU's own units in its L2 that missed lines which the GPU had looked up "
                   "before (`nearfar functional` only)."});
    out.push_back({place + kEvictionShare, "ratio",
                   "Share of the invalidated copies in L2 caches whose directory entry had been replaced, while no "
                   "line of it was written (`nearfar functional` only)."});
  }
  return out;
}

}  // namespace nearfar
