// The L2 cache as the home of its own device's lines: it orders reads and writes of them, in front of the memory.
#include <algorithm>
#include <bit>

#include "memory/cache/l2_cache.h"
#include "memory/cache/request_latency.h"

namespace nearfar {

/// A request acts on its line.
L2Cache::Outcome L2Cache::act_at_home(Bank& bank, const LineRequest& request, bool remote, bool whole) {
  if (coverage_ != nullptr) cover_request(bank, request, remote, whole);
  const TagArray::Place place = place_of(bank, request.line);
  if (request.kind == RequestKind::Write) return write(bank, request, place, remote, whole);
  const TagArray::Slot slot = bank.tags.find(place);
  if (slot == TagArray::kNone) return miss(bank, request, place, remote);
  bank.tags.touch(slot);
  if (request.kind == RequestKind::Atomic) {
    ++stats_.atomics;
    make_dirty(bank, slot);
  } else {
    ++stats_.reads;
    ++stats_.read_hits;
  }
  if (lookups_.on()) lookups_.hit(request, remote);
  order(request);
  if (watch_ != nullptr) watch_performed(bank, slot, request);
  return Outcome::Hit;
}

void L2Cache::show_order(const LineRequest& request) {
  if (request.kind == RequestKind::TableRead) return;
  if (observer_ != nullptr) observer_->ordered(request, lookup_ends_);
  if (watch_ == nullptr) return;
  const DeviceId requester = request.requester();
  if (request.writes()) watch_->write_ordered(requester, request.record, request.line);
  if (request.kind != RequestKind::Write) watch_->read_ordered(requester, request.record, request.line);
}

/// The oracle sees that a request has reached the data of its line.
void L2Cache::watch_performed(Bank& bank, TagArray::Slot slot, const LineRequest& request) {
  if (request.kind == RequestKind::TableRead) return;
  const DeviceId requester = request.requester();
  if (request.writes()) watch_->write_applied(requester, request.record, request.line, bank.images[slot]);
  if (request.kind != RequestKind::Write) {
    watch_->read_served(requester, request.record, request.line, bank.images[slot]);
  }
}

L2Cache::Outcome L2Cache::write(Bank& bank, const LineRequest& request, const TagArray::Place& place, bool remote,
                                bool whole) {
  const TagArray::Slot slot = bank.tags.find(place);
  if (slot != TagArray::kNone) {
    ++stats_.writes;
    ++stats_.write_hits;
    if (lookups_.on()) lookups_.hit(request, remote);
    bank.tags.touch(slot);
    make_dirty(bank, slot);
    order(request);
    if (watch_ != nullptr) watch_performed(bank, slot, request);
    return Outcome::Done;
  }
  if (!whole || bank.mshrs.find(request.line) != nullptr) return miss(bank, request, place, remote);
  // A whole line needs nothing from memory, but its victim may need room there.
  const TagArray::Slot victim = bank.tags.victim(place);
  if (victim == TagArray::kNone) return Outcome::Stall;
  const bool dirty = bank.tags.valid(victim) && (bank.tags.state(victim) & kDirty) != 0;
  if (dirty && !dram_->can_write(line_of(bank, victim))) return Outcome::Stall;
  ++stats_.writes;
  if (lookups_.on()) lookups_.miss(request, remote);
  install(bank, victim, place, request.line);
  make_dirty(bank, victim);
  if (watch_ != nullptr) bank.images[victim] = DataWatch::undefined();
  order(request);
  if (watch_ != nullptr) watch_performed(bank, victim, request);
  return Outcome::Done;
}

L2Cache::Outcome L2Cache::miss(Bank& bank, const LineRequest& request, const TagArray::Place& place, bool remote) {
  Mshrs::Entry* pending = bank.mshrs.find(request.line);
  std::uint32_t& used = remote ? bank.remote_mshrs : bank.own_mshrs;
  if (pending == nullptr && used >= (remote ? remote_mshr_limit_ : mshr_limit_)) return Outcome::Stall;
  const bool reserves = spec_.victim == VictimTime::AtMiss;
  if (pending == nullptr && reserves && !reserve_way(bank, place)) return Outcome::Stall;

  switch (request.kind) {
    case RequestKind::Write: ++stats_.writes; break;
    case RequestKind::Atomic: ++stats_.atomics; break;
    default: ++stats_.reads; break;
  }
  if (lookups_.on()) pending == nullptr ? lookups_.miss(request, remote) : lookups_.merge(request, remote);
  if (counts_latency(request)) latency_.home_wait += since_stage_start(partition_.now(), request);
  order(request);
  RecordId record = request.record;
  if (watch_ != nullptr && request.kind == RequestKind::Write) {
    record = watch_->keep_write(request.requester(), record, request.line);
  }
  if (pending == nullptr) {
    ++used;
    Pending& payload = bank.mshrs.allocate(request.line).payload;
    payload.remote = remote;
    payload.record = record;
    payload.writes = request.writes();
    if (follows_pages_) in_page(request.line.page()).pending |= std::uint64_t{1} << request.line.index();
    return Outcome::Missed;
  }
  ++stats_.merges;
  pending->payload.writes |= request.writes();
  LineRequest* waiting = part(request, std::uint64_t{1} << request.line.index());
  waiting->stage_start = static_cast<std::uint32_t>(partition_.now());
  waiting->record = record;
  pending->payload.waiting.push(waiting);
  return Outcome::Merged;
}

/// Puts a line into a slot; what was there leaves.
void L2Cache::install(Bank& bank, TagArray::Slot slot, const TagArray::Place& place, PhysLine line) {
  make_room(bank, slot);
  bank.tags.fill(slot, place);
  if (lookups_.on()) lookups_.kept(line);
  if (follows_pages_) in_page(line.page()).held |= std::uint64_t{1} << line.index();
}

void L2Cache::ask_memory(const LineRequest& request, Cycle extra, Results& results) {
  const std::uint64_t line = std::uint64_t{1} << request.line.index();
  const Cycle lookup = extra + results.lookup;
  const Cycle complete = dram_->book_read(request.line);
  if (complete == kNever) {
    LineRequest* single = part(request, line);
    charge_lookup(*single, results.lookup, extra);
    single->stage_start = static_cast<std::uint32_t>(partition_.now() + lookup);
    dram_->read(single->line, single, fill_handler_, lookup);
    return;
  }
  Batch& missing = results.missing;
  const Cycle ready = complete + lookup;
  const Cycle due = Batch::due_of(ready, results.spacing.at(missing.count()));
  if (missing.mask != 0 && (due > missing.due + kTogether || missing.due > due + kTogether)) {
    send_missing(part(request, missing.mask), results);
  }
  if (missing.mask == 0) results.missing_extra = extra;
  missing.add(line, ready, results.spacing);
}

/// The lines that memory is asked for together will fill together.
void L2Cache::send_missing(LineRequest* lines, Results& results) {
  charge_lookup(*lines, results.lookup, results.missing_extra);
  lines->stage_start = static_cast<std::uint32_t>(partition_.now() + results.missing_extra + results.lookup);
  partition_.schedule(lines, fill_handler_, results.missing.due);
  results.missing = {};
}

/// The lookup of lines that go on, from their arrival: the tags' own time, and what they waited for it.
void L2Cache::charge_lookup(const LineRequest& request, Cycle tags, Cycle waited) {
  if (!counts_latency(request)) return;
  latency_.home += request.lines() * tags;
  latency_.home_wait += request.lines() * waited;
}

void L2Cache::on_fill(LineRequest* request) {
  if (counts_latency(*request))
    latency_.dram += request->lines() * std::uint64_t{since_stage_start(partition_.now(), *request)};
  const PhysPage page = request->line.page();
  for (std::uint64_t rest = request->mask; rest != 0; rest &= rest - 1) {
    request->line = PhysLine{page, static_cast<unsigned>(std::countr_zero(rest))};
    fill(bank_of(request->line), *request);
  }
  hand_over(request);
}

/// The line of a request has come from memory: those who wait for it act on it, in order.
void L2Cache::fill(Bank& bank, LineRequest& request) {
  if (coverage_ != nullptr) coverage_->count(state_of(bank, request.line), L2Event::Fill);
  if (timeline_ != nullptr) timeline_->filled(bank.index, request.line, 0, false);
  Mshrs::Entry* pending = bank.mshrs.find(request.line);
  request.record = pending->payload.record;
  const bool reserved = spec_.victim == VictimTime::AtMiss;
  const TagArray::Place place = place_of(bank, request.line);
  const TagArray::Slot slot = reserved ? bank.tags.reserved(place) : bank.tags.victim(place);
  install(bank, slot, place, request.line);
  if (watch_ != nullptr) bank.images[slot] = watch_->fetched(request.line);
  LineRequestQueue waiting = pending->payload.waiting;
  const bool flush = pending->payload.flush;
  --(pending->payload.remote ? bank.remote_mshrs : bank.own_mshrs);
  bank.mshrs.release(*pending);
  if (follows_pages_) in_page(request.line.page()).pending &= ~(std::uint64_t{1} << request.line.index());

  apply(bank, slot, request);
  while (!waiting.empty()) {
    LineRequest* merged = waiting.pop();
    if (counts_latency(*merged)) latency_.merge += since_stage_start(partition_.now(), *merged);
    apply(bank, slot, *merged);
    hand_over(merged);
  }
  if (flush) {
    --flush_pending_;
    flush_filled_.push_back(request.line);
    continue_flush();
  }
  wake(bank);
}

void L2Cache::apply(Bank& bank, TagArray::Slot slot, const LineRequest& request) {
  if (request.writes()) make_dirty(bank, slot);
  if (watch_ == nullptr) return;
  if (request.kind != RequestKind::Write) {
    watch_performed(bank, slot, request);
  } else {
    watch_->kept_write_applied(request.record, request.line, bank.images[slot]);
  }
}

/// Gives lines that have come from memory to who asked; writes have been acknowledged before.
void L2Cache::hand_over(LineRequest* request) {
  if (request->kind == RequestKind::Write) {
    discard(request);
  } else if (request->requester() == partition_.device()) {
    client_.lines_served(request);
  } else {
    client_.answer(request, 0);
  }
}

}  // namespace nearfar
