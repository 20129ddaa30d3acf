#include "translation/miss.h"

#include <fmt/format.h>

namespace nearfar {
namespace {

struct PartText {
  const char* name;
  const char* sentence;
};

constexpr std::array<PartText, kLatencyComponents> kTexts = {{
    {"gmmu.blocked", "waiting for a place in the GMMU's queue"},
    {"gmmu.queue", "in the GMMU's queue"},
    {"filter", "in a filter before the GMMU's walk"},
    {"gmmu.pw_cache", "in the GMMU's walk-cache lookup"},
    {"gmmu.walk_upper", "in the GMMU's accesses above the leaf"},
    {"gmmu.walk_leaf", "in the GMMU's leaf access"},
    {"fault.buffer", "in the fault buffer"},
    {"link.to_host", "on the way of the fault to the host"},
    {"host.tlb", "in the host TLB's lookup"},
    {"host.queue", "in the host MMU's queue"},
    {"host.pw_cache", "in the host MMU's walk-cache lookup"},
    {"host.walk_upper", "in the host MMU's accesses above the leaf"},
    {"host.walk_leaf", "in the host MMU's leaf access"},
    {"remote.link", "on the way to and from another GPU that is asked"},
    {"remote.queue", "in that GPU's queue"},
    {"remote.walk", "in that GPU's lookup or walk"},
    {"driver.batch", "in the UVM driver"},
    {"driver.turn", "waiting for its turn while as many pages as may were moving"},
    {"driver.parked", "parked while the page was moving"},
    {"migration.invalidate", "until all old mappings were invalidated"},
    {"migration.transfer", "in the transfer of the page"},
    {"link.to_gpu", "on the way of a mapping to the GPU"},
    {"gmmu.update", "until the local table was written"},
    {"replay", "in the replay after a fault"},
    {"iommu.link", "on the links to and from the IOMMU"},
    {"iommu.tlb", "in the IOMMU TLB's lookup"},
    {"iommu.queue", "waiting for an IOMMU walker or for another walk of the page"},
    {"iommu.walk", "in the IOMMU's walk"},
}};

}  // namespace

const char* name_of(LatencyComponent part) { return kTexts[static_cast<std::size_t>(part)].name; }

void MissStats::describe(StatVisitor& visitor) {
  visitor.counter("count", "misses", "L2 TLB misses that were measured: the first of each MSHR.", count);
  visitor.counter("latency", "cycles", "Time from such a miss to its answer, summed.", latency);
  visitor.counter("merged_latency", "cycles", "The same for requests that joined a pending miss, summed.",
                  merged_latency);
  visitor.counter("discarded", "cycles",
                  "Time in the components of answers to faults that were not used, since another one came first: the "
                  "components add up to the latency and this.",
                  discarded);
  for (std::size_t p = 0; p < kLatencyComponents; ++p) {
    visitor.counter(fmt::format("component.{}", kTexts[p].name), "cycles",
                    fmt::format("Part of the latency of L2 TLB misses: {}.", kTexts[p].sentence), parts[p]);
  }
  visitor.histogram("histogram", "cycles", "Distribution of the latency of L2 TLB misses over powers of two.",
                    histogram);
}

void LatencyLedger::charge(TimeAccount& account, DeviceId gpu, PageKey page, LatencyComponent part, Cycle until) {
  const Cycle from = account.stamp;
  sums(gpu).parts[static_cast<std::size_t>(part)] += until - from;
  account.accounted += until - from;
  account.stamp = until;
  Timeline* timeline = partition_.timeline();
  if (timeline == nullptr || from == until) return;
  timeline->note({TimelineEvent::Kind::Request, gpu.value, 0, name_of(part), from, until, page.value, 0},
                 page.number());
}

MissStats LatencyLedger::total() const {
  MissStats sum;
  for (const MissStats& served : by_gpu_) {
    for (std::size_t p = 0; p < kLatencyComponents; ++p) sum.parts[p] += served.parts[p];
  }
  return sum;
}

}  // namespace nearfar
