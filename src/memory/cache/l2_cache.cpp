#include "memory/cache/l2_cache.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "memory/cache/request_latency.h"

namespace nearfar {

void L2Stats::describe(StatVisitor& visitor) {
  visitor.counter("reads", "lines",
                  "Reads of lines at home in this device that reached its L2 or last-level cache, from the device "
                  "itself and from others.",
                  reads);
  visitor.counter("read_hits", "lines", "Reads of lines at home in this device that hit in its L2 or last-level cache.",
                  read_hits);
  visitor.counter("merges", "lines", "Requests that merged with a pending read of their line from memory.", merges);
  visitor.counter("writes", "lines",
                  "Writes to lines at home in this device that reached its L2 or last-level cache, from the device "
                  "itself and from others.",
                  writes);
  visitor.counter("write_hits", "lines",
                  "Writes to lines at home in this device that hit in its L2 or last-level cache.", write_hits);
  visitor.counter("atomics", "lines",
                  "Atomics that the L2 or last-level cache performed on lines at home in this device.", atomics);
  visitor.counter("remote_requests", "lines", "Requests for lines at home in this device that came from other devices.",
                  remote_requests);
  visitor.counter("evictions", "lines", "Lines that the L2 or last-level cache evicted in favour of others.",
                  evictions);
  visitor.counter("write_backs", "lines",
                  "Dirty lines that the L2 or last-level cache wrote to memory when it evicted them.", write_backs);
  visitor.counter("flushed_lines", "lines",
                  "Dirty lines that the L2 or last-level cache wrote to memory at kernel ends.", flushed_lines);
  visitor.counter("port_wait_cycles", "cycles",
                  "Time that requests waited for the tag port of their bank, summed over requests.", port_wait_cycles);
  visitor.counter("stalled_requests", "lines",
                  "Requests that waited at their bank for a free MSHR, for a way that is not reserved, or for memory.",
                  stalled_requests);
}

L2Cache::L2Cache(Partition& partition, const L2Spec& spec, const DramSpec& dram, std::uint64_t line_bytes,
                 std::uint64_t clock_hertz, L2Client& client, ByteMaskPool& masks, DataWatch* watch)
    : partition_(partition),
      client_(client),
      masks_(masks),
      watch_(watch),
      dram_(make_dram(partition, dram, line_bytes, clock_hertz, *this)),
      spec_(spec),
      map_(spec, dram.capacity, line_bytes),
      tag_latency_(spec.tag_latency),
      remote_tag_latency_(spec.remote_lookup ? spec.tag_latency : 0),
      data_latency_(spec.data_latency),
      queue_(spec.queue),
      mshr_limit_(spec.mshrs),
      remote_mshr_limit_(spec.remote_mshrs),
      line_bytes_(line_bytes),
      whole_line_(ByteMask::all(static_cast<unsigned>(line_bytes))),
      hit_handler_(partition.add_handler<&L2Cache::on_hit>(this)),
      fill_handler_(partition.add_handler<&L2Cache::on_fill>(this)),
      forward_handler_(partition.add_handler<&L2Cache::on_forward>(this)) {
  const std::uint64_t sets = spec.size / line_bytes / spec.ways / spec.banks;
  banks_.reserve(spec.banks);
  for (std::uint32_t b = 0; b < spec.banks; ++b) {
    Bank& bank = banks_.emplace_back(Bank{.tags = TagArray(sets, spec.ways, spec.index, spec.replacement, map_.keys()),
                                          .mshrs = Mshrs(spec.mshrs + spec.remote_mshrs),
                                          .own = {},
                                          .remote = {},
                                          .index = b,
                                          .waiters = {},
                                          .images = {},
                                          .remote_images = {},
                                          .changed = {}});
    if (watch_ != nullptr) bank.images.resize(bank.tags.slots());
  }
}

Cycle L2Cache::pass_port(Bank& bank, Cycle arrival) {
  const Cycle start = std::max(arrival, bank.port_free);
  bank.port_free = start + 1;
  stats_.port_wait_cycles += start - arrival;
  return start;
}

void L2Cache::remote_request(LineRequest* request, Spacing spacing) {
  const std::uint64_t lines = request->lines();
  stats_.remote_requests += lines;
  if (counts_latency(*request)) latency_.request_link += lines * since_stage_start(partition_.now(), *request);
  request->stage_start = static_cast<std::uint32_t>(partition_.now());
  serve(request, true, spacing);
}

/// The lines of a group act, one after another; then what they have come to is sent on its way.
void L2Cache::serve(LineRequest* group, bool remote, Spacing arrivals) {
  const Cycle now = partition_.now();
  const PhysPage page = group->line.page();
  Results results;
  results.lookup = lookup_latency(remote);
  if (remote && !group->one_line()) results.spacing = client_.reply_spacing(*group);
  std::uint32_t acted = 0;
  unsigned i = 0;
  for (std::uint64_t rest = group->mask; rest != 0; rest &= rest - 1, ++i) {
    group->line = PhysLine{page, static_cast<unsigned>(std::countr_zero(rest))};
    const bool whole = writes_whole(*group, i == 0, (rest & (rest - 1)) == 0);
    Bank& bank = bank_of(group->line);
    LineRequestQueue& queue = remote ? bank.remote : bank.own;
    if (queue.empty()) {
      const Cycle extra = pass_port(bank, now + arrivals.at(i)) - now;
      lookup_ends_ = extra + results.lookup;
      const Outcome outcome = act(bank, *group, remote, whole);
      if (outcome != Outcome::Stall) [[likely]] {
        ++acted;
        if (lookups_.on()) lookups_.time(*group, lookup_ends_ - arrivals.at(i));
        if (!remote) release(bank);
        if (timeline_ != nullptr) trace(bank, *group, outcome, extra);
        note(*group, outcome, extra, results);
        continue;
      }
    }
    if (coverage_ != nullptr) cover_wait(bank, *group, remote, whole);
    ++stats_.stalled_requests;
    if (group->one_line()) {
      queue.push(group);
      return;
    }
    queue.push(part_with_masks(*group, rest & -rest));
  }
  if (remote && acted != 0) client_.requests_taken(*group, acted);
  settle(group, remote, results);
}

/// Whether a store writes all bytes of a line, which is the first or the last of its group, or both, or neither.
bool L2Cache::writes_whole(const LineRequest& request, bool first, bool last) const {
  if (request.kind != RequestKind::Write) return false;
  const ByteMasksId id = as_store(request).masks;
  if (id == 0) return true;
  const EdgeMasks& masks = masks_.at(id);
  if (first) return masks.first == whole_line_;
  return !last || masks.last == whole_line_;
}

/// The bytes of its line that a store writes.
const ByteMask& L2Cache::bytes_written(const LineRequest& store) const {
  const ByteMasksId id = as_store(store).masks;
  if (id == 0) return whole_line_;
  const std::uint64_t line = std::uint64_t{1} << store.line.index();
  if (line == (store.mask & -store.mask)) return masks_.at(id).first;
  return line == std::bit_floor(store.mask) ? masks_.at(id).last : whole_line_;
}

/// Takes down what the line of a request has come to, `extra` cycles from now.
void L2Cache::note(const LineRequest& request, Outcome outcome, Cycle extra, Results& results) {
  const std::uint64_t line = std::uint64_t{1} << request.line.index();
  if (outcome == Outcome::Hit) {
    results.hits.add(line, extra + results.lookup + data_latency_, results.spacing);
    return;
  }
  if (outcome == Outcome::Forwarded) {
    results.forwarded[request.writes() ? 0 : fill_].add(line, extra + tag_latency_, Spacing());
    return;
  }
  if (request.kind == RequestKind::Write) results.performed.add(line, extra + results.lookup, results.spacing);
  if (outcome == Outcome::Missed) ask_memory(request, extra, results);
}

/// Asks memory for the lines that are still to be asked for. True where that is all there is to a group.
bool L2Cache::settle_misses(LineRequest* group, Results& results) {
  const bool all = results.missing.mask == group->mask && group->kind != RequestKind::Write;
  send_missing(all ? group : part(*group, results.missing.mask), results);
  return all;
}

/// Sends what the lines of a group have come to on its way, and takes the group.
void L2Cache::settle(LineRequest* group, bool remote, Results& results) {
  if (results.missing.mask != 0 && settle_misses(group, results)) return;
  const Batch& performed = results.performed;
  if (performed.mask != 0) {
    if (remote) {
      client_.answer(part(*group, performed.mask), performed.due);
    } else {
      // A store that is kept is acknowledged when it has been written back.
      const bool kept = group->line.device() != partition_.device();
      if (watch_ != nullptr && !kept) watch_->stores_acknowledged(group->record, performed.mask);
      if (timeline_ != nullptr) timeline_->stores_ordered(*group, performed.mask);
      client_.stores_ordered(group->unit, group->line.page(), performed.count());
    }
  }
  for (std::uint8_t fill = 0; fill < results.forwarded.size(); ++fill) {
    const Batch& forwarded = results.forwarded[fill];
    if (forwarded.mask == 0) continue;
    LineRequest* lines = part_with_masks(*group, forwarded.mask);
    lines->fill = fill;
    forward(lines, forwarded.due);
  }
  while (!fetches_.empty()) forward(fetches_.pop(), results.forwarded[0].due);
  const Batch& hits = results.hits;
  if (hits.mask == 0) {
    discard(group);
    return;
  }
  group->mask = hits.mask;
  if (counts_latency(*group)) {
    const Cycle lookup = results.lookup + data_latency_;
    latency_.home += hits.count() * lookup;
    latency_.home_wait += hits.count() * (since_stage_start(partition_.now(), *group) + hits.due - lookup);
  }
  if (remote) {
    client_.answer(group, hits.due);
  } else {
    partition_.schedule(group, hit_handler_, partition_.now() + hits.due);
  }
}

/// Some lines of a request, as one of their own; what a store writes of them is known already.
LineRequest* L2Cache::part(const LineRequest& request, std::uint64_t mask) {
  LineRequest* lines = partition_.pool().copy(request);
  lines->mask = mask;
  if (lines->kind == RequestKind::Write) as_store(*lines).masks = 0;
  return lines;
}

/// The same with the bytes that a store writes in them.
LineRequest* L2Cache::part_with_masks(const LineRequest& group, std::uint64_t mask) {
  LineRequest* lines = part(group, mask);
  if (group.kind != RequestKind::Write || as_store(group).masks == 0) return lines;
  const EdgeMasks& edges = masks_.at(as_store(group).masks);
  const std::uint64_t first = group.mask & -group.mask;
  const std::uint64_t last = std::bit_floor(group.mask);
  const auto of = [&](std::uint64_t line) {
    if (line == first) return edges.first;
    return line == last ? edges.last : whole_line_;
  };
  const EdgeMasks kept{of(mask & -mask), of(std::bit_floor(mask))};
  if (kept.first == whole_line_ && kept.last == whole_line_) return lines;
  as_store(*lines).masks = masks_.allocate(partition_.device(), kept);
  return lines;
}

void L2Cache::on_hit(LineRequest* request) { client_.lines_served(request); }

/// The line in a slot leaves: to memory if it is dirty.
void L2Cache::evict(Bank& bank, TagArray::Slot slot) {
  if (timeline_ != nullptr) trace_eviction(bank, slot);
  if ((bank.tags.state(slot) & kRemote) != 0) {
    ++remote_stats_.evictions;
    if (remote_coverage_ != nullptr) cover_remote(bank, line_of(bank, slot), RemoteLineEvent::Replacement);
    if ((bank.tags.state(slot) & kChanged) != 0) {
      ++write_back_stats_.evicted;
      write_home(bank, slot);
    } else {
      invalidate_remote_line(bank, slot);
    }
    return;
  }
  ++stats_.evictions;
  if (coverage_ != nullptr) coverage_->count(state_of(bank, line_of(bank, slot)), L2Event::Replacement);
  const bool dirty = (bank.tags.state(slot) & kDirty) != 0;
  const bool named = dirty || follows_pages_ || watch_ != nullptr;
  const PhysLine victim = named ? line_of(bank, slot) : PhysLine{};
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

/// `victim: at_miss`: the victim of a miss to memory leaves, and its way stays reserved for the line. False where all
/// ways of the set are reserved, or memory has no room for a dirty victim.
bool L2Cache::reserve_way(Bank& bank, const TagArray::Place& place) {
  const TagArray::Slot slot = bank.tags.victim(place);
  if (slot == TagArray::kNone) return false;
  const bool dirty = bank.tags.valid(slot) && (bank.tags.state(slot) & kDirty) != 0;
  if (dirty && !dram_->can_write(line_of(bank, slot))) return false;
  make_room(bank, slot);
  bank.tags.reserve(slot);
  return true;
}

void L2Cache::release(Bank& bank) {
  --bank.reserved;
  // Who is woken may lack something else by now: then the next one has the room.
  while (!bank.waiters.empty() && bank.reserved < queue_) client_.l2_has_room(bank.waiters.pop());
}

/// Lets waiting requests of a bank act, other devices' and the device's own in turn, until neither can. With all its
/// MSHRs taken a queue is not even tried: the next fill frees one and comes here again.
void L2Cache::wake(Bank& bank) {
  bool moved = true;
  while (moved) {
    moved = !bank.remote.empty() && bank.remote_mshrs < remote_mshr_limit_ && wake_one(bank, bank.remote, true);
    moved |= !bank.own.empty() && bank.own_mshrs < mshr_limit_ && wake_one(bank, bank.own, false);
  }
}

bool L2Cache::wake_one(Bank& bank, LineRequestQueue& queue, bool remote) {
  LineRequest* request = queue.front();
  const Cycle now = partition_.now();
  lookup_ends_ = std::max(now, bank.port_free) - now + lookup_latency(remote);
  const Outcome outcome = act(bank, *request, remote, writes_whole(*request, true, true));
  if (outcome == Outcome::Stall) return false;
  if (lookups_.on()) lookups_.time(*request, since_stage_start(now, *request) + lookup_ends_);
  queue.pop();
  if (remote) {
    client_.requests_taken(*request, 1);
  } else {
    release(bank);
  }
  Results results;
  results.lookup = lookup_latency(remote);
  const Cycle extra = pass_port(bank, now) - now;
  if (timeline_ != nullptr) trace(bank, *request, outcome, extra);
  note(*request, outcome, extra, results);
  settle(request, remote, results);
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
    if (other_writer_ != nullptr) other_writer_->dram_has_room();
  }
  waking_ = false;
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
    const LineRequest* oldest = !bank.own.empty() ? bank.own.front() : bank.remote.front();
    if (oldest != nullptr) text += fmt::format(" (oldest since cycle {})", oldest->stage_start);
    text += '\n';
  }
  const std::uint64_t leaving = on_the_way_home_[0] + on_the_way_home_[1];
  if (leaving != 0) text += fmt::format("  {} lines are being written back to other devices\n", leaving);
  return text;
}

}  // namespace nearfar
