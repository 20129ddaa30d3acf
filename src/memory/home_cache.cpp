#include "memory/home_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

namespace nearfar {
namespace {

bool counts_latency(const Transaction& t) {
  return t.kind == TransactionKind::Read || t.kind == TransactionKind::Atomic;
}

Oracle::Unit requesting_unit(const Transaction& t) {
  return Oracle::unit(DeviceId{t.requester}, t.cu, t.kind == TransactionKind::ScalarRead);
}

std::uint32_t since(Cycle now, const Transaction& t) { return static_cast<std::uint32_t>(now) - t.stage_start; }

}  // namespace

void HomeCacheStats::describe(StatVisitor& visitor) {
  visitor.counter("reads", "lines", "Reads that reached the cache, from its own device and from others.", reads);
  visitor.counter("read_hits", "lines", "Reads that found their line.", read_hits);
  visitor.counter("merges", "lines", "Requests that joined a line already asked for from memory.", merges);
  visitor.counter("writes", "lines", "Writes that reached the cache, from its own device and from others.", writes);
  visitor.counter("write_hits", "lines", "Writes that found their line.", write_hits);
  visitor.counter("atomics", "lines", "Atomic operations performed here.", atomics);
  visitor.counter("remote_requests", "lines", "Requests that came from other devices.", remote_requests);
  visitor.counter("evictions", "lines", "Lines replaced by others.", evictions);
  visitor.counter("write_backs", "lines", "Dirty lines among them, written to memory.", write_backs);
  visitor.counter("flushed_lines", "lines", "Dirty lines written to memory at kernel ends.", flushed_lines);
  visitor.counter("port_wait_cycles", "cycles", "Time that requests waited for their bank's tag port, summed.",
                  port_wait_cycles);
  visitor.counter("stalled_requests", "lines", "Requests that had to wait at their bank for a miss register or memory.",
                  stalled_requests);
}

HomeCache::HomeCache(Partition& partition, const HomeCacheSpec& spec, const DramSpec& dram, std::uint64_t line_bytes,
                     std::uint64_t clock_hertz, HomeClient& client, Oracle* oracle)
    : partition_(partition),
      client_(client),
      oracle_(oracle),
      dram_(make_dram(partition, dram, line_bytes, clock_hertz, *this)),
      bank_bits_(static_cast<unsigned>(std::countr_zero(spec.banks))),
      bank_hash_(spec.bank_index),
      tag_latency_(spec.tag_latency),
      data_latency_(spec.data_latency),
      queue_(spec.queue),
      mshr_limit_(spec.mshrs),
      remote_mshr_limit_(spec.remote_mshrs),
      line_bytes_(line_bytes),
      hit_handler_(partition.add_handler<&HomeCache::on_hit>(this)),
      fill_handler_(partition.add_handler<&HomeCache::on_fill>(this)) {
  const std::uint64_t sets = spec.size / line_bytes / spec.ways / spec.banks;
  for (std::uint32_t b = 0; b < spec.banks; ++b) {
    banks_.push_back({TagArray(sets, spec.ways, spec.index, spec.replacement),
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
    if (oracle_ != nullptr) banks_.back().versions.resize(banks_.back().tags.slots());
  }
}

unsigned HomeCache::bank_index(std::uint64_t number) const {
  const std::uint64_t upper = number >> bank_bits_;
  // Two folds spread strides of a row and of a page over the banks.
  const std::uint64_t low = bank_hash_ == IndexHash::Xor ? number ^ upper ^ upper >> 6 ^ upper >> 11 : number;
  return static_cast<unsigned>(low & (banks_.size() - 1));
}

PhysLine HomeCache::line_of(const Bank& bank, TagArray::Slot slot) const {
  const std::uint64_t upper = bank.tags.key(slot);
  std::uint64_t low = bank.index;
  if (bank_hash_ == IndexHash::Xor) low ^= upper ^ upper >> 6 ^ upper >> 11;
  const std::uint64_t number = upper << bank_bits_ | (low & (banks_.size() - 1));
  return PhysLine{PhysPage{partition_.device(), number >> kLineIndexBits},
                  static_cast<unsigned>(number & ((1U << kLineIndexBits) - 1))};
}

Cycle HomeCache::pass_port(Bank& bank, Cycle arrival) {
  const Cycle start = std::max(arrival, bank.port_free);
  bank.port_free = start + 1;
  stats_.port_wait_cycles += start - arrival;
  return start;
}

void HomeCache::own_request(Transaction* group) {
  const Cycle now = partition_.now();
  const PhysPage page = group->line.page();
  const bool is_write = group->kind == TransactionKind::Write;
  std::uint64_t hits = 0;
  Cycle last = 0;
  unsigned ordered = 0;
  Cycle arrival = now;
  for (std::uint64_t rest = group->mask; rest != 0; rest &= rest - 1, ++arrival) {
    const auto index = static_cast<unsigned>(std::countr_zero(rest));
    const PhysLine line{page, index};
    Bank& bank = bank_of(line);
    group->line = line;
    if (bank.own.empty()) {
      const Cycle start = pass_port(bank, arrival);
      const Outcome outcome = act(bank, group, false, start - now);
      if (outcome != Outcome::Stall) {
        release(bank);
        if (outcome == Outcome::Hit) {
          hits |= std::uint64_t{1} << index;
          last = std::max(last, start);
        } else if (is_write) {
          ++ordered;
        }
        continue;
      }
    }
    Transaction* single = partition_.pool().take();
    *single = *group;
    single->mask = std::uint64_t{1} << index;
    ++stats_.stalled_requests;
    bank.own.push(single);
  }
  if (ordered != 0) client_.stores_ordered(group->cu, page, ordered);
  if (hits == 0) {
    partition_.pool().give(group);
    return;
  }
  group->mask = hits;
  const Cycle ready = last + tag_latency_ + data_latency_;
  if (counts_latency(*group)) {
    const auto lines = static_cast<std::uint64_t>(std::popcount(hits));
    latency_.home += lines * (tag_latency_ + data_latency_);
    latency_.home_wait += lines * (last - now);
  }
  partition_.schedule(group, hit_handler_, ready);
}

void HomeCache::remote_request(Transaction* t) {
  ++stats_.remote_requests;
  if (counts_latency(*t)) latency_.request_link += since(partition_.now(), *t);
  t->stage_start = static_cast<std::uint32_t>(partition_.now());
  Bank& bank = bank_of(t->line);
  if (bank.remote.empty()) {
    const Cycle extra = pass_port(bank, partition_.now()) - partition_.now();
    const Outcome outcome = act(bank, t, true, extra);
    if (outcome != Outcome::Stall) {
      finish(bank, t, true, outcome, extra);
      return;
    }
  }
  ++stats_.stalled_requests;
  bank.remote.push(t);
}

/// What follows for a single-line request that has acted: answers, acknowledgements, credits.
void HomeCache::finish(Bank& bank, Transaction* t, bool remote, Outcome outcome, Cycle extra) {
  if (remote) {
    client_.request_taken(DeviceId{t->requester});
  } else {
    release(bank);
  }
  if (outcome == Outcome::Kept) return;
  if (outcome == Outcome::Done) {
    acknowledge(*t, remote, extra + tag_latency_);
    partition_.pool().give(t);
    return;
  }
  const Cycle after = extra + tag_latency_ + data_latency_;
  if (counts_latency(*t)) {
    latency_.home += tag_latency_ + data_latency_;
    latency_.home_wait += since(partition_.now(), *t) + extra;
  }
  if (remote) {
    client_.answer(t, after);
  } else {
    partition_.schedule(t, hit_handler_, partition_.now() + after);
  }
}

void HomeCache::acknowledge(const Transaction& t, bool remote, Cycle after) {
  if (!remote) {
    client_.stores_ordered(t.cu, t.line.page(), 1);
    return;
  }
  Transaction* ack = partition_.pool().take();
  *ack = t;
  client_.answer(ack, after);
}

/// A request acts on its line. Hit: the data is here. Done: a write has been performed. Kept: the request waits in a
/// miss register, where a write counts as ordered (of the device's own `t` a copy waits). Stall: try again.
HomeCache::Outcome HomeCache::act(Bank& bank, Transaction* t, bool remote, Cycle extra) {
  if (t->kind == TransactionKind::Write) return write(bank, t, remote, extra);
  const TagArray::Slot slot = bank.tags.find(key(t->line));
  if (slot == TagArray::kNone) return miss(bank, t, remote, extra);
  bank.tags.touch(slot);
  if (t->kind == TransactionKind::Atomic) {
    ++stats_.atomics;
    write_hit(bank, slot, *t);
  } else {
    ++stats_.reads;
    ++stats_.read_hits;
  }
  read_hit(bank, slot, *t);
  return Outcome::Hit;
}

void HomeCache::read_hit(Bank& bank, TagArray::Slot slot, const Transaction& t) {
  if (oracle_ == nullptr) return;
  oracle_->load_served(requesting_unit(t), t.line, bank.versions[slot]);
}

void HomeCache::write_hit(Bank& bank, TagArray::Slot slot, const Transaction& t) {
  if ((bank.tags.state(slot) & kDirty) == 0) ++bank.dirty;
  bank.tags.state(slot) |= kDirty;
  if (oracle_ == nullptr) return;
  bank.versions[slot] = oracle_->store_ordered(requesting_unit(t), t.application, t.line);
}

HomeCache::Outcome HomeCache::write(Bank& bank, Transaction* t, bool remote, Cycle extra) {
  const TagArray::Slot slot = bank.tags.find(key(t->line));
  if (slot != TagArray::kNone) {
    ++stats_.writes;
    ++stats_.write_hits;
    bank.tags.touch(slot);
    write_hit(bank, slot, *t);
    return Outcome::Done;
  }
  const bool whole = t->data_bytes == line_bytes_;
  if (!whole || bank.mshrs.find(t->line) != nullptr) return miss(bank, t, remote, extra);
  // A whole line needs nothing from memory, but its victim may need room there.
  const TagArray::Slot victim = bank.tags.victim(key(t->line));
  const bool dirty = bank.tags.valid(victim) && (bank.tags.state(victim) & kDirty) != 0;
  if (dirty && !dram_->can_write(line_of(bank, victim))) return Outcome::Stall;
  ++stats_.writes;
  install(bank, victim, t->line);
  write_hit(bank, victim, *t);
  return Outcome::Done;
}

HomeCache::Outcome HomeCache::miss(Bank& bank, Transaction* t, bool remote, Cycle extra) {
  Mshrs::Entry* pending = bank.mshrs.find(t->line);
  std::uint32_t& used = remote ? bank.remote_mshrs : bank.own_mshrs;
  if (pending == nullptr && used >= (remote ? remote_mshr_limit_ : mshr_limit_)) return Outcome::Stall;

  switch (t->kind) {
    case TransactionKind::Write: ++stats_.writes; break;
    case TransactionKind::Atomic: ++stats_.atomics; break;
    default: ++stats_.reads; break;
  }
  Transaction* kept = t;
  if (!remote) {
    // The device's own group goes on to its next line: what waits here is a copy.
    kept = partition_.pool().take();
    *kept = *t;
    kept->mask = std::uint64_t{1} << t->line.index();
  } else if (t->kind == TransactionKind::Write) {
    acknowledge(*t, true, extra + tag_latency_);
  }
  if (counts_latency(*kept)) latency_.home_wait += since(partition_.now(), *kept);
  kept->stage_start = static_cast<std::uint32_t>(partition_.now());
  if (pending != nullptr) {
    ++stats_.merges;
    pending->payload.waiting.push(kept);
    return Outcome::Kept;
  }
  ++used;
  bank.mshrs.allocate(t->line).payload.remote = remote;
  kept->user = static_cast<std::uint32_t>(extra + tag_latency_);
  dram_->read(kept, fill_handler_);
  return Outcome::Kept;
}

/// Puts a line into a slot; what was there leaves, to memory if it is dirty.
void HomeCache::install(Bank& bank, TagArray::Slot slot, PhysLine line) {
  if (bank.tags.valid(slot)) {
    ++stats_.evictions;
    if ((bank.tags.state(slot) & kDirty) != 0) {
      ++stats_.write_backs;
      --bank.dirty;
      const PhysLine victim = line_of(bank, slot);
      if (oracle_ != nullptr) oracle_->memory_written(victim, bank.versions[slot]);
      dram_->write(victim);
    }
  }
  bank.tags.fill(slot, key(line));
}

void HomeCache::on_hit(Transaction* t) { client_.lines_served(t); }

void HomeCache::on_fill(Transaction* t) {
  Bank& bank = bank_of(t->line);
  Mshrs::Entry* pending = bank.mshrs.find(t->line);
  const TagArray::Slot slot = bank.tags.victim(key(t->line));
  install(bank, slot, t->line);
  if (oracle_ != nullptr) bank.versions[slot] = oracle_->memory_read(t->line);

  if (counts_latency(*t)) {
    latency_.home += tag_latency_;
    latency_.home_wait += t->user - tag_latency_;
    latency_.dram += since(partition_.now(), *t) - t->user;
  }
  TransactionQueue waiting = pending->payload.waiting;
  --(pending->payload.remote ? bank.remote_mshrs : bank.own_mshrs);
  bank.mshrs.release(*pending);

  apply_after_fill(bank, slot, t);
  while (!waiting.empty()) {
    Transaction* merged = waiting.pop();
    if (counts_latency(*merged)) latency_.merge += since(partition_.now(), *merged);
    apply_after_fill(bank, slot, merged);
  }
  wake(bank);
}

void HomeCache::apply_after_fill(Bank& bank, TagArray::Slot slot, Transaction* t) {
  if (t->kind == TransactionKind::Write) {
    write_hit(bank, slot, *t);
    partition_.pool().give(t);
    return;
  }
  if (t->kind == TransactionKind::Atomic) write_hit(bank, slot, *t);
  read_hit(bank, slot, *t);
  if (t->requester == partition_.device().value) {
    client_.lines_served(t);
  } else {
    client_.answer(t, 0);
  }
}

void HomeCache::release(Bank& bank) {
  --bank.reserved;
  // Who is woken may lack something else by now: then the next one has the room.
  while (!bank.refused.empty() && bank.reserved < queue_) client_.home_has_room(bank.refused.pop());
}

/// Lets waiting requests of a bank act, other devices' and the device's own in turn, until neither can. With all its
/// registers taken a queue is not even tried: the next fill frees one and comes here again.
void HomeCache::wake(Bank& bank) {
  bool moved = true;
  while (moved) {
    moved = bank.remote_mshrs < remote_mshr_limit_ && wake_one(bank, bank.remote, true);
    moved |= bank.own_mshrs < mshr_limit_ && wake_one(bank, bank.own, false);
  }
}

bool HomeCache::wake_one(Bank& bank, TransactionQueue& queue, bool remote) {
  if (queue.empty()) return false;
  Transaction* t = queue.front();
  Transaction* following = t->next;
  const Cycle now = partition_.now();
  const Cycle extra = std::max(now, bank.port_free) - now;
  const Outcome outcome = act(bank, t, remote, extra);
  if (outcome == Outcome::Stall) return false;
  pass_port(bank, now);
  // A kept request of another device is linked elsewhere by now; put its place in the queue right before taking it.
  queue.replace_front(following);
  if (outcome == Outcome::Kept && !remote) {
    if (t->kind == TransactionKind::Write) client_.stores_ordered(t->cu, t->line.page(), 1);
    release(bank);
    partition_.pool().give(t);
    return true;
  }
  finish(bank, t, remote, outcome, extra);
  return true;
}

void HomeCache::dram_has_room() {
  room_ = true;
  if (waking_) return;
  waking_ = true;
  while (room_) {
    room_ = false;
    for (Bank& bank : banks_) wake(bank);
    if (flushing_) continue_flush();
  }
  waking_ = false;
}

void HomeCache::flush() {
  flushing_ = true;
  flush_bank_ = 0;
  flush_slot_ = 0;
  continue_flush();
}

void HomeCache::continue_flush() {
  for (; flush_bank_ < banks_.size(); ++flush_bank_, flush_slot_ = 0) {
    Bank& bank = banks_[flush_bank_];
    for (; bank.dirty != 0 && flush_slot_ < bank.tags.slots(); ++flush_slot_) {
      if (!bank.tags.valid(flush_slot_) || (bank.tags.state(flush_slot_) & kDirty) == 0) continue;
      const PhysLine line = line_of(bank, flush_slot_);
      if (!dram_->can_write(line)) return;
      bank.tags.state(flush_slot_) &= static_cast<std::uint8_t>(~kDirty);
      --bank.dirty;
      ++stats_.flushed_lines;
      if (oracle_ != nullptr) oracle_->memory_written(line, bank.versions[flush_slot_]);
      dram_->write(line);
    }
  }
  flushing_ = false;
  client_.flushed();
}

bool HomeCache::page_pending(PhysPage page) {
  for (unsigned i = 0; i < kPageBytes / line_bytes_; ++i) {
    const PhysLine line{page, i};
    if (bank_of(line).mshrs.find(line) != nullptr) return true;
  }
  return false;
}

void HomeCache::write_back_page(PhysPage page, bool leaves) {
  for (unsigned i = 0; i < kPageBytes / line_bytes_; ++i) {
    const PhysLine line{page, i};
    Bank& bank = bank_of(line);
    const TagArray::Slot slot = bank.tags.find(key(line));
    if (slot == TagArray::kNone) continue;
    if ((bank.tags.state(slot) & kDirty) != 0) {
      bank.tags.state(slot) &= static_cast<std::uint8_t>(~kDirty);
      --bank.dirty;
      ++stats_.write_backs;
      if (oracle_ != nullptr) oracle_->memory_written(line, bank.versions[slot]);
      dram_->write(line);
    }
    if (leaves) bank.tags.invalidate(slot);
  }
}

std::uint64_t HomeCache::pending() const {
  std::uint64_t sum = 0;
  for (const Bank& bank : banks_) sum += bank.mshrs.used() + bank.own.size() + bank.remote.size() + bank.reserved;
  return sum;
}

std::string HomeCache::describe_waiting() const {
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
