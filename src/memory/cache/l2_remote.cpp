// The L2 cache as a cache of lines at home in other GPUs. Unless stores are kept (l2_remote_write_back.cpp) valid
// copies are always clean: stores update them and go on to the home, and a copy that is replaced leaves silently. A
// fill under way is poisoned when something makes it old before it comes: a store or an atomic of this GPU, an acquire,
// a page that leaves. It then answers who waits, is not kept, and takes no more loads; the next load asks the home
// again, behind whatever made the first one old.
#include <algorithm>
#include <bit>

#include "memory/cache/l2_cache.h"
#include "memory/cache/request_latency.h"

namespace nearfar {

void RemoteLineStats::describe(StatVisitor& visitor) {
  visitor.counter("reads", "lines", "Reads of lines at home in other GPUs that reached this L2.", reads);
  visitor.counter("read_hits", "lines", "Reads of lines at home in other GPUs that this L2 held.", read_hits);
  visitor.counter("merges", "lines",
                  "Reads that merged with a pending read of their line from its home in another GPU.", merges);
  visitor.counter(
      "writes", "lines",
      "Writes to lines at home in other GPUs, all of which went on to the home unless `remote_write` is back.", writes);
  visitor.counter("write_hits", "lines", "Writes to lines at home in other GPUs that updated a copy in this L2.",
                  write_hits);
  visitor.counter("write_allocations", "lines",
                  "Copies of lines at home in other GPUs that writes allocated in this L2: of whole lines, or with "
                  "`remote_write` back any.",
                  write_allocations);
  visitor.counter("fetches", "lines",
                  "Reads of lines at home in other GPUs by this L2 itself, behind a store to part of the line "
                  "(`remote_write_miss: fetch`).",
                  fetches);
  visitor.counter("atomics", "lines", "Atomics on lines at home in other GPUs, which the home performs.", atomics);
  visitor.counter("fills", "lines", "Lines that came from their home in another GPU and were kept in this L2.", fills);
  visitor.counter("poisoned_fills", "lines",
                  "Lines that came from their home in another GPU and were not kept, since they had become old on the "
                  "way.",
                  poisoned_fills);
  visitor.counter("evictions", "lines",
                  "Copies of lines at home in other GPUs that this L2 evicted in favour of other lines, silently where "
                  "it held nothing that the home did not have.",
                  evictions);
  visitor.counter("dropped", "lines",
                  "Copies of lines at home in other GPUs that this L2 dropped at kernel boundaries, at fences and when "
                  "their page migrates.",
                  dropped);
}

void InvalidationStats::describe(StatVisitor& visitor) {
  visitor.counter(
      "hit_write", "lines",
      "Lines of invalidations that the L2 of a sharer held, and that another GPU or their home had written.",
      hit_write);
  visitor.counter("hit_eviction", "lines",
                  "Lines of invalidations that the L2 of a sharer held, and whose directory entry was replaced: the "
                  "copies were still right, and dropping each was unnecessary.",
                  hit_eviction);
  visitor.counter("hit_collateral", "lines",
                  "Lines of invalidations that the L2 of a sharer held, and that share a directory entry with a line "
                  "that was written.",
                  hit_collateral);
  visitor.counter("pending_write", "lines",
                  "Lines of invalidations that were under way to the L2 of a sharer, and had been written.",
                  pending_write);
  visitor.counter("pending_eviction", "lines",
                  "Lines of invalidations that were under way to the L2 of a sharer, and whose directory entry was "
                  "replaced.",
                  pending_eviction);
  visitor.counter("pending_collateral", "lines",
                  "Lines of invalidations that were under way to the L2 of a sharer, and that share a directory entry "
                  "with a line that was written.",
                  pending_collateral);
  visitor.counter("miss_write", "lines",
                  "Lines of invalidations of written lines that the L2 of a sharer did not hold.", miss_write);
  visitor.counter("miss_eviction", "lines",
                  "Lines of invalidations of replaced directory entries that the L2 of a sharer did not hold.",
                  miss_eviction);
  visitor.counter(
      "miss_collateral", "lines",
      "Lines of invalidations that the L2 of a sharer did not hold, and that share a directory entry with a "
      "line that was written.",
      miss_collateral);
}

void L2Cache::route_remote(const RemoteLines& remote) {
  remote_ = remote;
  if (!remote_.cached) return;
  if (remote_.largest_memory != 0) map_ = L2AddressMap(spec_, remote_.largest_memory, line_bytes_);
  // Tags now say at home in which device a line is.
  const std::uint64_t sets = spec_.size / line_bytes_ / spec_.ways / spec_.banks;
  lookups_.start(remote_.host.value);
  for (Bank& bank : banks_) {
    bank.tags = TagArray(sets, spec_.ways, spec_.index, spec_.replacement, map_.keys_of_devices(remote_.host));
    if (watch_ != nullptr) bank.remote_images.resize(bank.tags.slots());
    if (remote_.written_back) bank.changed.resize(bank.tags.slots());
  }
}

L2Cache::Outcome L2Cache::act_on_remote_line(Bank& bank, const LineRequest& request, bool whole) {
  switch (request.kind) {
    case RequestKind::Write:
      return remote_.written_back ? keep_store(bank, request, whole) : write_remote_line(bank, request, whole);
    case RequestKind::Atomic: return atomic_on_remote_line(bank, request);
    default: return read_remote_line(bank, request);
  }
}

/// Takes room on the way to the home of a line. Where there is none, the bank is woken when there is.
bool L2Cache::reserve_link(Bank& bank, PhysLine line) {
  if (bank.waits_for_link) return false;
  if (remote_.home->reserve(line, static_cast<Waiter>(kBankWaiter + bank.index))) return true;
  bank.waits_for_link = true;
  return false;
}

void L2Cache::remote_has_room(Waiter waiter) {
  Bank& bank = banks_[waiter - kBankWaiter];
  bank.waits_for_link = false;
  wake(bank);
}

L2Cache::Outcome L2Cache::read_remote_line(Bank& bank, const LineRequest& request) {
  if (remote_coverage_ != nullptr) cover_remote(bank, request.line, RemoteLineEvent::Load);
  const TagArray::Slot slot = bank.tags.find(remote_key(request.line));
  const bool in_part = slot != TagArray::kNone && (bank.tags.state(slot) & kPart) != 0;
  if (slot != TagArray::kNone && !in_part) {
    ++remote_stats_.reads;
    ++remote_stats_.read_hits;
    lookups_.hit(request, false);
    bank.tags.touch(slot);
    if (watch_ != nullptr) watch_->l2_served(request.record, request.line, bank.remote_images[slot].image);
    return Outcome::Hit;
  }
  Mshrs::Entry* pending = bank.mshrs.find(request.line);
  if (in_part) {
    // The home is to put the line together: it gets what has been stored, and the read comes behind it.
    if (pending != nullptr && pending->payload.again) return Outcome::Stall;
    if (bank.own_mshrs >= mshr_limit_ || !reserve_link(bank, request.line)) return Outcome::Stall;
    ++write_back_stats_.before_reads;
    lookups_.departed(request.line, Departure::Dropped);
    write_home(bank, slot);
    ++remote_stats_.reads;
    lookups_.miss(request, false);
    fill_ = ask_home(bank, request.line, pending);
    return Outcome::Forwarded;
  }
  if (pending != nullptr) {
    Pending& fill = pending->payload;
    const bool first = !fill.again && !fill.poisoned;
    if (first || (fill.again && !fill.again_poisoned)) {
      ++remote_stats_.reads;
      ++remote_stats_.merges;
      lookups_.merge(request, false);
      if (watch_ != nullptr) watch_->l2_merged(request.record, request.line);
      LineRequest* waiting = part(request, std::uint64_t{1} << request.line.index());
      (first ? fill.waiting : fill.waiting_again).push(waiting);
      fill_ = first ? fill.fill : fill.fill ^ 1;
      return Outcome::Merged;
    }
    if (fill.again) return Outcome::Stall;  // until the first of two old fills has come
  }
  if (bank.own_mshrs >= mshr_limit_ || !reserve_link(bank, request.line)) return Outcome::Stall;
  ++remote_stats_.reads;
  lookups_.miss(request, false);
  fill_ = ask_home(bank, request.line, pending);
  return Outcome::Forwarded;
}

/// Takes an MSHR for a line, of which an old fill may be `pending`. The name of the fill that the home is asked for.
std::uint8_t L2Cache::ask_home(Bank& bank, PhysLine line, Mshrs::Entry* pending) {
  ++bank.own_mshrs;
  if (watch_ != nullptr) watch_->l2_fill_issued(line);
  if (pending == nullptr) return bank.mshrs.allocate(line).payload.fill;
  pending->payload.again = true;
  return pending->payload.fill ^ 1;
}

L2Cache::Outcome L2Cache::write_remote_line(Bank& bank, const LineRequest& request, bool whole) {
  if (remote_coverage_ != nullptr) {
    cover_remote(bank, request.line, whole ? RemoteLineEvent::StoreWhole : RemoteLineEvent::StorePart);
  }
  if (bank.waits_for_link && !bank.tags.victims_differ()) return Outcome::Stall;  // whatever the tags say
  TagArray::Slot slot = bank.tags.find(remote_key(request.line));
  const bool misses = slot == TagArray::kNone && whole;
  const TagArray::Slot victim = misses ? bank.tags.victim(remote_key(request.line)) : slot;
  const bool allocates = misses && victim != TagArray::kNone;  // all ways may be reserved: then nothing is kept
  if (allocates) {
    const bool dirty = bank.tags.valid(victim) && (bank.tags.state(victim) & kDirty) != 0;
    if (dirty && !dram_->can_write(line_of(bank, victim))) return Outcome::Stall;
  }
  if (!reserve_link(bank, request.line)) return Outcome::Stall;
  ++remote_stats_.writes;
  slot == TagArray::kNone ? lookups_.miss(request, false) : lookups_.hit(request, false);
  poison(bank, request.line);
  if (allocates) {
    ++remote_stats_.write_allocations;
    slot = victim;
    install_remote_line(bank, slot, request.line);
    if (watch_ != nullptr) bank.remote_images[slot] = {DataWatch::undefined(), {}};
  } else if (slot != TagArray::kNone) {
    ++remote_stats_.write_hits;
    bank.tags.touch(slot);
  }
  if (watch_ != nullptr) {
    watch_->l2_stores(request.record, request.line, slot == TagArray::kNone ? nullptr : &bank.remote_images[slot]);
  }
  if (remote_.fetches && slot == TagArray::kNone) fetch_remote_line(bank, request);
  return Outcome::Forwarded;
}

/// Reads the line behind a store to part of it, where there is an MSHR: nobody waits for it yet.
void L2Cache::fetch_remote_line(Bank& bank, const LineRequest& store) {
  Mshrs::Entry* pending = bank.mshrs.find(store.line);
  if (bank.own_mshrs >= mshr_limit_ || (pending != nullptr && pending->payload.again)) return;
  ++remote_stats_.fetches;
  remote_.home->reserve_always(store.line);
  auto* fetch = static_cast<LineRequest*>(partition_.pool().allocate<LoadRequest>());
  fetch->kind = RequestKind::Fetch;
  fetch->origin = partition_.device().value;
  fetch->line = store.line;
  fetch->mask = std::uint64_t{1} << store.line.index();
  fetch->fill = ask_home(bank, store.line, pending);
  if (watch_ != nullptr) fetch->record = watch_->l2_fetches(store.record, store.line);
  fetches_.push(fetch);
}

L2Cache::Outcome L2Cache::atomic_on_remote_line(Bank& bank, const LineRequest& request) {
  if (remote_coverage_ != nullptr) cover_remote(bank, request.line, RemoteLineEvent::Atomic);
  if (!reserve_link(bank, request.line)) return Outcome::Stall;
  ++remote_stats_.atomics;
  poison(bank, request.line);
  const TagArray::Slot slot = bank.tags.find(remote_key(request.line));
  slot == TagArray::kNone ? lookups_.miss(request, false) : lookups_.hit(request, false);
  if (slot != TagArray::kNone) {
    lookups_.departed(request.line, Departure::Dropped);
    if ((bank.tags.state(slot) & kChanged) != 0) {
      ++write_back_stats_.before_atomics;
      write_home(bank, slot);
    } else {
      invalidate_remote_line(bank, slot);
    }
  }
  if (watch_ != nullptr) watch_->l2_stores(request.record, request.line, nullptr);
  return Outcome::Forwarded;
}

void L2Cache::install_remote_line(Bank& bank, TagArray::Slot slot, PhysLine line) {
  make_room(bank, slot);
  bank.tags.fill(slot, remote_key(line));
  bank.tags.state(slot) = kRemote;
  lookups_.kept(line);
}

void L2Cache::invalidate_remote_line(Bank& bank, TagArray::Slot slot) {
  bank.tags.invalidate(slot);
  bank.tags.state(slot) = 0;
  if (watch_ != nullptr) bank.remote_images[slot].pending.clear();
}

void L2Cache::poison(Pending& pending) {
  if (pending.again) {
    pending.again_poisoned = true;
  } else {
    pending.poisoned = true;
  }
}

void L2Cache::poison(Bank& bank, PhysLine line) {
  if (Mshrs::Entry* pending = bank.mshrs.find(line)) poison(pending->payload);
}

/// Requests leave for their homes in the order in which their lines were looked up: a load must not pass a store.
void L2Cache::forward(LineRequest* request, Cycle due) {
  const Cycle now = partition_.now();
  last_forward_ = std::max(last_forward_, now + due);
  if (counts_latency(*request)) {
    const std::uint64_t lines = request->lines();
    const std::uint64_t waited = since_stage_start(now, *request);
    latency_.home += lines * tag_latency_;
    latency_.home_wait += lines * (waited + last_forward_ - now - tag_latency_);
  }
  partition_.schedule(request, forward_handler_, last_forward_);
}

void L2Cache::on_forward(LineRequest* request) {
  request->stage_start = static_cast<std::uint32_t>(partition_.now());
  remote_.home->request(request);
}

void L2Cache::remote_reply(LineRequest* reply) {
  const PhysPage page = reply->line.page();
  if (reply->kind != RequestKind::Atomic && !passes(page.device())) {
    for (std::uint64_t rest = reply->mask; rest != 0; rest &= rest - 1) {
      reply->line = PhysLine{page, static_cast<unsigned>(std::countr_zero(rest))};
      fill_remote_line(bank_of(reply->line), *reply);
    }
  }
  if (reply->kind == RequestKind::Fetch) {
    partition_.pool().release(reply);
  } else {
    client_.lines_served(reply);
  }
}

/// A line has come from its home: it is kept unless it has become old, and answers who waits for it. Of two fills the
/// second may come first.
void L2Cache::fill_remote_line(Bank& bank, const LineRequest& reply) {
  if (remote_coverage_ != nullptr) cover_remote(bank, reply.line, RemoteLineEvent::Fill);
  Mshrs::Entry* entry = bank.mshrs.find(reply.line);
  Pending& pending = entry->payload;
  --bank.own_mshrs;
  const bool first = reply.fill == pending.fill;
  const bool poisoned = first ? pending.poisoned : pending.again_poisoned;
  LineImage image;
  if (watch_ != nullptr) image = watch_->l2_filled(reply.record, reply.line, reply.kind == RequestKind::Fetch);
  if (timeline_ != nullptr) timeline_->filled(bank.index, reply.line, reply.fill, poisoned);
  // A way is never reserved for a remote line: who waits for a home must not keep others from theirs. So all may be
  // reserved for lines of this device's memory, and then it is not kept.
  const TagArray::Slot held = poisoned ? TagArray::kNone : bank.tags.find(remote_key(reply.line));
  const TagArray::Slot slot =
      poisoned || held != TagArray::kNone ? TagArray::kNone : bank.tags.victim(remote_key(reply.line));
  if (poisoned) ++remote_stats_.poisoned_fills;
  if (held != TagArray::kNone) complete(bank, held, image);  // stores have come before it, and are kept
  if (slot != TagArray::kNone) {
    ++remote_stats_.fills;
    install_remote_line(bank, slot, reply.line);
    if (watch_ != nullptr) bank.remote_images[slot] = {image, {}};
  }
  LineRequestQueue waiting = first ? pending.waiting : pending.waiting_again;
  if (!pending.again) {
    bank.mshrs.release(*entry);
  } else {
    if (first) {
      pending.waiting = pending.waiting_again;
      pending.poisoned = pending.again_poisoned;
      pending.fill ^= 1;
    }
    pending.waiting_again = {};
    pending.again = pending.again_poisoned = false;
  }
  while (!waiting.empty()) {
    LineRequest* merged = waiting.pop();
    if (counts_latency(*merged)) latency_.merge += since_stage_start(partition_.now(), *merged);
    if (watch_ != nullptr) watch_->l2_served(merged->record, merged->line, image);
    client_.lines_served(merged);
  }
  wake(bank);
}

void L2Cache::stores_acknowledged(const LineRequest& reply) {
  if (watch_ == nullptr || passes(reply.line.device())) return;
  for (std::uint64_t rest = reply.mask; rest != 0; rest &= rest - 1) {
    const PhysLine line{reply.line.page(), static_cast<unsigned>(std::countr_zero(rest))};
    Bank& bank = bank_of(line);
    const TagArray::Slot slot = bank.tags.find(remote_key(line));
    if (slot != TagArray::kNone) watch_->l2_store_ordered(reply.record, line, bank.remote_images[slot]);
  }
}

void L2Cache::drop_remote_lines() {
  if (!remote_.cached || remote_.tracked) return;
  for (Bank& bank : banks_) {
    for (TagArray::Slot slot = bank.tags.find_state(0, kRemote); slot != bank.tags.slots();
         slot = bank.tags.find_state(slot + 1, kRemote)) {
      if (remote_coverage_ != nullptr) cover_remote(bank, line_of(bank, slot), RemoteLineEvent::Acquire);
      if ((bank.tags.state(slot) & kChanged) != 0) {
        if (bank.changed[slot] == whole_line_) continue;
        bank.tags.state(slot) |= kPart;
        if (watch_ != nullptr) watch_->l2_keeps_changed(bank.remote_images[slot], bank.changed[slot]);
        continue;
      }
      ++remote_stats_.dropped;
      lookups_.departed(line_of(bank, slot), Departure::Dropped);
      if (timeline_ != nullptr) timeline_->dropped(line_of(bank, slot));
      invalidate_remote_line(bank, slot);
    }
    bank.mshrs.for_each([&](Mshrs::Entry& entry) {
      if (entry.line.device() == partition_.device()) return;
      if (remote_coverage_ != nullptr) cover_remote(bank, entry.line, RemoteLineEvent::Acquire);
      poison(entry.payload);
    });
  }
}

void L2Cache::drop_remote_lines(PhysPage page) {
  if (page.device() == partition_.device() || passes(page.device())) return;
  for (unsigned index = 0; index < kPageBytes / line_bytes_; ++index) {
    const PhysLine line{page, index};
    Bank& bank = bank_of(line);
    if (remote_coverage_ != nullptr) cover_remote(bank, line, RemoteLineEvent::Drop);
    poison(bank, line);
    const TagArray::Slot slot = bank.tags.find(remote_key(line));
    if (slot == TagArray::kNone) continue;
    ++remote_stats_.dropped;
    lookups_.departed(line, Departure::Dropped);
    if (timeline_ != nullptr) timeline_->dropped(line);
    invalidate_remote_line(bank, slot);
  }
}

void L2Cache::prefetch_remote_lines(PhysPage page, std::uint64_t lines) const {
  for (; lines != 0; lines &= lines - 1) {
    const PhysLine line{page, static_cast<unsigned>(std::countr_zero(lines))};
    banks_[map_.bank_of(line)].tags.prefetch(remote_key(line));
  }
}

void L2Cache::invalidate_remote_lines(PhysPage page, std::uint64_t lines, std::uint64_t written, bool evicted) {
  if (timeline_ != nullptr) timeline_->invalidated(page, lines, page.device());
  for (std::uint64_t rest = lines; rest != 0; rest &= rest - 1) {
    const std::uint64_t line = rest & -rest;
    const PhysLine which{page, static_cast<unsigned>(std::countr_zero(line))};
    invalidate_remote_line(bank_of(which), which, (line & written) != 0, evicted);
  }
}

/// It takes a turn at the tags. What is under way is not kept either: it may be older than the write.
void L2Cache::invalidate_remote_line(Bank& bank, PhysLine line, bool necessary, bool evicted) {
  if (remote_coverage_ != nullptr) cover_remote(bank, line, RemoteLineEvent::Invalidation);
  bank.port_free = std::max(bank.port_free, partition_.now()) + 1;
  InvalidationStats& stats = invalidation_stats_;
  const TagArray::Slot slot = bank.tags.find(remote_key(line));
  Mshrs::Entry* pending = bank.mshrs.find(line);
  const auto count = [&](std::uint64_t& write, std::uint64_t& eviction, std::uint64_t& collateral) {
    ++(evicted ? eviction : necessary ? write : collateral);
  };
  if (slot != TagArray::kNone) {
    count(stats.hit_write, stats.hit_eviction, stats.hit_collateral);
    invalidate_remote_line(bank, slot);
  } else if (pending != nullptr) {
    count(stats.pending_write, stats.pending_eviction, stats.pending_collateral);
  } else {
    count(stats.miss_write, stats.miss_eviction, stats.miss_collateral);
    return;
  }
  if (pending != nullptr) poison(pending->payload);
  lookups_.departed(line, evicted ? Departure::EvictionInvalidation : Departure::WriteInvalidation);
}

}  // namespace nearfar
