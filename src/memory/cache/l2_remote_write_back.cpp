// The L2 cache as a write-back cache of lines at home in other devices (`remote_write: back`). A store stays here,
// under a mask of the bytes that it changes; where the line is not held, these bytes alone are. They go to the home as
// one write, and the copy leaves: when it is evicted, when a kernel or a fence of system scope releases what was
// stored, and before a request that only the home can answer, which is an atomic, or a load of a line of which only the
// changed bytes are here. A fill that comes for such a line brings the other bytes. Nobody but this GPU sees a store
// that is kept, so it is ordered at its home with those beside it, when it gets there.
#include <algorithm>
#include <bit>
#include <utility>

#include "memory/cache/l2_cache.h"

namespace nearfar {

void RemoteWriteBackStats::describe(StatVisitor& visitor) {
  visitor.counter("evicted", "lines",
                  "Lines at home in other devices that this L2 wrote back when it evicted them in favour of others.",
                  evicted);
  visitor.counter(
      "released", "lines",
      "Lines at home in other devices that this L2 wrote back at kernel ends and at fences of system scope.", released);
  visitor.counter(
      "before_reads", "lines",
      "Lines at home in other devices of which this L2 held changed bytes alone, and wrote them back before "
      "it read the line.",
      before_reads);
  visitor.counter("before_atomics", "lines",
                  "Lines at home in other devices that this L2 wrote back before an atomic, which the home performs.",
                  before_atomics);
  visitor.counter("bytes", "bytes", "Changed bytes of lines at home in other devices that this L2 wrote back.", bytes);
  visitor.counter(
      "stalls", "lines",
      "Stores that waited, to evict a changed line, until one of those that their bank had written back was "
      "at its home: at most as many as it has MSHRs are on their way for stores.",
      stalls);
}

L2Cache::Outcome L2Cache::keep_store(Bank& bank, const LineRequest& request, bool whole) {
  if (remote_coverage_ != nullptr) {
    cover_remote(bank, request.line, whole ? RemoteLineEvent::StoreWhole : RemoteLineEvent::StorePart);
  }
  TagArray::Slot slot = bank.tags.find(remote_key(request.line));
  if (slot != TagArray::kNone) {
    ++remote_stats_.write_hits;
    lookups_.hit(request, false);
    bank.tags.touch(slot);
  } else {
    if (!allocate_for_store(bank, request, whole)) return Outcome::Stall;
    slot = bank.tags.find(remote_key(request.line));
  }
  ++remote_stats_.writes;
  ByteMask& changed = bank.changed[slot];
  std::uint8_t& state = bank.tags.state(slot);
  if ((state & kChanged) == 0) {
    changed = {};
    state |= kChanged;
    ++changed_lines_;
  }
  changed = changed | bytes_written(request);
  if (changed == whole_line_) state &= static_cast<std::uint8_t>(~kPart);
  if (watch_ != nullptr) watch_->l2_keeps(request.record, request.line, bank.remote_images[slot]);
  return Outcome::Done;
}

/// A way for a line that a store writes. False where all ways of the set are reserved, or what would leave has to wait.
bool L2Cache::allocate_for_store(Bank& bank, const LineRequest& request, bool whole) {
  const TagArray::Slot victim = bank.tags.victim(remote_key(request.line));
  if (victim == TagArray::kNone) return false;
  const std::uint8_t leaves = bank.tags.valid(victim) ? bank.tags.state(victim) : 0;
  if ((leaves & kDirty) != 0 && !dram_->can_write(line_of(bank, victim))) return false;
  if ((leaves & kChanged) != 0 && bank.write_backs >= mshr_limit_) {
    ++write_back_stats_.stalls;
    return false;
  }
  ++remote_stats_.write_allocations;
  lookups_.miss(request, false);
  install_remote_line(bank, victim, request.line);
  if (!whole) bank.tags.state(victim) |= kPart;
  if (watch_ != nullptr) bank.remote_images[victim] = {DataWatch::undefined(), {}};
  return true;
}

/// What stores have changed of a line goes to its home, and the copy leaves. It has room on the way: who evicts in
/// order to keep a store is bounded by how many are on the way, and fills by MSHRs. Its turn at the tags `waits`.
void L2Cache::write_home(Bank& bank, TagArray::Slot slot, Cycle waits) {
  const PhysLine line = line_of(bank, slot);
  const ByteMask changed = bank.changed[slot];
  poison(bank, line);  // what is on its way from the home is older
  write_back_stats_.bytes += changed.count();
  --changed_lines_;
  ++bank.write_backs;
  ++on_the_way_home_[round_];
  auto* request = partition_.pool().allocate<StoreRequest>();
  request->kind = RequestKind::Write;
  request->origin = partition_.device().value;
  request->unit = LineRequest::kWriteBack;
  request->line = line;
  request->mask = std::uint64_t{1} << line.index();
  request->fill = round_;
  if (changed != whole_line_) request->masks = masks_.allocate(partition_.device(), {changed, changed});
  if (watch_ != nullptr) {
    watch_->l2_writes_back(bank.remote_images[slot], line, changed);
    request->record = bank.remote_images[slot].pending.front().record;
  }
  if (timeline_ != nullptr) timeline_->written_back(line);
  invalidate_remote_line(bank, slot);
  remote_.home->reserve_always(line);
  forward(request, waits + tag_latency_);
}

void L2Cache::remote_line_written(LineRequest* reply) {
  const PhysLine line{reply->line.page(), static_cast<unsigned>(std::countr_zero(reply->mask))};
  Bank& bank = bank_of(line);
  --bank.write_backs;
  --on_the_way_home_[reply->fill];
  if (watch_ != nullptr) watch_->stores_delivered(reply->record, line);
  partition_.pool().release(reply);
  if (releasing_) release_round();
  wake(bank);
}

/// The rest of a line, of which only changed bytes are held, has come; or all of it, to which nothing is missing.
void L2Cache::complete(Bank& bank, TagArray::Slot slot, const LineImage& rest) {
  if ((bank.tags.state(slot) & kPart) == 0) return;
  ++remote_stats_.fills;
  bank.tags.state(slot) &= static_cast<std::uint8_t>(~kPart);
  if (watch_ != nullptr) watch_->l2_completed(bank.remote_images[slot], bank.changed[slot], rest);
}

/// The lines leave a cycle apart from each bank. What is stored from now on belongs to the next round.
bool L2Cache::release_remote_lines(Waiter waiter) {
  if (changed_lines_ != 0) {
    for (TagArray::Slot slot = 0; slot < banks_.front().tags.slots(); ++slot) {
      for (Bank& bank : banks_) {
        if ((bank.tags.state(slot) & kChanged) == 0) continue;
        const PhysLine line = line_of(bank, slot);
        if (remote_coverage_ != nullptr) cover_remote(bank, line, RemoteLineEvent::Release);
        ++write_back_stats_.released;
        released_to_host_ += line.device() == remote_.host;
        lookups_.departed(line, Departure::Dropped);
        const Cycle waits = std::max(bank.port_free, partition_.now()) - partition_.now();
        bank.port_free = partition_.now() + waits + 1;
        write_home(bank, slot, waits);
      }
    }
  }
  if (on_the_way_home_[0] + on_the_way_home_[1] == 0) return true;
  to_release_.push_back(waiter);
  if (!releasing_) release_round();
  return false;
}

/// Ends a round of which all is at its homes, and begins the next if somebody waits for it.
void L2Cache::release_round() {
  if (releasing_) {
    if (on_the_way_home_[round_ ^ 1] != 0) return;
    releasing_ = false;
    const std::vector<Waiter> released = std::move(released_);
    released_ = {};
    for (const Waiter waiter : released) client_.remote_lines_released(waiter);
  }
  if (releasing_ || to_release_.empty()) return;
  releasing_ = true;
  released_ = std::move(to_release_);
  to_release_ = {};
  round_ ^= 1;
  if (on_the_way_home_[round_ ^ 1] == 0) release_round();
}

}  // namespace nearfar
