#include "gpu/l1_tlb.h"

#include <bit>

namespace nearfar {

void L1TlbStats::describe(StatVisitor& visitor) {
  visitor.counter("lookups", "lookups", "Pages of memory instructions looked up.", lookups);
  visitor.counter("hits", "lookups", "Lookups that found a sufficient mapping.", hits);
  visitor.counter("misses", "lookups", "Lookups that did not, joined ones included.", misses);
  visitor.counter("merges", "lookups", "Misses that joined one that was pending.", merges);
  visitor.counter("permission_misses", "lookups", "Stores that found a read-only mapping.", permission_misses);
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
