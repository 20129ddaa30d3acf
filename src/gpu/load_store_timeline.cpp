// What a load/store unit says for a timeline: page groups that are issued, looked up in the L1, and sent.
#include "gpu/load_store_unit.h"

namespace nearfar {
namespace {

RequestKind request_kind(OpKind kind) {
  switch (kind) {
    case OpKind::Store: return RequestKind::Write;
    case OpKind::Atomic: return RequestKind::Atomic;
    default: return RequestKind::Read;
  }
}

}  // namespace

RequestTimeline::Issuer LoadStoreUnit::issuer(L1MshrFile::Target target) const {
  return {static_cast<std::uint16_t>(index_), static_cast<std::uint8_t>(slot_of(target)),
          static_cast<std::uint8_t>(load_of(target))};
}

RequestTimeline::Issuer LoadStoreUnit::issuer(const PageAccess& access) const {
  return {static_cast<std::uint16_t>(index_), access.slot, access.load};
}

void LoadStoreUnit::record_instruction() {
  for (const PageAccess& page : instruction_.pages()) {
    context_.timeline->issue(issuer(page), request_kind(page.kind), context_.application, page.virtual_page,
                             page.lines);
  }
}

/// Lines of an access have been looked up in the L1: loads and atomics wait for those that are pending now.
void LoadStoreUnit::record_lookups(const PageAccess& access, std::uint64_t lines) {
  if (lines == 0) return;
  if (access.kind == OpKind::Store) {
    context_.timeline->sent(issuer(access), access.virtual_page, lines);
    return;
  }
  const Cycle now = context_.partition.now();
  // Low bits of a cycle that is not before this one.
  const Cycle ready = now + (access.wave->ready[access.load] - static_cast<std::uint32_t>(now));
  const std::uint64_t pending = l1_.pending().lines_of(access.page) & lines;
  context_.timeline->looked_up(issuer(access), access.virtual_page, access.page, lines, pending, ready);
}

/// Lines have come, for who asked and for those who merged.
void LoadStoreUnit::record_fill(const L1MshrFile::Arrival& arrival, PhysPage page, std::uint64_t lines) {
  context_.timeline->filled(l1_.unit(), page, lines);
  context_.timeline->arrived(issuer(arrival.target), page, lines);
  for (const L1MshrFile::MergedLoad* merge = arrival.merged.front(); merge != nullptr; merge = merge->next) {
    context_.timeline->arrived(issuer(merge->target), page, merge->lines);
  }
}

}  // namespace nearfar
