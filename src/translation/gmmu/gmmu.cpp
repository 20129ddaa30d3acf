#include "translation/gmmu/gmmu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "sim/error.h"

namespace nearfar {
void GmmuStats::describe(StatVisitor& visitor) {
  visitor.counter("far_faults", "faults", "Walks that found no valid entry and asked the host.", far_faults);
  visitor.counter("protection_faults", "faults", "Stores whose walk found a read-only entry and asked the host.",
                  protection_faults);
  visitor.counter("reissues", "faults", "Faults sent again since their answer was older than an invalidation.",
                  reissues);
  visitor.counter("duplicates", "messages", "Second answers to a fault, dropped.", duplicates);
  visitor.counter("invalidation.received", "messages", "Invalidations that came from the host.", invalidations);
  visitor.counter("invalidation.necessary", "messages", "Invalidations that found a valid entry.", necessary);
  visitor.counter("invalidation.unnecessary", "messages", "Invalidations that found none.", unnecessary);
  visitor.counter("invalidation.latency", "cycles", "Time from an invalidation's arrival to its entry's write, summed.",
                  invalidation_cycles);
  visitor.counter("downgrades", "messages", "Mappings made read-only.", downgrades);
  visitor.counter("updates_cancelled", "walks", "Queued writes of mappings that an invalidation overtook.",
                  updates_cancelled);
  visitor.counter("ingress.stopped", "messages", "Messages that waited on the link since their buffer was full.",
                  stopped);
  visitor.counter("ingress.stopped_cycles", "cycles", "Time that they did, summed.", stopped_cycles);
  visitor.counter("move_requests", "messages", "Requests to move a page here, from access counters.", move_requests);
}

Gmmu::Gmmu(Partition& partition, const GmmuOptions& options, L2Tlb& tlb, Messenger& messenger, PageCaches& caches,
           PageAccessTracker& frames, WalkMemory* memory, TranslationOracle* oracle)
    : partition_(partition),
      options_(options),
      tlb_(tlb),
      messenger_(messenger),
      caches_(caches),
      tracker_(frames),
      oracle_(oracle),
      walkers_(partition, options.gmmu, options.walk, options.table.upper, *this, memory),
      room_handler_(partition.add_handler<&Gmmu::on_room>(this)),
      filter_handler_(partition.add_handler<&Gmmu::on_filter>(this)),
      shot_handler_(partition.add_handler<&Gmmu::on_shot_down>(this)),
      transfer_handler_(partition.add_handler<&Gmmu::on_transfer>(this)) {
  tlb_.set_handler(*this);
  tracker_.set_listener(*this);
}

void Gmmu::set_table(Pid pid, std::unique_ptr<PageTable> table) {
  if (tables_.size() <= pid) tables_.resize(pid + std::size_t{1});
  tables_[pid] = std::move(table);
}

void Gmmu::write_mapping(PageKey page, const Mapping& mapping) {
  const PageTable& table = *tables_[page.pid()];
  if (watch_ != nullptr && !table.read(page.number()).valid()) watch_->maps(page);
  grant(page, mapping);
}

void Gmmu::grant(PageKey page, const Mapping& mapping) {
  tables_[page.pid()]->write(page.number(), Pte::leaf(mapping, options_.size.bits != 0));
  tracker_.map(page, mapping.page, mapping.epoch);
  if (oracle_ != nullptr) oracle_->granted(partition_.device(), page, mapping);
}

void Gmmu::invalidate_entry(PageKey page) {
  PageTable& table = *tables_[page.pid()];
  Pte entry = table.read(page.number());
  ++(entry.valid() ? stats_.necessary : stats_.unnecessary);
  if (!entry.valid()) return;
  entry.invalidate();
  table.write(page.number(), entry);
  if (watch_ != nullptr) watch_->unmapped(page);
}

Pte Gmmu::usable(PageKey page) const { return hides(page) ? Pte{} : tables_[page.pid()]->read(page.number()); }

// ------------------------------------------------------------------------------------------------- misses and walks

void Gmmu::add_filter(WalkFilter& gate, unsigned place) {
  filters_.insert(std::ranges::upper_bound(filters_, place, {}, &PlacedFilter::place), {&gate, place});
}

void Gmmu::missed(PageKey page, Miss& miss) {
  miss.state = MissState::Walk;
  pass_filters(page, miss, 0);
}

/// Asks the gates of the chain from the given one on, and walks if all admit the request.
void Gmmu::pass_filters(PageKey page, Miss& miss, std::size_t from) {
  for (std::size_t i = from; i < filters_.size(); ++i) {
    WalkFilter& gate = *filters_[i].gate;
    if (miss.replayed && !gate.asks_replays()) continue;
    if (gate.latency() != 0) {
      Transaction* t = partition_.pool().allocate();
      t->mask = page.value;
      t->user = static_cast<std::uint32_t>(i);
      partition_.schedule(t, filter_handler_, partition_.now() + gate.latency());
      return;
    }
    if (!gate.admits(page)) {
      fault(page, miss);
      return;
    }
  }
  Walk& walk = walkers_.make(miss.replayed ? WalkKind::Replay : WalkKind::Demand, page);
  walk.since = miss.since;
  walkers_.submit(walk, WalkSource::Demand);
}

void Gmmu::on_filter(Transaction* t) {
  const PageKey page{t->mask};
  const std::size_t gate = t->user;
  partition_.pool().release(t);
  Miss& miss = *tlb_.pending(page);
  tlb_.charge(miss, LatencyComponent::Filter);
  if (filters_[gate].gate->admits(page)) {
    pass_filters(page, miss, gate + 1);
    return;
  }
  fault(page, miss);
}

/// The local table has no mapping that may be used: the host is asked, if someone waits for it.
void Gmmu::fault(PageKey page, Miss& miss) {
  if (tlb_.drop_prefetch(page)) return;
  ++stats_.far_faults;
  ask_host(page, miss);
}

Walk& Gmmu::walk_for(WalkOwner& owner, WalkKind kind, PageKey page) {
  Walk& walk = walkers_.make(kind, page);
  walk.owner = &owner;
  ++foreign_walks_;
  return walk;
}

bool Gmmu::withdraw(Walk& walk) {
  if (!walkers_.withdraw(walk)) return false;
  --foreign_walks_;
  return true;
}

void Gmmu::started(Walk& walk) {
  if (watch_ != nullptr && walk.kind == WalkKind::Update) announce(walk);
}

/// The watch hears of a new mapping before the entry says so, that it may never be behind it.
void Gmmu::announce(Walk& walk) {
  if ((walk.note & kDowngrades) != 0 || tables_[walk.page.pid()]->read(walk.page.number()).valid()) return;
  watch_->maps(walk.page);
  walk.note |= kAnnounced;
}

void Gmmu::walked(Walk& walk) {
  if (observed_ && !walk.cut_short) events_.push_back({partition_.now(), walk.page, false});
  switch (walk.kind) {
    case WalkKind::Demand:
    case WalkKind::Replay: walk_ended(walk); break;
    case WalkKind::Update: update_ended(walk); break;
    case WalkKind::Invalidate: write_ended(walk); break;
    default:
      --foreign_walks_;
      static_cast<WalkOwner*>(walk.owner)->walked(walk);
      break;
  }
}

void Gmmu::walk_ended(Walk& walk) {
  Miss& miss = *tlb_.pending(walk.page);
  tlb_.charge(miss, LatencyComponent::GmmuBlocked, walk.queued);
  tlb_.charge(miss, LatencyComponent::GmmuQueue, walk.started);
  tlb_.charge(miss, LatencyComponent::GmmuCache, walk.looked_up);
  tlb_.charge(miss, LatencyComponent::GmmuUpper, walk.at_leaf);
  tlb_.charge(miss, LatencyComponent::GmmuLeaf);
  const Pte entry = walk.cut_short ? Pte{} : tables_[walk.page.pid()]->read(walk.page.number());
  if (std::exchange(miss.stale, false) && entry.valid()) {
    // What was read is being invalidated: the request looks up again behind that.
    ++tlb_.stats().stale_results;
    if (hides(walk.page)) {
      // The entry will say nothing else until it is written: the host knows where the page is.
      fault(walk.page, miss);
      return;
    }
    if (tlb_.drop_prefetch(walk.page)) return;
    const auto found = invalidations_.find(walk.page.value);
    if (found != invalidations_.end() && !found->second.written) {
      miss.state = MissState::Invalidate;
    } else {
      tlb_.look_up_again(walk.page);
    }
    return;
  }
  if (entry.valid() && (entry.writable() || !miss.write)) {
    if (oracle_ != nullptr && hides(walk.page)) {
      throw SimulationError(fmt::format("check: GPU {} read the entry of page {:#x}, whose invalidation it has taken",
                                        partition_.device().value, walk.page.number()));
    }
    tlb_.answer(walk.page, {entry.page(), entry.writable(), 0});
    return;
  }
  if (!entry.valid()) {
    fault(walk.page, miss);
    return;
  }
  ++stats_.protection_faults;
  ask_host(walk.page, miss);
}

void Gmmu::ask_host(PageKey page, Miss& miss) {
  miss.state = MissState::Fault;
  miss.invalidated = false;
  miss.stale = false;
  miss.number = ++faults_sent_;
  Message message;
  message.kind = MessageKind::Fault;
  message.page = page;
  message.write = miss.write;
  message.number = miss.number;
  message.stamp = static_cast<std::uint32_t>(partition_.now());
  messenger_.send(options_.host, message);
  if (observed_) events_.push_back({partition_.now(), page, true});
  miss.replayed = false;
  take_deferred(page);
}

// ---------------------------------------------------------------------------------------------------------- messages

/// An invalidation that waits for something else than a walker keeps its place too.
bool Gmmu::has_place(const Message& message) const {
  if (!traits_of(message.kind).needs_walk) return true;
  std::size_t waiting = walkers_.outside(is_response(message.kind) ? WalkSource::Response : WalkSource::Request);
  if (!is_response(message.kind)) {
    waiting += deferred_.size() + (invalidator_ == nullptr ? 0 : invalidator_->waiting());
  }
  return waiting < options_.gmmu.ingress;
}

void Gmmu::receive(const Message& message) {
  TransactionQueue& channel = stopped_[is_response(message.kind) ? 1 : 0];
  if (channel.empty() && has_place(message)) {
    take(message);
    return;
  }
  ++stats_.stopped;
  Transaction* t = partition_.pool().allocate();
  message.put(*t);
  t->when = partition_.now();
  channel.push(t);
}

/// Not at once: who makes room is in the middle of something.
void Gmmu::let_stopped_go_on() {
  if (going_on_ || stopped() == 0) return;
  going_on_ = true;
  partition_.schedule(partition_.pool().allocate(), room_handler_, partition_.now());
}

void Gmmu::on_room(Transaction* t) {
  partition_.pool().release(t);
  going_on_ = false;
  for (TransactionQueue& channel : stopped_) {
    while (!channel.empty()) {
      const Message message = Message::get(*channel.front());
      if (!has_place(message)) break;
      Transaction* first = channel.pop();
      stats_.stopped_cycles += partition_.now() - first->when;
      partition_.pool().release(first);
      take(message);
    }
  }
}

void Gmmu::take(const Message& message) {
  if (parts_ != nullptr && parts_->take(message)) return;
  switch (message.kind) {
    case MessageKind::Map:
      if (message.brings_page) caches_.frame_reused(message.mapping.page);
      take_mapping(message);
      break;
    case MessageKind::Data:
      caches_.page_came(PhysPage{message.from, message.stamp}, message.mapping.page);
      take_mapping(message);
      break;
    case MessageKind::Invalidate:
    case MessageKind::Downgrade:
      if (defers(message.page)) {
        deferred_[message.page.value] = {message, partition_.now()};
      } else {
        invalidate(message);
      }
      break;
    case MessageKind::Transfer: transfer(message); break;
    case MessageKind::Part: break;
    case MessageKind::MoveRefused: {
      const Pte entry = usable(message.page);
      if (entry.valid()) tracker_.reset_counter(entry.page());
      break;
    }
    default: throw SimulationError("a GPU received a message that is not for it");
  }
}

/// A mapping comes, alone or with its page: it is written into the local table.
void Gmmu::take_mapping(const Message& message) {
  Miss* miss = message.faulted ? answered_miss(message) : nullptr;
  if (message.faulted && miss == nullptr) {
    // Another answer came first. One that the host waits for is a page's new mapping and is written all the same.
    tlb_.miss_stats().discarded += message.accounted - message.shared();
    if (!message.tells_done) return;
  }
  if (miss != nullptr) {
    tlb_.charge_elsewhere(*miss, message.accounted);
    tlb_.charge(*miss,
                message.kind == MessageKind::Map ? LatencyComponent::LinkToGpu : LatencyComponent::MigrationTransfer);
  }
  write_answer(message, miss);
}

Miss* Gmmu::answered_miss(const Message& message) {
  Miss* miss = tlb_.pending(message.page);
  if (miss != nullptr && miss->state == MissState::Fault && miss->number == message.number) return miss;
  ++stats_.duplicates;
  return nullptr;
}

void Gmmu::write_answer(const Message& message, Miss* miss) {
  if (miss != nullptr) {
    if (miss->invalidated && older(message.mapping.epoch, miss->epoch)) {
      ++stats_.reissues;
      ask_host(message.page, *miss);
      return;
    }
    miss->state = MissState::Update;
  }
  Walk& walk = walkers_.make(WalkKind::Update, message.page);
  walk.mapping = message.mapping;
  walk.note = (miss != nullptr ? kAnswersFault : 0) | (message.tells_done ? kTellsHost : 0);
  if (invalidator_ != nullptr && invalidator_->cancel(message.page)) walk.note |= kCancels;
  walkers_.submit(walk, WalkSource::Response);
}

void Gmmu::update_ended(Walk& walk) {
  if ((walk.note & kDowngrades) != 0) {
    write_ended(walk);
    return;
  }
  write_update(walk);
  if ((walk.note & kTellsHost) != 0) {
    Message done;
    done.kind = MessageKind::Done;
    done.page = walk.page;
    messenger_.send(options_.host, done);
  }
  if ((walk.note & kAnswersFault) == 0) return;
  Miss& miss = *tlb_.pending(walk.page);
  assert(miss.state == MissState::Update);
  tlb_.charge(miss, LatencyComponent::GmmuUpdate);
  const bool enough = walk.mapping.writable || !miss.write;
  const bool voided = (walk.note & kOvertaken) != 0 || invalidations_.contains(walk.page.value);
  if (options_.gmmu.replay == Replay::Short && enough && !voided) {
    tlb_.answer(walk.page, {walk.mapping.page, walk.mapping.writable, 0});
    return;
  }
  miss.replayed = true;
  tlb_.look_up_again(walk.page);
}

/// The write at the end of an update's walk.
void Gmmu::write_update(Walk& walk) {
  PageTable& table = *tables_[walk.page.pid()];
  if ((walk.note & kCancels) != 0) {
    ++(table.read(walk.page.number()).valid() ? stats_.necessary : stats_.unnecessary);
  }
  if ((walk.note & kOvertaken) == 0) {
    grant(walk.page, walk.mapping);
  } else if (hides(walk.page)) {
    // The mapping is void: the entry stays hidden until the invalidation is written.
    table.write(walk.page.number(), Pte::leaf(walk.mapping, options_.size.bits != 0));
  } else if ((walk.note & kAnnounced) != 0) {
    // The invalidation has been written already: nothing may follow it.
    watch_->unmapped(walk.page);
  }
}

// ------------------------------------------------------------------------------------------------------ invalidation

/// A page that a fault has brought here is used once before it leaves again: else GPUs that want the same page could
/// take it from one another for ever. The replay depends on this GPU's walkers alone, so the wait ends.
bool Gmmu::defers(PageKey page) {
  const Miss* miss = tlb_.pending(page);
  return miss != nullptr && miss->replayed && (miss->state == MissState::Walk || miss->state == MissState::Lookup);
}

void Gmmu::take_deferred(PageKey page) {
  const auto found = deferred_.find(page.value);
  if (found == deferred_.end()) return;
  const auto [message, since] = found->second;
  deferred_.erase(found);
  if (message.kind == MessageKind::Invalidate) stats_.invalidation_cycles += partition_.now() - since;
  invalidate(message);
  let_stopped_go_on();
}

void Gmmu::invalidation_taken(PageKey page) {
  invalidations_.at(page.value).written = true;
  acknowledge_when_done(page);
  let_stopped_go_on();
}

/// Where migrations cost nothing: the mapping is void, or read-only, in the cycle in which the message comes.
void Gmmu::invalidate_at_once(PageKey page, bool downgrade) {
  tlb_.shoot_down(page);
  PageTable& table = *tables_[page.pid()];
  Pte entry = table.read(page.number());
  if (entry.valid()) caches_.forget(page, entry.page());
  if (!downgrade) {
    // The frame may have been given to another page before the invalidation came here: its users are that page's then.
    if (entry.valid() && tracker_.page(entry.page()) == page) caches_.drop_copies(entry.page());
    invalidate_entry(page);
  } else if (entry.valid()) {
    entry.set_writable(false);
    table.write(page.number(), entry);
  }
}

/// The TLBs forget the page at once, whatever its table entry has to wait for.
void Gmmu::invalidate(const Message& message) {
  const bool downgrade = message.kind == MessageKind::Downgrade;
  ++(downgrade ? stats_.downgrades : stats_.invalidations);
  const PageKey page = message.page;
  if (options_.ideal_migration) {
    invalidate_at_once(page, downgrade);
    disturb(page, message.mapping.epoch, downgrade);
    return;
  }
  assert(!invalidations_.contains(page.value));
  Invalidation invalidation;
  // What a hidden entry says was void before: its frame may be another page's by now.
  const Pte entry = usable(page);
  invalidation.old = entry.page();
  invalidation.had = entry.valid();
  invalidation.epoch = message.mapping.epoch;
  invalidation.arrived = partition_.now();
  invalidation.shot_down = partition_.now() + options_.shootdown;
  invalidation.downgrade = downgrade;
  invalidation.held = tlb_.shoot_down(page);
  invalidation.drained = !entry.valid() || tracker_.drain(entry.page());
  if (entry.valid()) {
    // Without a valid entry no TLB above can hold the page.
    caches_.forget(page, entry.page());
    if (invalidation.drained) {
      if (!downgrade) caches_.drop_copies(entry.page());
    } else {
      draining_[entry.page().value] = page.value;
    }
    downgrade ? tracker_.reset_counter(entry.page()) : tracker_.stop_counting(entry.page());
  }
  invalidations_.emplace(page.value, invalidation);
  disturb(page, message.mapping.epoch, downgrade);

  if (invalidator_ != nullptr && !downgrade) {
    if (invalidator_->offer(page)) invalidation_taken(page);
    return;
  }
  if (options_.how == InvalidateHow::ZeroLatency) {
    entry_written(page, invalidations_.at(page.value));
    return;
  }
  Walk& walk = walkers_.make(downgrade ? WalkKind::Update : WalkKind::Invalidate, page);
  walk.note = downgrade ? kDowngrades : 0;
  walkers_.submit(walk, WalkSource::Request);
}

/// What is under way for a page when its invalidation comes must not bring the old mapping back.
void Gmmu::disturb(PageKey page, Epoch epoch, bool downgrade) {
  if (foreign_walks_ != 0 && !downgrade) disturb_owned(page);
  Miss* miss = tlb_.pending(page);
  if (miss == nullptr) return;
  if (miss->state == MissState::Walk) miss->stale = true;
  if (miss->state == MissState::Fault) {
    miss->invalidated = true;
    miss->epoch = epoch;
  }
  if (miss->state != MissState::Update) return;
  Walk* queued = nullptr;
  const bool at_once =
      invalidator_ != nullptr || options_.ideal_migration || options_.how == InvalidateHow::ZeroLatency;
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
  tlb_.charge(*miss, LatencyComponent::GmmuUpdate);
  ask_host(page, *miss);
}

/// What a design's component wants to read of a page is not here any more: walks that have not begun need not.
void Gmmu::disturb_owned(PageKey page) {
  std::vector<Walk*> waiting;
  walkers_.for_each_of(page, [&](Walk& walk, bool walking) {
    if (!is_of_design(walk.kind) || walk.writes()) return;
    walk.note |= WalkOwner::kInvalidated;
    if (!walking) waiting.push_back(&walk);
  });
  for (Walk* walk : waiting) static_cast<WalkOwner*>(walk->owner)->overtaken(*walk);
}

void Gmmu::write_ended(Walk& walk) { entry_written(walk.page, invalidations_.at(walk.page.value)); }

/// The entry's old mapping is gone from the local table.
void Gmmu::entry_written(PageKey page, Invalidation& invalidation) {
  PageTable& table = *tables_[page.pid()];
  Pte entry = table.read(page.number());
  if (invalidation.downgrade) {
    entry.set_writable(false);
    if (entry.valid()) table.write(page.number(), entry);
  } else {
    if (entry.valid() && (!invalidation.had || invalidation.old != entry.page())) {
      // A write of an older mapping was in a walker when the invalidation came; nobody has used it.
      tracker_.stop_counting(entry.page());
    }
    invalidate_entry(page);
    stats_.invalidation_cycles += partition_.now() - invalidation.arrived;
  }
  invalidation.written = true;
  Miss* miss = tlb_.pending(page);
  if (miss != nullptr && miss->state == MissState::Invalidate) {
    tlb_.charge(*miss, LatencyComponent::GmmuQueue);
    tlb_.look_up_again(page);
  }
  acknowledge_when_done(page);
}

void Gmmu::drained(PhysPage frame) {
  const auto found = draining_.find(frame.value);
  const PageKey page{found->second};
  draining_.erase(found);
  Invalidation& invalidation = invalidations_.at(page.value);
  invalidation.drained = true;
  if (!invalidation.downgrade) caches_.drop_copies(frame);
  acknowledge_when_done(page);
}

void Gmmu::on_shot_down(Transaction* t) {
  const PageKey page{t->mask};
  partition_.pool().release(t);
  acknowledge_when_done(page);
}

void Gmmu::acknowledge_when_done(PageKey page) {
  const auto found = invalidations_.find(page.value);
  const Invalidation& invalidation = found->second;
  if (!invalidation.written || !invalidation.drained) return;
  if (partition_.now() < invalidation.shot_down) {
    // Nearly always the walk takes longer than the TLBs.
    Transaction* t = partition_.pool().allocate();
    t->mask = page.value;
    partition_.schedule(t, shot_handler_, invalidation.shot_down);
    return;
  }
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

// ----------------------------------------------------------------------------------------------- migration and
// counters

/// This GPU's page goes to another device.
void Gmmu::transfer(const Message& message) {
  Transaction* t = partition_.pool().allocate();
  message.put(*t);
  if (options_.setup == 0) {
    on_transfer(t);
  } else {
    partition_.schedule(t, transfer_handler_, partition_.now() + options_.setup);
  }
}

void Gmmu::on_transfer(Transaction* t) {
  Message message = Message::get(*t);
  const PhysPage old{partition_.device(), message.stamp};
  if (!caches_.can_write_back(old)) {
    // A store that has been ordered still waits for the rest of its line.
    partition_.schedule(t, transfer_handler_, partition_.now() + kTransferRetry);
    return;
  }
  partition_.pool().release(t);
  caches_.write_back(old, message.write);
  message.kind = MessageKind::Data;
  messenger_.send(message.to, message);
}

void Gmmu::counted(PageKey page, Epoch epoch) {
  ++stats_.move_requests;
  Message message;
  message.kind = MessageKind::MoveRequest;
  message.page = page;
  message.mapping.epoch = epoch;
  messenger_.send(options_.host, message);
}

std::string Gmmu::describe_waiting() const {
  std::string text = walkers_.describe_waiting("GMMU");
  if (stopped() != 0) text += fmt::format("  GMMU: {} messages wait on the link for its buffer\n", stopped());
  if (invalidator_ != nullptr && invalidator_->waiting() != 0) {
    text += fmt::format("  GMMU: {} invalidations wait for room\n", invalidator_->waiting());
  }
  if (!invalidations_.empty())
    text += fmt::format("  GMMU: {} invalidations not acknowledged\n", invalidations_.size());
  return text;
}

}  // namespace nearfar
