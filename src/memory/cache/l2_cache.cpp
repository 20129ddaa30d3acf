#include "memory/cache/l2_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace nearfar {
namespace {

bool counts_latency(const Transaction& t) {
  return t.kind == TransactionKind::Read || t.kind == TransactionKind::Atomic;
}

bool writes(const Transaction& t) { return t.kind == TransactionKind::Write || t.kind == TransactionKind::Atomic; }

std::uint32_t since(Cycle now, const Transaction& t) { return static_cast<std::uint32_t>(now) - t.stage_start; }

}  // namespace

void L2Stats::describe(StatVisitor& visitor) {
  visitor.counter("reads", "lines", "Reads that reached the cache, from its own device and from others.", reads);
  visitor.counter("read_hits", "lines", "Reads that found their line.", read_hits);
  visitor.counter("merges", "lines", "Requests that merged a line already asked for from memory.", merges);
  visitor.counter("writes", "lines", "Writes that reached the cache, from its own device and from others.", writes);
  visitor.counter("write_hits", "lines", "Writes that found their line.", write_hits);
  visitor.counter("atomics", "lines", "Atomic operations performed here.", atomics);
  visitor.counter("remote_requests", "lines", "Requests that came from other devices.", remote_requests);
  visitor.counter("evictions", "lines", "Lines replaced by others.", evictions);
  visitor.counter("write_backs", "lines", "Dirty lines among them, written to memory.", write_backs);
  visitor.counter("flushed_lines", "lines", "Dirty lines written to memory at kernel ends.", flushed_lines);
  visitor.counter("port_wait_cycles", "cycles", "Time that requests waited for their bank's tag port, summed.",
                  port_wait_cycles);
  visitor.counter("stalled_requests", "lines", "Requests that had to wait at their bank for an MSHR or memory.",
                  stalled_requests);
}

L2Cache::L2Cache(Partition& partition, const L2Spec& spec, const DramSpec& dram, std::uint64_t line_bytes,
                 std::uint64_t clock_hertz, L2Client& client, DataWatch* watch)
    : partition_(partition),
      client_(client),
      watch_(watch),
      dram_(make_dram(partition, dram, line_bytes, clock_hertz, *this)),
      bank_bits_(static_cast<unsigned>(std::countr_zero(spec.banks))),
      bank_hash_(spec.bank_index),
      tag_latency_(spec.tag_latency),
      data_latency_(spec.data_latency),
      queue_(spec.queue),
      mshr_limit_(spec.mshrs),
      remote_mshr_limit_(spec.remote_mshrs),
      line_bytes_(line_bytes),
      hit_handler_(partition.add_handler<&L2Cache::on_hit>(this)),
      fill_handler_(partition.add_handler<&L2Cache::on_fill>(this)) {
  if (partition.many_partitions()) {
    partition.set_preparation<&L2Cache::prepare_hit, L2Cache>(hit_handler_);
    partition.set_preparation<&L2Cache::prepare_fill, L2Cache>(fill_handler_);
  }
  const std::uint64_t sets = spec.size / line_bytes / spec.ways / spec.banks;
  // Page tables lie beside what the capacity bounds; half as many frames more is room enough for both.
  const std::uint64_t keys = (dram.capacity + dram.capacity / 2) / line_bytes / spec.banks;
  for (std::uint32_t b = 0; b < spec.banks; ++b) {
    banks_.push_back({TagArray(sets, spec.ways, spec.index, spec.replacement, keys),
                      Mshrs(spec.mshrs + spec.remote_mshrs),
                      {},
                      {},
                      0,
                      b,
                      0,
                      0,
                      0,
                      0,
                      {},
                      {}});
    if (watch_ != nullptr) banks_.back().images.resize(banks_.back().tags.slots());
  }
}

PhysLine L2Cache::line_of(const Bank& bank, TagArray::Slot slot) const {
  const std::uint64_t upper = bank.tags.key(slot);
  std::uint64_t low = bank.index;
  if (bank_hash_ == IndexHash::Xor) low ^= upper ^ upper >> 6 ^ upper >> 11;
  const std::uint64_t number = upper << bank_bits_ | (low & (banks_.size() - 1));
  return PhysLine{PhysPage{partition_.device(), number >> kLineIndexBits},
                  static_cast<unsigned>(number & ((1U << kLineIndexBits) - 1))};
}

Cycle L2Cache::pass_port(Bank& bank, Cycle arrival) {
  const Cycle start = std::max(arrival, bank.port_free);
  bank.port_free = start + 1;
  stats_.port_wait_cycles += start - arrival;
  return start;
}

void L2Cache::remote_request(Transaction* burst, Spacing spacing) {
  const auto lines = static_cast<std::uint64_t>(std::popcount(burst->mask));
  stats_.remote_requests += lines;
  if (counts_latency(*burst)) latency_.request_link += lines * since(partition_.now(), *burst);
  burst->stage_start = static_cast<std::uint32_t>(partition_.now());
  serve(burst, true, spacing);
}

/// The lines of a group act, one after another; then what they have come to is sent on its way.
void L2Cache::serve(Transaction* group, bool remote, Spacing arrivals) {
  const Cycle now = partition_.now();
  const PhysPage page = group->line.page();
  const bool one = (group->mask & (group->mask - 1)) == 0;
  const bool sized = group->kind == TransactionKind::Write && !one;
  Results results;
  if (remote && !one) results.spacing = client_.reply_spacing(*group);
  std::uint32_t acted = 0;
  unsigned i = 0;
  for (std::uint64_t rest = group->mask; rest != 0; rest &= rest - 1, ++i) {
    group->line = PhysLine{page, static_cast<unsigned>(std::countr_zero(rest))};
    if (sized && i != 0) {
      group->data_bytes = static_cast<std::uint16_t>((rest & (rest - 1)) == 0 ? group->last_bytes : line_bytes_);
    }
    Bank& bank = bank_of(group->line);
    TransactionQueue& queue = remote ? bank.remote : bank.own;
    if (queue.empty()) {
      const Cycle extra = pass_port(bank, now + arrivals.at(i)) - now;
      const Outcome outcome = act(bank, *group, remote);
      if (outcome != Outcome::Stall) {
        ++acted;
        if (!remote) release(bank);
        note(*group, outcome, extra, results);
        continue;
      }
    }
    if (coverage_ != nullptr) cover_wait(bank, *group, remote);
    ++stats_.stalled_requests;
    queue.push(part(*group, rest & -rest));
  }
  if (remote && acted != 0) client_.requests_taken(DeviceId{group->requester}, acted);
  settle(group, remote, results);
}

/// Takes down what the line of `t` has come to, `extra` cycles from now.
void L2Cache::note(const Transaction& t, Outcome outcome, Cycle extra, Results& results) {
  const std::uint64_t line = std::uint64_t{1} << t.line.index();
  if (outcome == Outcome::Hit) {
    results.hits.add(line, extra + tag_latency_ + data_latency_, results.spacing);
    return;
  }
  if (t.kind == TransactionKind::Write) results.performed.add(line, extra + tag_latency_, results.spacing);
  if (outcome == Outcome::Missed) ask_memory(t, extra, results);
}

void L2Cache::ask_memory(const Transaction& t, Cycle extra, Results& results) {
  const std::uint64_t line = std::uint64_t{1} << t.line.index();
  const Cycle lookup = extra + tag_latency_;
  const Cycle complete = dram_->book_read(t.line);
  if (complete == kNever) {
    Transaction* single = part(t, line);
    single->stage_start = static_cast<std::uint32_t>(partition_.now());
    single->user = static_cast<std::uint32_t>(lookup);
    dram_->read(single, fill_handler_);
    return;
  }
  Batch& missing = results.missing;
  const Cycle ready = complete + lookup;
  const Cycle due = Batch::due_of(ready, results.spacing.at(missing.count));
  if (missing.count != 0 && (due > missing.due + kTogether || missing.due > due + kTogether)) send_missing(t, results);
  if (missing.count == 0) results.missing_extra = extra;
  missing.add(line, ready, results.spacing);
}

/// The lines that memory is asked for together will fill together.
void L2Cache::send_missing(const Transaction& t, Results& results) {
  Transaction* lines = part(t, results.missing.mask);
  lines->stage_start = static_cast<std::uint32_t>(partition_.now());
  lines->user = static_cast<std::uint32_t>(results.missing_extra + tag_latency_);
  partition_.schedule(lines, fill_handler_, results.missing.due);
  results.missing = {};
}

/// Sends what the lines of a group have come to on its way, and takes the group.
void L2Cache::settle(Transaction* group, bool remote, Results& results) {
  if (results.missing.count != 0) send_missing(*group, results);
  const Batch& performed = results.performed;
  if (performed.count != 0) {
    if (remote) {
      client_.answer(part(*group, performed.mask), performed.due);
    } else {
      if (watch_ != nullptr) watch_->stores_acknowledged(group->user, performed.mask);
      client_.stores_ordered(group->cu, group->line.page(), performed.count);
    }
  }
  const Batch& hits = results.hits;
  if (hits.count == 0) {
    partition_.pool().release(group);
    return;
  }
  group->mask = hits.mask;
  if (counts_latency(*group)) {
    latency_.home += hits.count * (tag_latency_ + data_latency_);
    latency_.home_wait += hits.count * (since(partition_.now(), *group) + hits.due - tag_latency_ - data_latency_);
  }
  if (remote) {
    client_.answer(group, hits.due);
  } else {
    partition_.schedule(group, hit_handler_, partition_.now() + hits.due);
  }
}

/// Some lines of a request, as one of their own.
Transaction* L2Cache::part(const Transaction& t, std::uint64_t mask) {
  Transaction* lines = partition_.pool().allocate();
  *lines = t;
  lines->mask = mask;
  return lines;
}

/// The request of `t` acts on its line.
L2Cache::Outcome L2Cache::act(Bank& bank, const Transaction& t, bool remote) {
  if (coverage_ != nullptr) cover_request(bank, t, remote);
  if (t.kind == TransactionKind::Write) return write(bank, t, remote);
  const TagArray::Slot slot = bank.tags.find(key(t.line));
  if (slot == TagArray::kNone) return miss(bank, t, remote);
  bank.tags.touch(slot);
  if (t.kind == TransactionKind::Atomic) {
    ++stats_.atomics;
    make_dirty(bank, slot);
  } else {
    ++stats_.reads;
    ++stats_.read_hits;
  }
  tell_ordered(t);
  tell_performed(bank, slot, t);
  return Outcome::Hit;
}

void L2Cache::make_dirty(Bank& bank, TagArray::Slot slot) {
  if ((bank.tags.state(slot) & kDirty) == 0) ++bank.dirty;
  bank.tags.state(slot) |= kDirty;
}

/// The oracle is told that a request has its place in the order of its line.
void L2Cache::tell_ordered(const Transaction& t) {
  if (watch_ == nullptr || t.kind == TransactionKind::TableRead) return;
  const DeviceId requester{t.requester};
  if (writes(t)) watch_->write_ordered(requester, t.user, t.line);
  if (t.kind != TransactionKind::Write) watch_->read_ordered(requester, t.user, t.line);
}

/// The oracle is told that a request has reached the data of its line.
void L2Cache::tell_performed(Bank& bank, TagArray::Slot slot, const Transaction& t) {
  if (watch_ == nullptr || t.kind == TransactionKind::TableRead) return;
  const DeviceId requester{t.requester};
  if (writes(t)) watch_->write_applied(requester, t.user, t.line, bank.images[slot]);
  if (t.kind != TransactionKind::Write) watch_->read_served(requester, t.user, t.line, bank.images[slot]);
}

L2Cache::Outcome L2Cache::write(Bank& bank, const Transaction& t, bool remote) {
  const TagArray::Slot slot = bank.tags.find(key(t.line));
  if (slot != TagArray::kNone) {
    ++stats_.writes;
    ++stats_.write_hits;
    bank.tags.touch(slot);
    make_dirty(bank, slot);
    tell_ordered(t);
    tell_performed(bank, slot, t);
    return Outcome::Done;
  }
  const bool whole = t.data_bytes == line_bytes_;
  if (!whole || bank.mshrs.find(t.line) != nullptr) return miss(bank, t, remote);
  // A whole line needs nothing from memory, but its victim may need room there.
  const TagArray::Slot victim = bank.tags.victim(key(t.line));
  const bool dirty = bank.tags.valid(victim) && (bank.tags.state(victim) & kDirty) != 0;
  if (dirty && !dram_->can_write(line_of(bank, victim))) return Outcome::Stall;
  ++stats_.writes;
  install(bank, victim, t.line);
  make_dirty(bank, victim);
  if (watch_ != nullptr) bank.images[victim] = DataWatch::undefined();
  tell_ordered(t);
  tell_performed(bank, victim, t);
  return Outcome::Done;
}

L2Cache::Outcome L2Cache::miss(Bank& bank, const Transaction& t, bool remote) {
  Mshrs::Entry* pending = bank.mshrs.find(t.line);
  std::uint32_t& used = remote ? bank.remote_mshrs : bank.own_mshrs;
  if (pending == nullptr && used >= (remote ? remote_mshr_limit_ : mshr_limit_)) return Outcome::Stall;

  switch (t.kind) {
    case TransactionKind::Write: ++stats_.writes; break;
    case TransactionKind::Atomic: ++stats_.atomics; break;
    default: ++stats_.reads; break;
  }
  if (counts_latency(t)) latency_.home_wait += since(partition_.now(), t);
  tell_ordered(t);
  RecordId record = t.user;
  if (watch_ != nullptr && t.kind == TransactionKind::Write) {
    record = watch_->keep_write(DeviceId{t.requester}, record, t.line);
  }
  if (pending == nullptr) {
    ++used;
    Pending& payload = bank.mshrs.allocate(t.line).payload;
    payload.remote = remote;
    payload.record = record;
    payload.writes = writes(t);
    if (follows_pages_) in_page(t.line.page()).pending |= std::uint64_t{1} << t.line.index();
    return Outcome::Missed;
  }
  ++stats_.merges;
  pending->payload.writes |= writes(t);
  Transaction* waiting = part(t, std::uint64_t{1} << t.line.index());
  waiting->stage_start = static_cast<std::uint32_t>(partition_.now());
  waiting->user = record;
  pending->payload.waiting.push(waiting);
  return Outcome::Merged;
}

/// Puts a line into a slot; what was there leaves, to memory if it is dirty.
void L2Cache::install(Bank& bank, TagArray::Slot slot, PhysLine line) {
  if (bank.tags.valid(slot)) {
    ++stats_.evictions;
    if (coverage_ != nullptr) coverage_->count(state_of(bank, line_of(bank, slot)), L2Event::Replacement);
    const bool dirty = (bank.tags.state(slot) & kDirty) != 0;
    const PhysLine victim = dirty || follows_pages_ || watch_ != nullptr ? line_of(bank, slot) : PhysLine{};
    if (follows_pages_) in_page(victim.page()).held &= ~(std::uint64_t{1} << victim.index());
    if (dirty) {
      ++stats_.write_backs;
      --bank.dirty;
      if (watch_ != nullptr) watch_->written_back(victim, bank.images[slot]);
      dram_->write(victim);
    } else if (watch_ != nullptr) {
      watch_->dropped(victim, bank.images[slot]);
    }
  }
  bank.tags.fill(slot, key(line));
  if (follows_pages_) in_page(line.page()).held |= std::uint64_t{1} << line.index();
}

void L2Cache::prepare_hit(const Transaction& t, PrefetchStep step) const { client_.prepare_served(t, step); }

void L2Cache::prepare_fill(const Transaction& t, PrefetchStep step) const {
  prefetch(t.line.page(), t.mask, step);
  if (t.kind != TransactionKind::Write && t.requester == partition_.device().value) client_.prepare_served(t, step);
}

void L2Cache::on_hit(Transaction* t) { client_.lines_served(t); }

void L2Cache::on_fill(Transaction* t) {
  if (counts_latency(*t)) {
    const auto lines = static_cast<std::uint64_t>(std::popcount(t->mask));
    latency_.home += lines * tag_latency_;
    latency_.home_wait += lines * (t->user - tag_latency_);
    latency_.dram += lines * (since(partition_.now(), *t) - t->user);
  }
  const PhysPage page = t->line.page();
  for (std::uint64_t rest = t->mask; rest != 0; rest &= rest - 1) {
    t->line = PhysLine{page, static_cast<unsigned>(std::countr_zero(rest))};
    fill(bank_of(t->line), *t);
  }
  hand_over(t);
}

/// The line of `t` has come from memory: those who wait for it act on it, in order.
void L2Cache::fill(Bank& bank, Transaction& t) {
  if (coverage_ != nullptr) coverage_->count(state_of(bank, t.line), L2Event::Fill);
  Mshrs::Entry* pending = bank.mshrs.find(t.line);
  t.user = pending->payload.record;
  const TagArray::Slot slot = bank.tags.victim(key(t.line));
  install(bank, slot, t.line);
  if (watch_ != nullptr) bank.images[slot] = watch_->fetched(t.line);
  TransactionQueue waiting = pending->payload.waiting;
  const bool flush = pending->payload.flush;
  --(pending->payload.remote ? bank.remote_mshrs : bank.own_mshrs);
  bank.mshrs.release(*pending);
  if (follows_pages_) in_page(t.line.page()).pending &= ~(std::uint64_t{1} << t.line.index());

  apply(bank, slot, t);
  while (!waiting.empty()) {
    Transaction* merged = waiting.pop();
    if (counts_latency(*merged)) latency_.merge += since(partition_.now(), *merged);
    apply(bank, slot, *merged);
    hand_over(merged);
  }
  if (flush) {
    --flush_pending_;
    flush_filled_.push_back(t.line);
    continue_flush();
  }
  wake(bank);
}

void L2Cache::apply(Bank& bank, TagArray::Slot slot, const Transaction& t) {
  if (writes(t)) make_dirty(bank, slot);
  if (t.kind != TransactionKind::Write) {
    tell_performed(bank, slot, t);
  } else if (watch_ != nullptr) {
    watch_->kept_write_applied(t.user, t.line, bank.images[slot]);
  }
}

/// Gives lines that have come from memory to who asked; writes have been acknowledged before.
void L2Cache::hand_over(Transaction* t) {
  if (t->kind == TransactionKind::Write) {
    partition_.pool().release(t);
  } else if (t->requester == partition_.device().value) {
    client_.lines_served(t);
  } else {
    client_.answer(t, 0);
  }
}

void L2Cache::release(Bank& bank) {
  --bank.reserved;
  // Who is woken may lack something else by now: then the next one has the room.
  while (!bank.waiters.empty() && bank.reserved < queue_) client_.l2_has_room(bank.waiters.pop());
}

/// Lets waiting requests of a bank act, other devices' and the device's own in turn, until neither can. With all its
/// registers taken a queue is not even tried: the next fill frees one and comes here again.
void L2Cache::wake(Bank& bank) {
  bool moved = true;
  while (moved) {
    moved = bank.remote_mshrs < remote_mshr_limit_ && wake_one(bank, bank.remote, true);
    moved |= bank.own_mshrs < mshr_limit_ && wake_one(bank, bank.own, false);
  }
}

bool L2Cache::wake_one(Bank& bank, TransactionQueue& queue, bool remote) {
  if (queue.empty()) return false;
  Transaction* t = queue.front();
  const Cycle now = partition_.now();
  const Outcome outcome = act(bank, *t, remote);
  if (outcome == Outcome::Stall) return false;
  queue.pop();
  if (remote) {
    client_.requests_taken(DeviceId{t->requester}, 1);
  } else {
    release(bank);
  }
  Results results;
  note(*t, outcome, pass_port(bank, now) - now, results);
  settle(t, remote, results);
  return true;
}

void L2Cache::dram_has_room() {
  room_ = true;
  if (waking_) return;
  waking_ = true;
  while (room_) {
    room_ = false;
    for (Bank& bank : banks_) wake(bank);
    if (flushes_ != 0) continue_flush();
  }
  waking_ = false;
}

void L2Cache::flush() {
  if (++flushes_ == 1) start_flush();
}

void L2Cache::start_flush() {
  if (coverage_ != nullptr) cover_flush();
  flush_bank_ = 0;
  flush_slot_ = 0;
  for (Bank& bank : banks_) {
    bank.mshrs.for_each([&](Mshrs::Entry& pending) {
      if (!pending.payload.writes) return;
      pending.payload.flush = true;
      ++flush_pending_;
    });
  }
  continue_flush();
}

/// Goes on with a flush as far as memory has room and lines have come. Each line is written where it is found dirty,
/// and is clean from then on: so whoever finds it first writes it, and nobody twice.
void L2Cache::continue_flush() {
  if (!flush_dirty() || !flush_filled() || flush_pending_ != 0) return;
  client_.flushed();
  if (--flushes_ != 0) start_flush();
}

/// Writes the lines back that are dirty from the cursor on; false where memory has no room.
bool L2Cache::flush_dirty() {
  for (; flush_bank_ < banks_.size(); ++flush_bank_, flush_slot_ = 0) {
    Bank& bank = banks_[flush_bank_];
    while (bank.dirty != 0) {
      flush_slot_ = bank.tags.find_state(flush_slot_, kDirty);
      if (flush_slot_ == bank.tags.slots()) break;  // those that are dirty have become so behind it
      const PhysLine line = line_of(bank, flush_slot_);
      if (!dram_->can_write(line)) return false;
      flush_line(bank, flush_slot_, line);
    }
  }
  return true;
}

/// Writes the lines back that have come from memory since, unless they have left or are clean by now.
bool L2Cache::flush_filled() {
  for (; !flush_filled_.empty(); flush_filled_.pop_back()) {
    const PhysLine line = flush_filled_.back();
    Bank& bank = bank_of(line);
    const TagArray::Slot slot = bank.tags.find(key(line));
    if (slot == TagArray::kNone || (bank.tags.state(slot) & kDirty) == 0) continue;
    if (!dram_->can_write(line)) return false;
    flush_line(bank, slot, line);
  }
  return true;
}

void L2Cache::flush_line(Bank& bank, TagArray::Slot slot, PhysLine line) {
  bank.tags.state(slot) &= static_cast<std::uint8_t>(~kDirty);
  --bank.dirty;
  ++stats_.flushed_lines;
  if (watch_ != nullptr) watch_->written_back(line, bank.images[slot]);
  dram_->write(line);
  if (drops_flushed_) drop_line(bank, slot, line);
}

/// A line that memory holds, or that nobody needs any more, leaves.
void L2Cache::drop_line(Bank& bank, TagArray::Slot slot, PhysLine line) {
  bank.tags.invalidate(slot);
  if (follows_pages_) in_page(line.page()).held &= ~(std::uint64_t{1} << line.index());
}

void L2Cache::drop_clean_lines() {
  for (Bank& bank : banks_) {
    for (TagArray::Slot slot = 0; slot < bank.tags.slots(); ++slot) {
      if (!bank.tags.valid(slot) || (bank.tags.state(slot) & kDirty) != 0) continue;
      const PhysLine line = line_of(bank, slot);
      if (watch_ != nullptr) watch_->dropped(line, bank.images[slot]);
      drop_line(bank, slot, line);
    }
  }
}

void L2Cache::write_back_page(PhysPage page, bool leaves) {
  if (coverage_ != nullptr) cover_page(page, leaves);
  const std::uint64_t held = in_page(page).held;
  prefetch(page, held, PrefetchStep::First);
  for (std::uint64_t rest = held; rest != 0; rest &= rest - 1) {
    const PhysLine line{page, static_cast<unsigned>(std::countr_zero(rest))};
    Bank& bank = bank_of(line);
    const TagArray::Slot slot = bank.tags.find(key(line));
    if ((bank.tags.state(slot) & kDirty) != 0) {
      bank.tags.state(slot) &= static_cast<std::uint8_t>(~kDirty);
      --bank.dirty;
      ++stats_.write_backs;
      if (watch_ != nullptr) watch_->written_back(line, bank.images[slot]);
      dram_->write(line);
    } else if (watch_ != nullptr) {
      watch_->dropped(line, bank.images[slot]);
    }
    if (leaves) bank.tags.invalidate(slot);
  }
  if (leaves) in_page(page).held = 0;
}

bool L2Cache::lines_pending(PhysPage page, std::uint64_t lines) {
  for (; lines != 0; lines &= lines - 1) {
    const PhysLine line{page, static_cast<unsigned>(std::countr_zero(lines))};
    if (bank_of(line).mshrs.find(line) != nullptr) return true;
  }
  return false;
}

void L2Cache::write_back_lines(PhysPage page, std::uint64_t lines) {
  for (; lines != 0; lines &= lines - 1) {
    const PhysLine line{page, static_cast<unsigned>(std::countr_zero(lines))};
    Bank& bank = bank_of(line);
    const TagArray::Slot slot = bank.tags.find(key(line));
    if (slot == TagArray::kNone || (bank.tags.state(slot) & kDirty) == 0) continue;
    bank.tags.state(slot) &= static_cast<std::uint8_t>(~kDirty);
    --bank.dirty;
    ++stats_.write_backs;
    if (watch_ != nullptr) watch_->written_back(line, bank.images[slot]);
    dram_->write(line);
  }
}

void L2Cache::overwrite_lines(PhysPage page, std::uint64_t lines) {
  for (; lines != 0; lines &= lines - 1) {
    const PhysLine line{page, static_cast<unsigned>(std::countr_zero(lines))};
    Bank& bank = bank_of(line);
    const TagArray::Slot slot = bank.tags.find(key(line));
    if (slot != TagArray::kNone) {
      if ((bank.tags.state(slot) & kDirty) != 0) --bank.dirty;
      bank.tags.state(slot) = 0;
      drop_line(bank, slot, line);
    }
    dram_->write(line);
  }
}

std::uint64_t L2Cache::pending() const {
  std::uint64_t sum = 0;
  for (const Bank& bank : banks_) sum += bank.mshrs.used() + bank.own.size() + bank.remote.size() + bank.reserved;
  return sum;
}

std::string L2Cache::describe_waiting() const {
  std::string text;
  for (const Bank& bank : banks_) {
    if (bank.mshrs.used() + bank.own.size() + bank.remote.size() == 0) continue;
    text += fmt::format("  bank {}: {} lines asked of memory, {} own and {} remote requests waiting", bank.index,
                        bank.mshrs.used(), bank.own.size(), bank.remote.size());
    const Transaction* oldest = !bank.own.empty() ? bank.own.front() : bank.remote.front();
    if (oldest != nullptr) text += fmt::format(" (oldest since cycle {})", oldest->stage_start);
    text += '\n';
  }
  return text;
}

}  // namespace nearfar
