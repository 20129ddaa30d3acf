// What an L2 cache notes for protocol coverage, when a run asks for it.
#include <bit>

#include "memory/cache/l2_cache.h"

namespace nearfar {
namespace {

L2Event request_event(const Transaction& t, bool remote, std::uint64_t line_bytes) {
  const bool whole = t.data_bytes == line_bytes;
  switch (t.kind) {
    case TransactionKind::Write:
      if (remote) return whole ? L2Event::RemoteWriteWhole : L2Event::RemoteWritePart;
      return whole ? L2Event::OwnWriteWhole : L2Event::OwnWritePart;
    case TransactionKind::Atomic: return remote ? L2Event::RemoteAtomic : L2Event::OwnAtomic;
    case TransactionKind::ScalarRead: return remote ? L2Event::RemoteScalarRead : L2Event::OwnScalarRead;
    case TransactionKind::TableRead: return L2Event::TableRead;
    default: return remote ? L2Event::RemoteRead : L2Event::OwnRead;
  }
}

}  // namespace

L2State L2Cache::state_of(Bank& bank, PhysLine line) const {
  if (const TagArray::Slot slot = bank.tags.find(key(line)); slot != TagArray::kNone) {
    return (bank.tags.state(slot) & kDirty) != 0 ? L2State::Dirty : L2State::Clean;
  }
  const Mshrs::Entry* pending = bank.mshrs.find(line);
  if (pending == nullptr) return L2State::Invalid;
  return pending->payload.remote ? L2State::PendingRemote : L2State::PendingOwn;
}

/// A request looks at its line.
void L2Cache::cover_request(Bank& bank, const Transaction& t, bool remote) {
  coverage_->count(state_of(bank, t.line), request_event(t, remote, line_bytes_));
}

/// A request has to wait: behind others, or since it could not act.
void L2Cache::cover_wait(Bank& bank, const Transaction& t, bool remote) {
  if ((remote ? bank.remote : bank.own).empty()) {
    coverage_->count(state_of(bank, t.line), remote ? L2Event::RemoteStall : L2Event::OwnStall);
  } else {
    coverage_->count(L2State::Behind, request_event(t, remote, line_bytes_));
  }
}

void L2Cache::cover_flush() {
  for (Bank& bank : banks_) {
    for (TagArray::Slot slot = 0; slot < bank.tags.slots(); ++slot) {
      if (bank.tags.valid(slot)) coverage_->count(state_of(bank, line_of(bank, slot)), L2Event::Flush);
    }
    bank.mshrs.for_each([&](Mshrs::Entry& entry) { coverage_->count(state_of(bank, entry.line), L2Event::Flush); });
  }
}

void L2Cache::cover_page(PhysPage page, bool leaves) {
  for (unsigned i = 0; i < kPageBytes / line_bytes_; ++i) {
    const PhysLine line{page, i};
    coverage_->count(state_of(bank_of(line), line), leaves ? L2Event::PageLeaves : L2Event::PageStays);
  }
}

}  // namespace nearfar
