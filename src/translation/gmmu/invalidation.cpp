#include "translation/gmmu/invalidation.h"

#include <fmt/format.h>

#include <cassert>

#include "translation/gmmu/update_note.h"

namespace nearfar {

InvalidationEngine::InvalidationEngine(Partition& partition, const GmmuOptions& options, const Parts& parts,
                                       InvalidationClient& client)
    : partition_(partition),
      options_(options),
      tlb_(parts.tlb),
      walkers_(parts.walkers),
      tables_(parts.tables),
      tracker_(parts.tracker),
      caches_(parts.caches),
      messenger_(parts.messenger),
      stats_(parts.stats),
      oracle_(parts.oracle),
      client_(client),
      shot_handler_(partition.add_handler<&InvalidationEngine::on_shot_down>(this)) {}

// ------------------------------------------------------------------------------------------------------------- arrival

void InvalidationEngine::receive(const Message& message) {
  if (defers(message.page)) {
    deferred_[message.page.value] = {message, partition_.now()};
    // Its answer may stand behind what waits in this GPU's ingress.
    if (keeps_elsewhere(message.page)) ++with_misses_;
  } else {
    begin(message);
  }
}

/// A page that a fault has brought here is used once before it leaves again: else GPUs that want the same page could
/// take it from one another for ever. The replay depends on this GPU's walkers alone, so the wait ends.
bool InvalidationEngine::defers(PageKey page) {
  const Miss* miss = tlb_.pending(page);
  if (miss != nullptr && keeps_elsewhere(page)) {
    return miss->state == MissState::LeafRead || miss->state == MissState::Update;
  }
  return miss != nullptr && miss->replayed && (miss->state == MissState::Walk || miss->state == MissState::Lookup);
}

void InvalidationEngine::resume(PageKey page) {
  const auto found = deferred_.find(page.value);
  if (found == deferred_.end()) return;
  const auto [message, since] = found->second;
  deferred_.erase(found);
  if (keeps_elsewhere(page)) --with_misses_;
  if (message.kind == MessageKind::Invalidate) stats_.invalidation_cycles += partition_.now() - since;
  begin(message);
  client_.place_freed();
}

// -------------------------------------------------------------------------------------------------------------- begins

void InvalidationEngine::begin(const Message& message) {
  const bool downgrade = message.kind == MessageKind::Downgrade;
  ++(downgrade ? stats_.downgrades : stats_.invalidations);
  const PageKey page = message.page;
  if (options_.ideal_migration) {
    begin_ideal(page, downgrade);
    disturb(page, message.mapping.epoch, downgrade);
    return;
  }
  assert(!is_pending(page));
  invalidations_.emplace(page.value, shoot_down(message));
  disturb(page, message.mapping.epoch, downgrade);
  switch (entry_way(page, downgrade)) {
    case EntryWay::Invalidator:
      if (invalidator_->offer(page)) invalidator_took(page);
      break;
    case EntryWay::AtOnce: entry_reached(page, invalidations_.at(page.value)); break;
    case EntryWay::Walk: {
      Walk& walk = walkers_.make(downgrade ? WalkKind::Update : WalkKind::Invalidate, page);
      walk.note = downgrade ? update_note::kDowngrades : 0;
      walkers_.submit(walk, WalkSource::Request);
    }
  }
}

InvalidationEngine::EntryWay InvalidationEngine::entry_way(PageKey page, bool downgrade) const {
  if (keeps_elsewhere(page)) return EntryWay::AtOnce;
  if (invalidator_ != nullptr && !downgrade) return EntryWay::Invalidator;
  return options_.how == InvalidateHow::ZeroLatency ? EntryWay::AtOnce : EntryWay::Walk;
}

/// Where migrations cost nothing: the mapping is void, or read-only, in the cycle in which the message comes.
void InvalidationEngine::begin_ideal(PageKey page, bool downgrade) {
  tlb_.shoot_down(page);
  const Pte entry = tables_.read(page);
  if (entry.valid()) caches_.forget(page, entry.page());
  if (downgrade) {
    tables_.make_read_only(page);
    return;
  }
  // The frame may have been given to another page before the invalidation came here: its users are that page's then.
  if (entry.valid() && tracker_.page(entry.page()) == page) {
    caches_.drop_copies(entry.page());
    // Nobody waits for accesses that are on their way, and they may still bring lines, which nobody will look for.
    tracker_.drain(entry.page());
  }
  tables_.invalidate(page);
}

/// The TLBs forget the page at once, whatever its table entry has to wait for.
InvalidationEngine::Invalidation InvalidationEngine::shoot_down(const Message& message) {
  const PageKey page = message.page;
  Invalidation invalidation;
  // What a hidden entry says was void before: its frame may be another page's by now.
  const Pte entry = hides(page) ? Pte{} : tables_.read(page);
  invalidation.old = entry.page();
  invalidation.had = entry.valid();
  invalidation.epoch = message.mapping.epoch;
  invalidation.arrived = partition_.now();
  invalidation.shot_down = partition_.now() + options_.shootdown;
  invalidation.downgrade = message.kind == MessageKind::Downgrade;
  invalidation.held = tlb_.shoot_down(page);
  // Without a valid entry no TLB above can hold the page.
  if (entry.valid()) caches_.forget(page, entry.page());
  if (entry.valid() && options_.waits != MigrationWaits::Translated) caches_.translate_again(page, entry.page());
  const bool drained = !entry.valid() || tracker_.drain(entry.page()) || options_.waits == MigrationWaits::None;
  if (drained) invalidation.missing &= static_cast<std::uint8_t>(~kDrain);
  if (!entry.valid()) return invalidation;
  if (!drained) {
    draining_[entry.page().value] = page.value;
  } else if (!invalidation.downgrade) {
    caches_.drop_copies(entry.page());
  }
  invalidation.downgrade ? tracker_.reset_counter(entry.page()) : tracker_.stop_counting(entry.page());
  return invalidation;
}

/// What is under way for a page when its invalidation comes must not bring the old mapping back.
void InvalidationEngine::disturb(PageKey page, Epoch epoch, bool downgrade) {
  if (!downgrade) client_.page_invalidated(page);
  Miss* miss = tlb_.pending(page);
  if (miss == nullptr) return;
  switch (miss->state) {
    case MissState::Walk: miss->stale = true; break;
    case MissState::Fault:
      miss->invalidated = true;
      miss->epoch = epoch;
      break;
    case MissState::Update: overtake_update(page, *miss, epoch, downgrade); break;
    case MissState::Invalidate:
    case MissState::Lookup:
    case MissState::LeafRead:
    case MissState::Ats: break;
  }
}

void InvalidationEngine::overtake_update(PageKey page, Miss& miss, Epoch epoch, bool downgrade) {
  using namespace update_note;
  Walk* queued = nullptr;
  const bool at_once = options_.ideal_migration || entry_way(page, false) != EntryWay::Walk;
  walkers_.for_each_of(page, [&](Walk& walk, bool walking) {
    if (walk.kind != WalkKind::Update || (walk.note & kAnswersFault) == 0 || !older(walk.mapping.epoch, epoch)) return;
    if (!walking) {
      queued = &walk;
    } else if (at_once && !downgrade) {
      walk.note |= kOvertaken;
    }
  });
  if (queued == nullptr) return;
  ++stats_.updates_cancelled;
  if ((queued->note & kCancels) != 0) ++stats_.unnecessary;  // this one takes the place of the one before
  walkers_.withdraw(*queued);
  tlb_.charge(miss, LatencyComponent::GmmuUpdate);
  client_.ask_host(page, miss);
}

// --------------------------------------------------------------------------------------------------------------- steps

void InvalidationEngine::invalidator_took(PageKey page) {
  step_done(page, kEntry);
  client_.place_freed();
}

/// The entry's old mapping goes from the local table.
void InvalidationEngine::entry_reached(PageKey page, Invalidation& invalidation) {
  const Pte entry = tables_.read(page);
  if (invalidation.downgrade) {
    tables_.make_read_only(page);
  } else {
    if (entry.valid() && (!invalidation.had || invalidation.old != entry.page())) {
      // A write of an older mapping was in a walker when the invalidation came; nobody has used it.
      tracker_.stop_counting(entry.page());
    }
    tables_.invalidate(page);
    stats_.invalidation_cycles += partition_.now() - invalidation.arrived;
  }
  invalidation.missing &= static_cast<std::uint8_t>(~kEntry);
  Miss* miss = tlb_.pending(page);
  if (miss != nullptr && miss->state == MissState::Invalidate) {
    tlb_.charge(*miss, LatencyComponent::GmmuQueue);
    tlb_.look_up_again(page);
  }
  step_done(page, kEntry);
}

void InvalidationEngine::drained(PhysPage frame) {
  if (options_.leaves_accesses()) {
    caches_.drop_lines(frame);
    return;
  }
  const auto found = draining_.find(frame.value);
  const PageKey page{found->second};
  draining_.erase(found);
  if (!invalidations_.at(page.value).downgrade) caches_.drop_copies(frame);
  step_done(page, kDrain);
}

void InvalidationEngine::on_shot_down(PageEvent* event) {
  const PageKey page = event->page;
  partition_.pool().release(event);
  acknowledge(page);
}

void InvalidationEngine::step_done(PageKey page, Step step) {
  Invalidation& invalidation = invalidations_.at(page.value);
  invalidation.missing &= static_cast<std::uint8_t>(~step);
  if (invalidation.missing != 0) return;
  if (partition_.now() >= invalidation.shot_down) {
    acknowledge(page);
    return;
  }
  // Nearly always the walk takes longer than the TLBs.
  auto* event = partition_.pool().allocate<PageEvent>();
  event->page = page;
  partition_.schedule(event, shot_handler_, invalidation.shot_down);
}

void InvalidationEngine::acknowledge(PageKey page) {
  const auto found = invalidations_.find(page.value);
  const Invalidation& invalidation = found->second;
  if (oracle_ != nullptr) {
    if (invalidation.downgrade) {
      oracle_->downgraded(partition_.device(), page);
    } else {
      oracle_->revoked(partition_.device(), page, invalidation.epoch);
    }
  }
  Message message;
  message.kind = MessageKind::Acknowledge;
  message.page = page;
  message.held = invalidation.held;
  message.mapping.epoch = invalidation.epoch;
  invalidations_.erase(found);
  messenger_.send(options_.host, message);
}

bool InvalidationEngine::is_unwritten(PageKey page) const {
  const auto found = invalidations_.find(page.value);
  return found != invalidations_.end() && (found->second.missing & kEntry) != 0;
}

std::string InvalidationEngine::describe_waiting() const {
  std::string text;
  if (invalidator_ != nullptr && invalidator_->waiting() != 0) {
    text += fmt::format("  GMMU: {} invalidations wait for room\n", invalidator_->waiting());
  }
  if (!invalidations_.empty()) {
    text += fmt::format("  GMMU: {} invalidations not acknowledged\n", invalidations_.size());
  }
  return text;
}

}  // namespace nearfar
