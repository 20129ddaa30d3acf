#include "gpu/l1_tlb.h"

#include <bit>

namespace nearfar {

void L1TlbStats::describe(StatVisitor& visitor) {
  visitor.counter("lookups", "lookups", "Pages of memory instructions that were looked up in the L1 TLB.", lookups);
  visitor.counter("hits", "lookups", "L1 TLB lookups that found a mapping with the permission they needed.", hits);
  visitor.counter("misses", "lookups",
                  "L1 TLB lookups that found no mapping with the permission they needed, including those that merged "
                  "with a pending miss.",
                  misses);
  visitor.counter("merges", "lookups", "L1 TLB misses that merged with a pending miss of their page.", merges);
  visitor.counter("permission_misses", "lookups", "L1 TLB lookups of stores that found a read-only mapping.",
                  permission_misses);
}

ParkedAccess& L1Tlb::park(const PageAccess& access) {
  ParkedAccess* parked = pool_.allocate();
  static_cast<PageAccess&>(*parked) = access;
  if (access.masks != nullptr) {
    parked->byte_masks.assign(access.masks, access.masks + std::popcount(access.lines & ~access.whole));
    parked->masks = parked->byte_masks.data();
  }
  return *parked;
}

}  // namespace nearfar
