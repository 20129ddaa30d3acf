// What an L2 cache notes for protocol coverage, when a run asks for it.
#include <bit>

#include "memory/cache/l2_cache.h"

namespace nearfar {
namespace {

L2Event request_event(const LineRequest& request, bool remote, bool whole) {
  switch (request.kind) {
    case RequestKind::Write:
      if (remote) return whole ? L2Event::RemoteWriteWhole : L2Event::RemoteWritePart;
      return whole ? L2Event::OwnWriteWhole : L2Event::OwnWritePart;
    case RequestKind::Atomic: return remote ? L2Event::RemoteAtomic : L2Event::OwnAtomic;
    case RequestKind::ScalarRead: return remote ? L2Event::RemoteScalarRead : L2Event::OwnScalarRead;
    case RequestKind::TableRead: return L2Event::TableRead;
    case RequestKind::Fetch:
    case RequestKind::HostRead:
    case RequestKind::Read: return remote ? L2Event::RemoteRead : L2Event::OwnRead;
  }
  return L2Event::OwnRead;
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

RemoteLineState L2Cache::remote_state_of(Bank& bank, PhysLine line) const {
  const Mshrs::Entry* pending = bank.mshrs.find(line);
  if (const TagArray::Slot slot = bank.tags.find(remote_key(line)); slot != TagArray::kNone) {
    const std::uint8_t state = bank.tags.state(slot);
    if ((state & kPart) != 0) return pending == nullptr ? RemoteLineState::Part : RemoteLineState::PartFill;
    if ((state & kChanged) != 0) return pending == nullptr ? RemoteLineState::Changed : RemoteLineState::ChangedFill;
    return pending == nullptr ? RemoteLineState::Valid : RemoteLineState::ValidPoisoned;
  }
  if (pending == nullptr) return RemoteLineState::Invalid;
  const Pending& fill = pending->payload;
  if (fill.again) return fill.again_poisoned ? RemoteLineState::PoisonedTwice : RemoteLineState::PoisonedPending;
  return fill.poisoned ? RemoteLineState::Poisoned : RemoteLineState::Pending;
}

/// A request looks at its line.
void L2Cache::cover_request(Bank& bank, const LineRequest& request, bool remote, bool whole) {
  coverage_->count(state_of(bank, request.line), request_event(request, remote, whole));
}

/// A request has to wait: behind others, or since it could not act.
void L2Cache::cover_wait(Bank& bank, const LineRequest& request, bool remote, bool whole) {
  if (request.line.device() != partition_.device()) return;
  if ((remote ? bank.remote : bank.own).empty()) {
    coverage_->count(state_of(bank, request.line), remote ? L2Event::RemoteStall : L2Event::OwnStall);
  } else {
    coverage_->count(L2State::Behind, request_event(request, remote, whole));
  }
}

void L2Cache::cover_remote(Bank& bank, PhysLine line, RemoteLineEvent event) {
  remote_coverage_->count(remote_state_of(bank, line), event);
}

void L2Cache::cover_flush() {
  for (Bank& bank : banks_) {
    for (TagArray::Slot slot = 0; slot < bank.tags.slots(); ++slot) {
      if (!bank.tags.valid(slot) || (bank.tags.state(slot) & kRemote) != 0) continue;
      coverage_->count(state_of(bank, line_of(bank, slot)), L2Event::Flush);
    }
    bank.mshrs.for_each([&](Mshrs::Entry& entry) {
      if (entry.line.device() == partition_.device()) coverage_->count(state_of(bank, entry.line), L2Event::Flush);
    });
  }
}

void L2Cache::cover_page(PhysPage page, bool leaves) {
  for (unsigned i = 0; i < kPageBytes / line_bytes_; ++i) {
    const PhysLine line{page, i};
    coverage_->count(state_of(bank_of(line), line), leaves ? L2Event::PageLeaves : L2Event::PageStays);
  }
}

}  // namespace nearfar
