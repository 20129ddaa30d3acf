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

bool L1Tlb::wait_for_page(PageKey page, ParkedAccess& access) {
  Mshrs::Entry* pending = mshrs_.find(page);
  const bool first = pending == nullptr;
  if (first) {
    pending = &mshrs_.allocate(page);
  } else {
    ++stats_.merges;
  }
  pending->payload.push(&access);
  return first;
}

ParkedQueue L1Tlb::fill(PageKey page, const Mapping& mapping) {
  tlb_.insert(page, mapping);
  Mshrs::Entry* entry = mshrs_.find(page);
  const ParkedQueue waiters = entry->payload;
  mshrs_.release(*entry);
  return waiters;
}

/// Accesses conflict that touch the same line, where one of them writes. The older one may still miss its translation,
/// or have it and wait for something else.
L1Tlb::Older L1Tlb::find_older(const PageAccess& access, PageKey page) {
  if (parked() == 0) return Older::None;
  const auto conflicts = [&](const ParkedAccess& older) {
    return older.slot == access.slot && older.virtual_page == access.virtual_page &&
           (older.lines & access.lines) != 0 && (older.writes() || access.writes());
  };
  for (const ParkedAccess* older = again_.front(); older != nullptr; older = ParkedQueue::behind(older)) {
    if (conflicts(*older)) return Older::Again;
  }
  if (const Mshrs::Entry* pending = mshrs_.find(page)) {
    for (const ParkedAccess* older = pending->payload.front(); older != nullptr; older = older->next) {
      if (conflicts(*older)) return Older::Missing;
    }
  }
  for (const ParkedAccess* older = translated_.front(); older != nullptr; older = older->next) {
    if (conflicts(*older)) return Older::Translated;
  }
  return Older::None;
}

}  // namespace nearfar
