#include "translation/miss.h"

#include <fmt/format.h>

namespace nearfar {
namespace {

struct PartText {
  const char* name;
  const char* sentence;
};

constexpr std::array<PartText, kLatencyComponents> kTexts = {{
    {"gmmu.blocked", "waiting for a place in the GMMU's page-walk queue"},
    {"gmmu.queue", "in the GMMU's page-walk queue"},
    {"filter", "in a walk filter before the GMMU's page walk"},
    {"gmmu.pw_cache", "in the lookup of the GMMU's page-walk cache"},
    {"gmmu.walk_upper", "in the GMMU's page-table accesses above the leaf"},
    {"gmmu.walk_leaf", "in the GMMU's access to the leaf entry"},
    {"fault.buffer", "in the fault buffer"},
    {"link.to_host", "on the way of the fault to the host"},
    {"host.tlb", "in the host TLB's lookup"},
    {"host.queue", "in the host MMU's page-walk queue"},
    {"host.pw_cache", "in the lookup of the host MMU's page-walk cache"},
    {"host.walk_upper", "in the host MMU's page-table accesses above the leaf"},
    {"host.walk_leaf", "in the host MMU's access to the leaf entry"},
    {"remote.link", "on the way to and from another GPU that is asked"},
    {"remote.queue", "in the queue of another GPU that is asked"},
    {"remote.walk", "in the lookup or walk of another GPU that is asked"},
    {"driver.batch", "in the UVM driver"},
    {"driver.turn", "waiting in the UVM driver while `uvm.concurrent_migrations` other pages were migrating"},
    {"driver.parked", "parked in the UVM driver while the page was migrating or retained"},
    {"migration.invalidate", "until all old mappings of the page were invalidated"},
    {"migration.transfer", "in the transfer of the migrating page"},
    {"link.to_gpu", "on the way of a mapping to the GPU"},
    {"gmmu.update", "until the local page table was written"},
    {"replay", "in the replay of the access after a fault"},
    {"iommu.link", "on the links to and from the IOMMU"},
    {"iommu.tlb", "in the IOMMU TLB's lookup"},
    {"iommu.queue", "waiting for an IOMMU walker or for another walk of the page"},
    {"iommu.walk", "in the IOMMU's walk"},
}};

}  // namespace

const char* name_of(LatencyComponent part) { return kTexts[static_cast<std::size_t>(part)].name; }

void MissStats::describe(StatVisitor& visitor) {
  visitor.counter("count", "misses", "L2 TLB misses that allocated an MSHR and whose latency was measured.", count);
  visitor.counter("latency", "cycles",
                  "Time from an L2 TLB miss that allocated an MSHR to its answer, summed over misses.", latency);
  visitor.counter("merged_latency", "cycles",
                  "Time from an L2 TLB miss that merged with a pending one to its answer, summed over misses.",
                  merged_latency);
  visitor.counter("discarded", "cycles",
                  "Time in latency components that belongs to answers dropped since another answer to their fault came "
                  "first; all components add up to `latency` plus `discarded`.",
                  discarded);
  for (std::size_t p = 0; p < kLatencyComponents; ++p) {
    visitor.counter(fmt::format("component.{}", kTexts[p].name), "cycles",
                    fmt::format("Latency component of L2 TLB misses: time {}, summed over misses.", kTexts[p].sentence),
                    parts[p]);
  }
  visitor.histogram("histogram", "cycles", "Latency of L2 TLB misses, from the miss to its answer.", histogram);
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
