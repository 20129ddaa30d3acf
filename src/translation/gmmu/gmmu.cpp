#include "translation/gmmu/gmmu.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <utility>

#include "sim/error.h"
#include "translation/gmmu/update_note.h"

namespace nearfar {

using namespace update_note;

Gmmu::Gmmu(Partition& partition, const GmmuOptions& options, L2Tlb& tlb, Messenger& messenger, PageCaches& caches,
           PageAccessTracker& frames, WalkMemory* memory, TranslationOracle* oracle)
    : partition_(partition),
      options_(options),
      tlb_(tlb),
      messenger_(messenger),
      caches_(caches),
      tracker_(frames),
      oracle_(oracle),
      tables_(partition.device(), options.size, frames, stats_, oracle),
      walkers_(partition, options.gmmu, options.walk, options.table.upper, *this, memory),
      ingress_(partition, *this, stats_),
      invalidations_(partition, options, {tlb, walkers_, tables_, frames, caches, messenger, stats_, oracle}, *this),
      filter_handler_(partition.add_handler<&Gmmu::on_filter>(this)),
      transfer_handler_(partition.add_handler<&Gmmu::on_transfer>(this)) {
  tlb_.set_handler(*this);
  tracker_.set_listener(*this);
}

// ------------------------------------------------------------------------------------------------- misses and walks

void Gmmu::add_filter(WalkFilter& filter, unsigned place) {
  filters_.insert(std::ranges::upper_bound(filters_, place, {}, &PlacedFilter::place), {&filter, place});
}

void Gmmu::missed(PageKey page, Miss& miss) {
  miss.state = MissState::Walk;
  pass_filters(page, miss, 0);
}

/// Asks the filters of the chain from the given one on, and walks if all admit the request.
void Gmmu::pass_filters(PageKey page, Miss& miss, std::size_t from) {
  for (std::size_t i = from; i < filters_.size(); ++i) {
    WalkFilter& filter = *filters_[i].filter;
    if (miss.replayed && !filter.asks_replays()) continue;
    if (filter.latency() != 0) {
      auto* event = partition_.pool().allocate<FilterEvent>();
      event->page = page;
      event->filter = static_cast<std::uint32_t>(i);
      partition_.schedule(event, filter_handler_, partition_.now() + filter.latency());
      return;
    }
    if (!filter.admits(page)) {
      fault(page, miss);
      return;
    }
  }
  Walk& walk = walkers_.make(miss.replayed ? WalkKind::Replay : WalkKind::Demand, page);
  walk.since = miss.since;
  walkers_.submit(walk, WalkSource::Demand);
}

void Gmmu::on_filter(FilterEvent* event) {
  const PageKey page = event->page;
  const std::size_t filter = event->filter;
  partition_.pool().release(event);
  Miss& miss = *tlb_.pending(page);
  tlb_.charge(miss, LatencyComponent::Filter);
  if (filters_[filter].filter->admits(page)) {
    pass_filters(page, miss, filter + 1);
    return;
  }
  fault(page, miss);
}

void Gmmu::fault(PageKey page, Miss& miss) {
  if (tlb_.drop_prefetch(page)) {
    invalidations_.resume(page);
    return;
  }
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

/// The observer hears of a new mapping before the entry says so, that it may never be behind it.
void Gmmu::started(Walk& walk) {
  if (walk.kind != WalkKind::Update || (walk.note & kDowngrades) != 0) return;
  if (tables_.announce(walk.page)) walk.note |= kAnnounced;
}

/// What a component of a design walks for, it has asked for where the entry is.
bool Gmmu::reads_leaf(const Walk& walk) const {
  if (leaf_tables_ == nullptr || is_of_design(walk.kind) || !leaf_tables_->keeps(walk.page)) return true;
  return leaf_tables_->is_here(walk.page);
}

void Gmmu::walked(Walk& walk) {
  if (observed_ && !walk.cut_short) events_.push_back({partition_.now(), walk.page, false});
  switch (walk.kind) {
    case WalkKind::Demand:
    case WalkKind::Replay: walk_ended(walk); break;
    case WalkKind::Update: update_ended(walk); break;
    case WalkKind::Invalidate: invalidations_.entry_walked(walk.page); break;
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
  if (leaf_tables_ != nullptr && leaf_tables_->keeps(walk.page)) {
    // Its entry is read when the walk has ended, or later: nothing that was read before can be stale.
    miss.stale = false;
    leaf_tables_->walked(walk, miss);
    return;
  }
  const Pte entry = walk.cut_short ? Pte{} : tables_.read(walk.page);
  if (std::exchange(miss.stale, false) && entry.valid()) {
    walk_was_stale(walk.page, miss);
    return;
  }
  if (!entry.valid()) {
    fault(walk.page, miss);
    return;
  }
  if (miss.write && !entry.writable()) {
    ++stats_.protection_faults;
    ask_host(walk.page, miss);
    return;
  }
  if (oracle_ != nullptr && invalidations_.hides(walk.page)) {
    throw SimulationError(fmt::format("check: GPU {} read the entry of page {:#x}, whose invalidation it has taken",
                                      partition_.device().value, walk.page.number()));
  }
  tlb_.answer(walk.page, {entry.page(), entry.writable(), 0});
}

/// What was read is being invalidated: the request looks up again behind that.
void Gmmu::walk_was_stale(PageKey page, Miss& miss) {
  ++tlb_.stats().stale_results;
  if (invalidations_.hides(page)) {
    // The entry will say nothing else until it is written: the host knows where the page is.
    fault(page, miss);
    return;
  }
  if (tlb_.drop_prefetch(page)) return;
  if (invalidations_.is_unwritten(page)) {
    miss.state = MissState::Invalidate;
  } else {
    tlb_.look_up_again(page);
  }
}

void Gmmu::give(PageKey page, const Mapping& mapping) {
  const Pte given = tables_.read(page);
  const bool again = given.valid() && given.page() == mapping.page && tracker_.page(mapping.page) == page &&
                     tracker_.epoch(mapping.page) == mapping.epoch;
  if (!again) {
    if (options_.leaves_accesses() && tracker_.page(mapping.page) != page) caches_.drop_lines(mapping.page);
    tables_.map(page, mapping);
  }
  tlb_.answer(page, {mapping.page, mapping.writable, 0});
}

void Gmmu::fault_again(PageKey page, Miss& miss) {
  ++stats_.reissues;
  ask_host(page, miss);
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
  invalidations_.resume(page);
}

/// What a design's component wants to read of a page is not here any more: walks that have not begun need not.
void Gmmu::page_invalidated(PageKey page) {
  if (foreign_walks_ == 0) return;
  std::vector<Walk*> waiting;
  walkers_.for_each_of(page, [&](Walk& walk, bool walking) {
    if (!is_of_design(walk.kind) || walk.writes()) return;
    walk.note |= WalkOwner::kInvalidated;
    if (!walking) waiting.push_back(&walk);
  });
  for (Walk* walk : waiting) static_cast<WalkOwner*>(walk->owner)->overtaken(*walk);
}

// ---------------------------------------------------------------------------------------------------------- messages

/// An invalidation that waits for something else than a walker keeps its place too.
bool Gmmu::has_place(const Message& message) const {
  const MessageTraits& traits = traits_of(message.kind);
  if (!traits.needs_walk) return true;
  std::size_t waiting = walkers_.outside(traits.response ? WalkSource::Response : WalkSource::Request);
  if (!traits.response) waiting += invalidations_.waiting();
  return waiting < options_.gmmu.ingress;
}

void Gmmu::accept(const Message& message) {
  if (parts_ != nullptr && parts_->take(message)) return;
  Timeline* timeline = partition_.timeline();
  if (timeline != nullptr && (message.kind == MessageKind::Data || message.brings_page)) {
    timeline->frame_holds(message.mapping.page, message.page.value);
  }
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
    case MessageKind::Downgrade: invalidations_.receive(message); break;
    case MessageKind::Transfer: transfer(message); break;
    case MessageKind::Part: break;
    case MessageKind::MoveRefused: move_refused(message.page); break;
    default: throw SimulationError("a GPU received a message that is not for it");
  }
}

void Gmmu::move_refused(PageKey page) {
  const Pte entry = usable(page);
  if (entry.valid()) tracker_.reset_counter(entry.page());
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
    miss->time.skip(message.accounted);
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
      fault_again(message.page, *miss);
      return;
    }
    miss->state = MissState::Update;
  }
  if (leaf_tables_ != nullptr && leaf_tables_->keeps(message.page)) {
    leaf_tables_->mapping_came(message, miss);
    return;
  }
  std::uint64_t note = (miss != nullptr ? kAnswersFault : 0) | (message.tells_done ? kTellsHost : 0);
  Invalidator* invalidator = invalidations_.invalidator();
  if (invalidator != nullptr && invalidator->cancel(message.page)) note |= kCancels;
  if (options_.gmmu.update == UpdateHow::ZeroLatency && may_update_at_once(message.page)) {
    update_at_once(message.page, message.mapping, note);
    return;
  }
  Walk& walk = walkers_.make(WalkKind::Update, message.page);
  walk.mapping = message.mapping;
  walk.note = note;
  walkers_.submit(walk, WalkSource::Response);
}

/// Whether no walk is under way, or waits, that writes the page's entry: what comes later is written later.
bool Gmmu::may_update_at_once(PageKey page) {
  bool may = true;
  walkers_.for_each_of(page, [&](const Walk& walk, bool) { may = may && !walk.writes(); });
  return may;
}

void Gmmu::update_at_once(PageKey page, const Mapping& mapping, std::uint64_t note) {
  Walk update;
  update.kind = WalkKind::Update;
  update.page = page;
  update.mapping = mapping;
  update.note = note;
  started(update);
  update_ended(update);
}

void Gmmu::update_ended(Walk& walk) {
  if ((walk.note & kDowngrades) != 0) {
    invalidations_.entry_walked(walk.page);
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
  const bool voided = (walk.note & kOvertaken) != 0 || invalidations_.is_pending(walk.page);
  if (options_.gmmu.replay == Replay::Short && enough && !voided) {
    tlb_.answer(walk.page, {walk.mapping.page, walk.mapping.writable, 0});
    return;
  }
  miss.replayed = true;
  tlb_.look_up_again(walk.page);
}

/// The write at the end of an update's walk.
void Gmmu::write_update(Walk& walk) {
  if ((walk.note & kCancels) != 0) tables_.count_necessary(walk.page);
  if ((walk.note & kOvertaken) == 0) {
    // Where migrations wait for nobody, accesses by way of an older mapping to the frame may have brought lines of it.
    const PhysPage frame = walk.mapping.page;
    if (options_.leaves_accesses() && tracker_.page(frame) != walk.page) caches_.drop_lines(frame);
    tables_.grant(walk.page, walk.mapping);
  } else if (invalidations_.hides(walk.page)) {
    // The mapping is void: the entry stays hidden until the invalidation is written.
    tables_.write_void(walk.page, walk.mapping);
  } else if ((walk.note & kAnnounced) != 0) {
    // The invalidation has been written already: nothing may follow it.
    tables_.take_back(walk.page);
  }
}

// ------------------------------------------------------------------------------------------- migration and counters

/// This GPU's page goes to another device.
void Gmmu::transfer(const Message& message) {
  auto* waiting = partition_.pool().allocate<TranslationPacket>();
  message.put(*waiting);
  if (options_.before_transfer == 0) {
    on_transfer(waiting);
  } else {
    partition_.schedule(waiting, transfer_handler_, partition_.now() + options_.before_transfer);
  }
}

void Gmmu::on_transfer(TranslationPacket* waiting) {
  Message message = Message::get(*waiting);
  const PhysPage old{partition_.device(), message.stamp};
  if (!caches_.can_write_back(old)) {
    // A store that has been ordered still waits for the rest of its line.
    partition_.schedule(waiting, transfer_handler_, partition_.now() + kTransferRetry);
    return;
  }
  partition_.pool().release(waiting);
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
  if (ingress_.stopped() != 0) {
    text += fmt::format("  GMMU: {} messages wait on the link for its buffer\n", ingress_.stopped());
  }
  return text + invalidations_.describe_waiting();
}

}  // namespace nearfar
