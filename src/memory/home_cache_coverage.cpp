// What a home cache notes for protocol coverage, when a run asks for it.
#include <bit>

#include "memory/home_cache.h"

namespace nearfar {
namespace {

HomeEvent request_event(const Transaction& t, bool remote, std::uint64_t line_bytes) {
  const bool whole = t.data_bytes == line_bytes;
  switch (t.kind) {
    case TransactionKind::Write:
      if (remote) return whole ? HomeEvent::RemoteWriteWhole : HomeEvent::RemoteWritePart;
      return whole ? HomeEvent::OwnWriteWhole : HomeEvent::OwnWritePart;
    case TransactionKind::Atomic: return remote ? HomeEvent::RemoteAtomic : HomeEvent::OwnAtomic;
    case TransactionKind::ScalarRead: return remote ? HomeEvent::RemoteScalarRead : HomeEvent::OwnScalarRead;
    case TransactionKind::TableRead: return HomeEvent::TableRead;
    default: return remote ? HomeEvent::RemoteRead : HomeEvent::OwnRead;
  }
}

}  // namespace

HomeState HomeCache::state_of(Bank& bank, PhysLine line) const {
  if (const TagArray::Slot slot = bank.tags.find(key(line)); slot != TagArray::kNone) {
    return (bank.tags.state(slot) & kDirty) != 0 ? HomeState::Dirty : HomeState::Clean;
  }
  const Mshrs::Entry* pending = bank.mshrs.find(line);
  if (pending == nullptr) return HomeState::Invalid;
  return pending->payload.remote ? HomeState::PendingRemote : HomeState::PendingOwn;
}

/// A request looks at its line.
void HomeCache::cover_request(Bank& bank, const Transaction& t, bool remote) {
  coverage_->count(state_of(bank, t.line), request_event(t, remote, line_bytes_));
}

/// A request has to wait: behind others, or since it could not act.
void HomeCache::cover_wait(Bank& bank, const Transaction& t, bool remote) {
  if ((remote ? bank.remote : bank.own).empty()) {
    coverage_->count(state_of(bank, t.line), remote ? HomeEvent::RemoteStall : HomeEvent::OwnStall);
  } else {
    coverage_->count(HomeState::Behind, request_event(t, remote, line_bytes_));
  }
}

void HomeCache::cover_flush() {
  for (Bank& bank : banks_) {
    for (TagArray::Slot slot = 0; slot < bank.tags.slots(); ++slot) {
      if (bank.tags.valid(slot)) coverage_->count(state_of(bank, line_of(bank, slot)), HomeEvent::Flush);
    }
    bank.mshrs.for_each([&](Mshrs::Entry& entry) { coverage_->count(state_of(bank, entry.line), HomeEvent::Flush); });
  }
}

void HomeCache::cover_page(PhysPage page, bool leaves) {
  for (unsigned i = 0; i < kPageBytes / line_bytes_; ++i) {
    const PhysLine line{page, i};
    coverage_->count(state_of(bank_of(line), line), leaves ? HomeEvent::PageLeaves : HomeEvent::PageStays);
  }
}

}  // namespace nearfar
