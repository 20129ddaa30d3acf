#include "gpu/load_store_unit.h"

#include <fmt/format.h>

#include <bit>

#include "gpu/compute_unit.h"

namespace nearfar {
namespace {

/// An access as the data oracle knows it.
DataWatch::WaveAccess watched(const PageAccess& access, std::uint64_t lines) {
  return {access.slot, access.virtual_page, lines, access.writes()};
}

}  // namespace

LoadStoreUnit::LoadStoreUnit(GpuContext& context, ComputeUnit& cu, Wavefront* waves, ComputeUnitStats& stats,
                             unsigned index)
    : context_(context),
      cu_(cu),
      waves_(waves),
      l1_(context, context.spec.l1v, LoadUnit::of(context.device(), index, false)),
      stats_(stats),
      index_(index),
      tlb_(context.spec.l1_tlb),
      reorder_buffer_(context.spec.cu.reorder_buffer) {}

// ---------------------------------------------------------------------------------------------------- an instruction

bool LoadStoreUnit::issue(Wavefront& wave) {
  take_instruction(wave);
  if (!work()) return false;
  finish_instruction(wave);
  return true;
}

void LoadStoreUnit::take_instruction(Wavefront& wave) {
  instruction_.start(context_, wave);
  in_unit_ = &wave;
  ordered_ = !reorder_buffer_.exists();
  count_instruction(kind_of(wave.op));
  if (context_.timeline != nullptr) record_instruction();
  l1_.start_instruction(context_.partition.now() + (has_tlb() ? 0 : context_.translation_latency));
}

void LoadStoreUnit::count_instruction(OpKind kind) {
  if (kind == OpKind::Store) {
    ++stats_.vector_stores;
  } else {
    ++(kind == OpKind::Load ? stats_.vector_loads : stats_.vector_atomics);
  }
  const std::uint64_t lines = instruction_.lines();
  stats_.page_groups += instruction_.pages().size();
  stats_.accesses += lines;
  context_.partition.progress().accesses += lines;
  if (context_.touches == nullptr) return;
  for (const PageAccess& page : instruction_.pages()) {
    context_.touches->note(context_.page_size.number(page.virtual_page),
                           static_cast<std::uint64_t>(std::popcount(page.lines)), page.writes());
  }
}

/// Takes the places of the instruction in the unit; false where there are too few.
bool LoadStoreUnit::enter_reorder_buffer() {
  const std::uint64_t lines = instruction_.lines();
  if (!reorder_buffer_.has_room(lines)) return false;
  ordered_ = true;
  if (kind_of(in_unit_->op) == OpKind::Store) {
    reorder_buffer_.enter_store(lines);
  } else {
    reorder_buffer_.enter_load(*in_unit_, (in_unit_->loads_issued - 1) % kLoadSlots, lines);
  }
  return true;
}

/// Instructions that are done leave the reorder buffer, in order.
void LoadStoreUnit::retire() {
  const auto leave = [this](Wavefront& wave, unsigned load, Cycle ready) {
    note_ready(wave, load, ready);
    cu_.load_done(wave, load);
  };
  while (reorder_buffer_.retire(context_.partition.now(), leave)) {
  }
  retry_instruction(StallReason::ReorderBuffer);
}

/// Works on the instruction in the unit; false when it has to stall.
bool LoadStoreUnit::work() {
  if (!ordered_ && !enter_reorder_buffer()) {
    stall_ = StallReason::ReorderBuffer;
    return false;
  }
  for (; !instruction_.done(); instruction_.next_page()) {
    PageAccess& access = instruction_.page();
    if (!access.translated) {
      const Translation translation = translate(access);
      if (translation == Translation::Parked) continue;
      if (translation == Translation::Stalled) {
        stall_ = stall_reason_;
        return false;
      }
    }
    if (run(access)) continue;
    stall_ = stall_reason_;
    if (stall_ == StallReason::StoreBuffer && has_tlb()) {
      // The buffer may be full of stores that wait for translations. Who holds one must not wait for those: two GPUs
      // would wait for each other's pages.
      access.translated = false;
      if (context_.tracker != nullptr) context_.tracker->leave(access.page, 1);
    }
    return false;
  }
  return true;
}

/// Sends the lines of a page that has its translation; false when it stalls. An access that holds a translation while
/// it waits counts as under way: the page does not leave before it.
bool LoadStoreUnit::run(PageAccess& access) {
  stall_reason_ = StallReason::None;
  const std::uint64_t lines = access.lines;
  DataWatch* watch = context_.watch;
  if (watch != nullptr && !trying_translated_) watch->passes_none_parked(l1_.unit(), watched(access, lines));
  const bool done = access.kind == OpKind::Store ? store_page(access) : load_page(access);
  if (watch != nullptr && trying_translated_ && lines != access.lines) {
    watch->parked_runs(l1_.unit(), watched(access, lines & ~access.lines));
  }
  context_.count_remote(CountAt::L1, access.page, static_cast<std::uint32_t>(std::popcount(lines & ~access.lines)));
  if (context_.timeline != nullptr) record_lookups(access, lines & ~access.lines);
  return done;
}

/// Whether an access has not stalled; then it no longer holds its translation.
bool LoadStoreUnit::finished(const PageAccess& access) {
  if (stall_reason_ != StallReason::None) return false;
  if (context_.tracker != nullptr) context_.tracker->leave(access.page, 1);
  return true;
}

void LoadStoreUnit::finish_instruction(Wavefront& wave) {
  in_unit_ = nullptr;
  if (kind_of(wave.op) != OpKind::Store) --wave.lines_left[(wave.loads_issued - 1) % kLoadSlots];
  context_.partition.progress().steps += 1;
  if (reorder_buffer_.exists()) retire();
}

/// Goes on with what stalled for `reason`: accesses whose translation came late first, then the instruction in the
/// unit and those that queue behind it.
void LoadStoreUnit::retry(StallReason reason) {
  if (translated_stall_ == reason) run_translated();
  retry_instruction(reason);
}

void LoadStoreUnit::retry_instruction(StallReason reason) {
  if (stall_ != reason) return;
  stall_ = StallReason::None;
  l1_.start_instruction(context_.partition.now());
  Wavefront* wave = in_unit_;
  if (!work()) return;
  finish_instruction(*wave);
  cu_.instruction_finished(*wave);
  while (in_unit_ == nullptr && !waiters_.empty()) {
    turn_ = waiters_.pop();
    cu_.issue_again(*turn_);
  }
}

void LoadStoreUnit::wake(Waiter waiter) {
  const bool for_translated = (waiter & 1) != 0;
  if (!for_translated) {
    retry_instruction(StallReason::QueueBelow);
  } else if (translated_stall_ == StallReason::QueueBelow) {
    run_translated();
  }
}

// ------------------------------------------------------------------------------------------------------- translation

/// Looks the page up in the L1 TLB. What misses waits aside, and the unit goes on.
LoadStoreUnit::Translation LoadStoreUnit::translate(PageAccess& access) {
  const PageKey key = key_of(access.virtual_page);
  if (!tlb_.holds(key, access.writes())) {
    // A lookup that cannot wait aside is made again when it can: it counts then.
    if (tlb_.no_mshr(key)) {
      stall_reason_ = StallReason::TlbMshr;
      return Translation::Stalled;
    }
    if (!may_park(access)) return Translation::Stalled;
  }
  const L1Tlb::Older older = tlb_.find_older(access, key);
  if (older != L1Tlb::Older::None && !may_park(access)) return Translation::Stalled;
  if (older == L1Tlb::Older::Again) {
    // It is looked up when it has its turn.
    tlb_.again().push(&set_aside(access));
    return Translation::Parked;
  }
  const Mapping* mapping = tlb_.look_up(key, access.writes());
  if (mapping == nullptr || older == L1Tlb::Older::Missing) {
    park(key, access);
    return Translation::Parked;
  }
  hold_translation(access, key, *mapping);
  l1_.not_before(tlb_.result_at(context_.partition.now()));
  if (older == L1Tlb::Older::None) return Translation::Known;
  tlb_.translated().push(&set_aside(access));
  return Translation::Parked;
}

bool LoadStoreUnit::translate_scalar(Wavefront& wave, VirtPage virtual_page, PhysPage& page) {
  const PageKey key = key_of(virtual_page);
  if (const Mapping* mapping = tlb_.look_up(key, false)) {
    page = use(key, *mapping, virtual_page, false);
    return true;
  }
  if (tlb_.no_mshr(key)) {
    scalar_waiters_.push(&wave);
    return false;
  }
  PageAccess access;
  access.virtual_page = virtual_page;
  access.kind = OpKind::ScalarLoad;
  access.wave = &wave;
  park(key, access);
  return false;
}

/// The frame of a page in a mapping that is used now, as the translation oracle sees.
PhysPage LoadStoreUnit::use(PageKey key, const Mapping& mapping, VirtPage virtual_page, bool write) const {
  if (context_.translation_oracle != nullptr) {
    context_.translation_oracle->used(context_.device(), key, mapping, write);
  }
  if (context_.timeline != nullptr) context_.timeline->translated(mapping.page, key.value);
  const PhysPage frame = context_.page_size.frame_of(mapping.page, virtual_page);
  context_.count_remote(CountAt::L1Tlb, frame, 1);
  return frame;
}

/// An access has its translation and keeps it: would it look it up again, the page might be gone, and two GPUs could
/// take it from each other for ever.
void LoadStoreUnit::hold_translation(PageAccess& access, PageKey key, const Mapping& mapping) {
  access.page = use(key, mapping, access.virtual_page, access.writes());
  access.translated = true;
  if (context_.tracker != nullptr) context_.tracker->enter(access.page, 1);
}

/// Stores take their room in the store buffer when they are put aside, so that what waits for translations is bounded.
bool LoadStoreUnit::may_park(const PageAccess& access) {
  if (access.kind != OpKind::Store) return true;
  const auto lines = static_cast<std::uint32_t>(std::popcount(access.lines));
  if (stores_outstanding_ == 0 || stores_outstanding_ + lines <= context_.spec.cu.store_buffer) return true;
  stall_reason_ = StallReason::StoreBuffer;
  return false;
}

void LoadStoreUnit::park(PageKey key, const PageAccess& access) {
  if (tlb_.wait_for_page(key, set_aside(access))) ask_l2_tlb(key, access.writes());
}

/// Copies an access aside. A store takes its room in the store buffer, a load waits for one line more.
ParkedAccess& LoadStoreUnit::set_aside(const PageAccess& access) {
  ParkedAccess& parked = tlb_.park(access);
  if (access.kind == OpKind::Store) {
    stores_outstanding_ += static_cast<std::uint32_t>(std::popcount(access.lines));
    parked.buffered = true;
  } else if (access.kind != OpKind::ScalarLoad) {
    ++access.wave->lines_left[access.load];
  }
  if (context_.watch != nullptr && access.kind != OpKind::ScalarLoad) {
    context_.watch->parked(l1_.unit(), watched(access, access.lines));
  }
  return parked;
}

void LoadStoreUnit::ask_l2_tlb(PageKey key, bool write) {
  context_.l2_tlb->request(index_, key, write, tlb_.result_at(context_.partition.now()));
}

void LoadStoreUnit::translated(PageKey key, const Mapping& mapping) {
  if (context_.tracker != nullptr) context_.tracker->add_user(mapping.page, index_);
  resume(tlb_.fill(key, mapping), key, mapping);
  ask_again();
  if (translated_stall_ == StallReason::None) run_translated();
  while (!scalar_waiters_.empty() && !tlb_.mshrs_full()) cu_.wake(*scalar_waiters_.pop());
  retry(StallReason::TlbMshr);
}

void LoadStoreUnit::translate_again(PageKey page) {
  if (in_unit_ != nullptr && !instruction_.done()) give_up(instruction_.page(), page);
  tlb_.translate_again([&](PageAccess& access) { return give_up(access, page); });
  ask_again();
}

bool LoadStoreUnit::give_up(PageAccess& access, PageKey key) {
  if (!access.translated || access.again || key_of(access.virtual_page) != key) return false;
  access.translated = false;
  access.again = true;
  context_.tracker->leave(access.page, 1);
  return true;
}

/// Those who have given their translation up look their pages up again, in order, until one finds no MSHR.
void LoadStoreUnit::ask_again() {
  ParkedQueue& again = tlb_.again();
  while (!again.empty()) {
    ParkedAccess* access = again.front();
    const PageKey key = key_of(access->virtual_page);
    if (!tlb_.holds(key, access->writes()) && tlb_.no_mshr(key)) return;
    again.pop();
    if (const Mapping* mapping = tlb_.look_up(key, access->writes())) {
      hold_translation(*access, key, *mapping);
      tlb_.translated().push(access);
    } else if (tlb_.wait_for_page(key, *access)) {
      ask_l2_tlb(key, access->writes());
    }
  }
}

/// Those who waited for a mapping have it, if it is sufficient.
void LoadStoreUnit::resume(ParkedQueue waiters, PageKey key, const Mapping& mapping) {
  ParkedQueue refused;
  while (!waiters.empty()) {
    ParkedAccess* access = waiters.pop();
    if (access->writes() && !mapping.writable) {
      refused.push(access);
      continue;
    }
    hold_translation(*access, key, mapping);
    if (access->kind == OpKind::ScalarLoad) {
      cu_.scalar_translated(*access->wave, access->page);
      tlb_.release(access);
    } else {
      tlb_.translated().push(access);
    }
  }
  if (!refused.empty()) {
    // Stores that merged a load's miss: the mapping lets nobody write, so they ask again.
    tlb_.wait_again(key, refused);
    ask_l2_tlb(key, true);
  }
}

/// Accesses that have their translation go on, in order, until one stalls.
void LoadStoreUnit::run_translated() {
  ParkedQueue& translated = tlb_.translated();
  translated_stall_ = StallReason::None;
  if (translated.empty()) return;
  l1_.not_before(context_.partition.now());
  while (!translated.empty()) {
    ParkedAccess* access = translated.front();
    trying_translated_ = true;
    const bool done = run(*access);
    trying_translated_ = false;
    if (!done) {
      translated_stall_ = stall_reason_;
      return;
    }
    translated.pop();
    Wavefront* wave = access->wave;
    const unsigned load = access->load;
    tlb_.release(access);
    if (wave != nullptr) lines_done(*wave, load, 1);
  }
}

// ------------------------------------------------------------------------------------------------- loads and atomics

/// Looks up the lines of a page: those held are ready after the L1's latency, those pending are merged, the others are
/// asked for together. Stalls where something for that is missing.
bool LoadStoreUnit::load_page(PageAccess& page) {
  const bool is_atomic = page.is_atomic();
  // What it begins to ask for itself does not count: each line comes once.
  const std::uint64_t pending = l1_.pending().lines_of(page.page);
  Outgoing missing;
  std::uint64_t hits = 0;
  Cycle hit_at = 0;
  for (; page.lines != 0; page.lines &= page.lines - 1) {
    const PhysLine line{page.page, static_cast<unsigned>(std::countr_zero(page.lines))};
    if (l1_.covered()) l1_.note(is_atomic ? L1Event::Atomic : L1Event::Load, line);
    const TagArray::Slot slot = l1_.look_up(line);
    if (slot != TagArray::kNone && !is_atomic) {
      ++hits;
      hit_at = l1_.next_line();
      if (context_.watch != nullptr) l1_.watch_hit(page.virtual_page, line, slot);
      continue;
    }
    if ((pending & page.lines & -page.lines) != 0) {
      if (!merge(page, *l1_.pending().find(line), line)) break;
      continue;
    }
    if (!take_mshr(page, line, missing)) break;
    if (is_atomic) begin_atomic(page, line, slot, missing);
  }
  if (hits != 0) {
    l1_.stats().load_hits += hits;
    l1_.stats().load_lines += hits;
    note_ready(*page.wave, page.load, hit_at + context_.spec.l1v.latency);
  }
  if (missing.lines != 0) send_loads(page, missing);
  return finished(page);
}

/// A load waits with others for a line that is pending. An atomic does not, nor does a load for a line that is older
/// than a store before it: these stall until the line has come.
bool LoadStoreUnit::merge(const PageAccess& page, L1MshrFile::Group& pending, PhysLine line) {
  if (page.is_atomic() || (pending.poisoned >> line.index() & 1) != 0) {
    stall_reason_ = StallReason::Mshr;
    return false;
  }
  ++l1_.stats().merges;
  ++l1_.stats().load_lines;
  const Cycle looked_up = l1_.next_line();
  // Where lines are in a cache of the level below, the load it merges with may be on its way to a hit.
  if (context_.level != nullptr && !context_.keep_remote)
    note_ready(*page.wave, page.load, looked_up + context_.spec.l1v.latency);
  if (context_.watch != nullptr) l1_.watch_merge(line);
  l1_.pending().merge(pending, line, load_target(page));
  ++page.wave->lines_left[page.load];
  return true;
}

/// A line that is not held is asked for: it takes an MSHR, a way where victims leave at the miss, and room on its way.
bool LoadStoreUnit::take_mshr(const PageAccess& page, PhysLine line, Outgoing& missing) {
  L1MshrFile& pending = l1_.pending();
  const bool is_atomic = page.is_atomic();  // which brings no line
  if (pending.full() || (!is_atomic && !l1_.has_way(line))) {
    stall_reason_ = StallReason::Mshr;
    return false;
  }
  if (!reserve(line)) return false;
  if (!is_atomic) l1_.take_way(line);
  const Cycle at = l1_.next_line();
  if (missing.group == nullptr) {
    missing.group = &pending.begin(line, load_target(page), static_cast<std::uint32_t>(context_.partition.now()));
    missing.when = at + context_.spec.l1v.latency;
  } else {
    pending.add(*missing.group, line);
  }
  missing.lines |= std::uint64_t{1} << line.index();
  ++page.wave->lines_left[page.load];
  return true;
}

/// An atomic is performed at the home of its line: the L1 keeps neither its copy nor what comes back.
void LoadStoreUnit::begin_atomic(PageAccess& page, PhysLine line, TagArray::Slot slot, Outgoing& missing) {
  const std::uint64_t bit = std::uint64_t{1} << line.index();
  missing.group->poisoned |= bit;
  if (slot != TagArray::kNone) l1_.tags().invalidate(slot);
  if (context_.watch != nullptr) {
    const ByteMask mask = bytes_written(page, bit);
    missing.record = l1_.watch_store(missing.record, page.virtual_page, line, TagArray::kNone, mask);
  }
}

void LoadStoreUnit::send_loads(const PageAccess& page, Outgoing& missing) {
  const bool is_atomic = page.is_atomic();
  const auto lines = static_cast<std::uint64_t>(std::popcount(missing.lines));
  (is_atomic ? l1_.stats().atomic_lines : l1_.stats().load_lines) += lines;
  context_.latency.l1 += lines * (missing.when - context_.partition.now());
  if (context_.tracker != nullptr) context_.tracker->enter(page.page, static_cast<std::uint32_t>(lines));
  if (context_.watch != nullptr && is_atomic) context_.watch->atomics_issued(missing.record, l1_.unit());
  if (context_.watch != nullptr && !is_atomic) {
    missing.record = l1_.watch_loads(page.virtual_page, page.page, missing.lines);
  }
  auto* request = context_.partition.pool().allocate<LoadRequest>();
  request->target = load_target(page);
  request->operand_bytes = page.bytes;
  request->record = missing.record;
  const RequestKind kind = is_atomic ? RequestKind::Atomic : RequestKind::Read;
  l1_.send(request, kind, PhysLine{page.page, 0}, missing.lines, missing.when);
  if (context_.timeline != nullptr) context_.timeline->missed(l1_.unit(), kind, page.page, missing.lines);
}

void LoadStoreUnit::fill(PhysPage page, std::uint64_t lines) {
  L1MshrFile::Arrival arrival = l1_.fill(page, lines);
  if (context_.timeline != nullptr) record_fill(arrival, page, lines);
  const auto count = static_cast<std::uint32_t>(std::popcount(lines));
  const std::uint32_t took = static_cast<std::uint32_t>(context_.partition.now()) - arrival.issued;
  context_.latency.count += count;
  context_.latency.total += std::uint64_t{count} * took;
  context_.latency.histogram.add(took, count);
  context_.partition.progress().steps += 1;
  l1_.notify_waiters(arrival, lines, [this](L1MshrFile::Target target, std::uint64_t come) {
    lines_done(waves_[slot_of(target)], load_of(target), static_cast<unsigned>(std::popcount(come)));
  });
  retry(StallReason::Mshr);
}

/// `lines` of those that a load waits for are there, or have gone on their way.
void LoadStoreUnit::lines_done(Wavefront& wave, unsigned load, unsigned lines) {
  note_ready(wave, load, context_.partition.now());
  wave.lines_left[load] = static_cast<std::uint8_t>(wave.lines_left[load] - lines);
  if (reorder_buffer_.exists()) {
    retire();
    return;
  }
  if (wave.lines_left[load] == 0) cu_.load_done(wave, load);
}

// ------------------------------------------------------------------------------------------------------------ stores

bool LoadStoreUnit::store_page(PageAccess& page) {
  const Cycle latency = context_.spec.l1v.latency;
  const std::uint64_t pending = l1_.pending().lines_of(page.page);
  Outgoing stores;
  std::uint32_t sent = 0;
  for (; page.lines != 0; page.lines &= page.lines - 1) {
    const PhysLine line{page.page, static_cast<unsigned>(std::countr_zero(page.lines))};
    if (!page.buffered && stores_outstanding_ >= context_.spec.cu.store_buffer) {
      stall_reason_ = StallReason::StoreBuffer;
      break;
    }
    if (!reserve(line)) break;
    if (!page.buffered) ++stores_outstanding_;
    ++sent;
    if (l1_.covered()) l1_.note(L1Event::Store, line);
    const Cycle leaves = l1_.next_line() + latency;
    const TagArray::Slot slot = l1_.look_up(line);
    const std::uint64_t bit = std::uint64_t{1} << line.index();
    if (slot != TagArray::kNone) {
      ++l1_.stats().store_hits;
    } else if ((pending & bit) != 0) {
      l1_.poison(*l1_.pending().find(line), line);  // what is on its way is older than this store
    }
    const ByteMask mask = bytes_written(page, bit);
    if (context_.watch != nullptr) {
      stores.record = l1_.watch_store(stores.record, page.virtual_page, line, slot, mask);
    }
    add_store(page.page, stores, bit, mask, leaves);
  }
  l1_.stats().store_lines += sent;
  if (context_.tracker != nullptr) context_.tracker->enter(page.page, sent);
  if (stores.lines != 0) send_stores(page.page, stores);
  return finished(page);
}

/// The bytes that the next line of an access writes; lines come in order.
ByteMask LoadStoreUnit::bytes_written(PageAccess& page, std::uint64_t line) const {
  return (page.whole & line) != 0 ? ByteMask::all(static_cast<unsigned>(context_.spec.line)) : *page.masks++;
}

/// Puts a line behind those that leave; where one in part would come to stand between others, these go first.
void LoadStoreUnit::add_store(PhysPage page, Outgoing& stores, std::uint64_t line, const ByteMask& mask, Cycle when) {
  const bool several = (stores.lines & (stores.lines - 1)) != 0;
  if (several && stores.masks.last != ByteMask::all(static_cast<unsigned>(context_.spec.line))) {
    send_stores(page, stores);
    stores.lines = 0;
  }
  if (stores.lines == 0) {
    stores.masks.first = mask;
    stores.when = when;
  }
  stores.masks.last = mask;
  stores.lines |= line;
}

void LoadStoreUnit::send_stores(PhysPage page, const Outgoing& stores) {
  auto* request = context_.partition.pool().allocate<StoreRequest>();
  const ByteMask whole = ByteMask::all(static_cast<unsigned>(context_.spec.line));
  if (stores.masks.first != whole || stores.masks.last != whole) {
    request->masks = context_.masks->allocate(context_.device(), stores.masks);
  }
  request->record = stores.record;
  l1_.send(request, RequestKind::Write, PhysLine{page, 0}, stores.lines, stores.when);
}

void LoadStoreUnit::stores_ordered(PhysPage page, unsigned lines) {
  if (context_.tracker != nullptr) context_.tracker->leave(page, lines);
  stores_outstanding_ -= lines;
  context_.partition.progress().steps += 1;
  if (stores_outstanding_ == 0) cu_.stores_settled();
  if (reorder_buffer_.exists()) {
    reorder_buffer_.stores_ordered(lines);
    retire();
  }
  retry(StallReason::StoreBuffer);
}

/// Takes room for a line in the queue below.
bool LoadStoreUnit::reserve(PhysLine line) {
  const auto me = static_cast<Waiter>(index_ << 1 | (trying_translated_ ? 1U : 0U));
  if (context_.reserve(line, me)) return true;
  stall_reason_ = StallReason::QueueBelow;
  return false;
}

std::string LoadStoreUnit::describe_waiting() const {
  if (nothing_pending()) return {};
  return fmt::format(
      "  compute unit {}: {} lines pending in the L1, {} stores not ordered, {} accesses wait for translation{}\n",
      index_, l1_.pending().used(), stores_outstanding_, tlb_.parked(),
      in_unit_ != nullptr ? ", load/store unit stalled" : "");
}

}  // namespace nearfar
