#include "gpu/scalar_tlb.h"

namespace nearfar {

ScalarTlb::ScalarTlb(GpuContext& context, unsigned array)
    : context_(context),
      array_(array),
      tlb_(context.spec.l1_tlb.entries, context.spec.l1_tlb.ways),
      port_(context.spec.l1_tlb.lookups_per_cycle),
      mshrs_(context.spec.l1_tlb.mshrs) {}

const Mapping* ScalarTlb::look_up(PageKey page) {
  ++stats_.lookups;
  const Mapping* held = tlb_.use(page);
  ++(held != nullptr ? stats_.hits : stats_.misses);
  return held;
}

void ScalarTlb::wait(unsigned cu, unsigned slot, PageKey key, VirtPage page) {
  const Waiting load{static_cast<std::uint16_t>(cu), static_cast<std::uint16_t>(slot), page};
  if (auto* pending = mshrs_.find(key)) {
    ++stats_.merges;
    pending->payload.push_back(load);
    return;
  }
  if (mshrs_.full()) {
    no_mshr_.push_back(load);
    return;
  }
  mshrs_.allocate(key).payload.push_back(load);
  const Cycle known = port_.take(context_.partition.now()) + context_.spec.l1_tlb.latency;
  context_.l2_tlb->request(requester(), key, false, known);
}

}  // namespace nearfar
