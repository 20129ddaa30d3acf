#include "study/latency_components.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <span>
#include <string_view>

#include "study/statistic.h"

namespace nearfar {
namespace {

struct ComponentName {
  std::string_view statistic;
  const char* shown;
};

constexpr ComponentName kLoadComponents[] = {
    {"l1", "translation and L1"},
    {"request_link", "request on the links"},
    {"home_wait", "L2 bank and MSHR wait"},
    {"home", "L2 lookup"},
    {"merge", "merge with a pending DRAM read"},
    {"dram", "DRAM"},
    {"reply_link", "reply on the links"},
};

constexpr ComponentName kMissComponents[] = {
    {"gmmu.blocked", "full PW-queue of the GMMU"},
    {"gmmu.queue", "PW-queue of the GMMU"},
    {"filter", "walk filter"},
    {"gmmu.pw_cache", "PW-cache lookup of the GMMU"},
    {"gmmu.walk_upper", "GMMU walk, upper levels"},
    {"gmmu.walk_leaf", "GMMU walk, leaf level"},
    {"fault.buffer", "fault buffer"},
    {"link.to_host", "fault on the link to the host"},
    {"host.tlb", "host TLB lookup"},
    {"host.queue", "PW-queue of the host MMU"},
    {"host.pw_cache", "PW-cache lookup of the host MMU"},
    {"host.walk_upper", "host MMU walk, upper levels"},
    {"host.walk_leaf", "host MMU walk, leaf level"},
    {"remote.link", "links to and from a remote GPU"},
    {"remote.queue", "queue of a remote GPU"},
    {"remote.walk", "walk in a remote GPU"},
    {"driver.batch", "UVM driver, batch"},
    {"driver.turn", "UVM driver, migration limit"},
    {"driver.parked", "UVM driver, page in migration"},
    {"migration.invalidate", "migration, invalidation"},
    {"migration.transfer", "migration, transfer"},
    {"link.to_gpu", "mapping on the link to the GPU"},
    {"gmmu.update", "page-table update"},
    {"replay", "replay after a fault"},
    {"iommu.link", "links to and from the IOMMU"},
    {"iommu.tlb", "IOMMU TLB lookup"},
    {"iommu.queue", "PW-queue of the IOMMU"},
    {"iommu.walk", "IOMMU walk"},
};

void add_breakdown(std::vector<LatencyBreakdown>& out, const RunResult& result, const char* of,
                   std::string_view count_name, std::string_view total_name, std::string_view prefix,
                   std::string_view suffix, std::span<const ComponentName> components) {
  const double count = find_statistic(result, count_name).value_or(0);
  const double total = find_statistic(result, total_name).value_or(0);
  if (count == 0 || total == 0) return;
  LatencyBreakdown breakdown{of, total / count, {}};
  for (const ComponentName& component : components) {
    const double cycles =
        find_statistic(result, fmt::format("{}{}{}", prefix, component.statistic, suffix)).value_or(0);
    if (cycles > 0) breakdown.parts.push_back({component.shown, cycles / count, cycles / total});
  }
  std::ranges::stable_sort(breakdown.parts, std::greater(), &LatencyPart::cycles);
  out.push_back(std::move(breakdown));
}

}  // namespace

std::vector<LatencyBreakdown> latency_breakdowns(const RunResult& result) {
  std::vector<LatencyBreakdown> out;
  add_breakdown(out, result, "a load that misses the L1", "latency.load.count", "latency.load.total_cycles",
                "latency.load.", "_cycles", kLoadComponents);
  add_breakdown(out, result, "an L2 TLB miss", "l2_miss.count", "l2_miss.latency", "l2_miss.component.", "",
                kMissComponents);
  return out;
}

}  // namespace nearfar
