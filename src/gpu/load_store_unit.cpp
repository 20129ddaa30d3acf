// The load/store unit of a compute unit: takes one memory instruction at a time, makes pages and lines of it, looks
// them up in the L1, and sends what has to go on. It stalls in place when a register, buffer or queue is full.
#include <algorithm>
#include <bit>

#include "gpu/compute_unit.h"

namespace nearfar {
namespace {

bool writes(OpKind kind) { return kind == OpKind::Store || kind == OpKind::Atomic; }

/// An access as the data oracle knows it.
DataWatch::WaveAccess told(const PageAccess& access, std::uint64_t lines) {
  return {access.slot, access.virtual_page, lines, writes(access.kind)};
}

}  // namespace

bool ComputeUnit::issue(Wavefront& wave) {
  if (in_unit_ != nullptr || (!unit_queue_.empty() && turn_ != &wave)) {
    wave.state = WaveState::LoadStore;
    wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
    unit_queue_.push(&wave);
    return false;
  }
  turn_ = nullptr;
  const bool needs_slot = kind_of(wave.op) != OpKind::Store;
  if (needs_slot && wave.loads_issued - wave.loads_retired >= context_.spec.cu.loads_per_wave &&
      !wait_for_loads(wave, context_.spec.cu.loads_per_wave - 1)) {
    return false;
  }
  take_instruction(wave);
  if (work()) {
    finish_instruction(wave);
    return true;
  }
  ++stats_.stalled_instructions;
  wave.state = WaveState::LoadStore;
  wave.waiting_since = static_cast<std::uint32_t>(context_.partition.now());
  return false;
}

/// Makes the pages and lines of an instruction; from here on only what is in `pages_` counts.
void ComputeUnit::take_instruction(Wavefront& wave) {
  const OpKind kind = kind_of(wave.op);
  const unsigned bytes = bytes_of(wave.op);
  wave.stream.lanes(context_.spec.wavefront, context_.lanes);
  pages_.clear();
  next_page_ = 0;
  PageAccess access;
  access.kind = kind;
  access.bytes = static_cast<std::uint16_t>(bytes);
  access.slot = wave.slot;
  access.translated = !has_tlb();
  if (kind == OpKind::Store) {
    ++stats_.vector_stores;
    const Stores stores = context_.coalescer.stores(context_.lanes, bytes);
    keep_byte_masks(stores);
    for (const StoreGroup& group : stores.groups) {
      access.virtual_page = group.page;
      access.lines = group.lines;
      access.whole = group.full;
      access.masks = byte_masks_.data() + group.first_partial;
      pages_.push_back(access);
    }
  } else {
    ++(kind == OpKind::Load ? stats_.vector_loads : stats_.vector_atomics);
    const unsigned load = wave.loads_issued % kLoadSlots;
    access.wave = &wave;
    access.load = static_cast<std::uint8_t>(load);
    for (const PageGroup& group : context_.coalescer.loads(context_.lanes, bytes)) {
      access.virtual_page = group.page;
      access.lines = group.lines;
      pages_.push_back(access);
    }
    wave.ready[load] = static_cast<std::uint32_t>(context_.partition.now());
    wave.lines_left[load] = 1;  // the instruction itself, until it has left the unit
    ++wave.loads_issued;
  }
  if (context_.watch != nullptr && kind == OpKind::Atomic) {
    // Loads and atomics are coalesced to lines only; the data oracle wants to know the bytes.
    const Stores stores = context_.coalescer.stores(context_.lanes, bytes);
    keep_byte_masks(stores);
    for (PageAccess& page : pages_) {
      const auto group = std::ranges::find(stores.groups, page.virtual_page, &StoreGroup::page);
      page.masks = byte_masks_.data() + group->first_partial;
      page.whole = group->full;
    }
  }
  std::uint64_t lines = 0;
  for (PageAccess& page : pages_) {
    lines += static_cast<std::uint64_t>(std::popcount(page.lines));
    if (page.translated) page.page = context_.space->translate(context_.device(), page.virtual_page);
  }
  if (context_.touches != nullptr) {
    for (const PageAccess& page : pages_) {
      context_.touches->note(context_.page_size.number(page.virtual_page),
                             static_cast<std::uint64_t>(std::popcount(page.lines)), kind != OpKind::Load);
    }
  }
  stats_.page_groups += pages_.size();
  stats_.accesses += lines;
  context_.partition.progress().accesses += lines;
  in_unit_ = &wave;
  l1_.start_instruction(context_.partition.now() + (has_tlb() ? 0 : context_.translation_latency));
}

/// Which bytes an instruction writes of its lines that are not written whole.
void ComputeUnit::keep_byte_masks(const Stores& stores) {
  byte_masks_.clear();
  for (const PartialLine& line : stores.partial) byte_masks_.push_back({line.bytes});
}

/// The bytes that the next line of an access writes; lines come in order.
ByteMask ComputeUnit::bytes_written(PageAccess& page, std::uint64_t line) const {
  return (page.whole & line) != 0 ? ByteMask::all(static_cast<unsigned>(context_.spec.line)) : *page.masks++;
}

/// The data oracle sees that a load hits the L1.
void ComputeUnit::watch_hit(const PageAccess& page, PhysLine line, TagArray::Slot slot) {
  context_.watch->l1_hit(unit(), context_.application, {location_of(page).value + line.index()}, line, images_[slot]);
}

/// The data oracle sees a line that an access writes, on its way to the home.
void ComputeUnit::watch_store(const PageAccess& page, PhysLine line, TagArray::Slot slot, const ByteMask& mask,
                              Leaving& leaving) {
  leaving.record =
      context_.watch->store_issued(leaving.record, unit(), context_.application, location_of(page), line, mask);
  if (slot != TagArray::kNone) context_.watch->l1_written(unit(), images_[slot], mask);
}

/// Works on the instruction in the unit; false when it has to stall.
bool ComputeUnit::work() {
  for (; next_page_ < pages_.size(); ++next_page_) {
    PageAccess& access = pages_[next_page_];
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

/// Sends the lines of a page that has its translation; false when something is lacking. An access that holds a
/// translation while it waits counts as under way: the page does not leave before it.
bool ComputeUnit::run(PageAccess& access) {
  stall_reason_ = StallReason::None;
  const std::uint64_t lines = access.lines;
  if (context_.watch != nullptr && !trying_translated_) context_.watch->passes_none_parked(unit(), told(access, lines));
  const bool done = access.kind == OpKind::Store ? store_page(access) : load_page(access);
  if (context_.watch != nullptr && trying_translated_ && lines != access.lines) {
    context_.watch->parked_runs(unit(), told(access, lines & ~access.lines));
  }
  return done;
}

// ------------------------------------------------------------------------------------------------------- translation

/// Looks the page up in the L1 TLB. What misses waits aside, and the unit goes on.
ComputeUnit::Translation ComputeUnit::translate(PageAccess& access) {
  const PageKey key = key_of(access.virtual_page);
  const bool write = access.kind != OpKind::Load;
  const Mapping* held = tlb_.array().peek(key);
  const bool sufficient = held != nullptr && (held->writable || !write);
  if (!sufficient) {
    // A lookup that cannot wait aside is made again when it can: it counts then.
    if (tlb_.mshrs().full() && tlb_.mshrs().find(key) == nullptr) {
      stall_reason_ = StallReason::Tlb;
      return Translation::Stalled;
    }
    if (!may_park(access)) return Translation::Stalled;
  }
  const Older older = find_older(access, key);
  if (older != Older::None && !may_park(access)) return Translation::Stalled;
  const Mapping* mapping = tlb_.look_up(key, write);
  if (mapping == nullptr || older == Older::Missing) {
    park(key, access);
    return Translation::Parked;
  }
  if (context_.translation_oracle != nullptr) {
    context_.translation_oracle->used(context_.device(), key, *mapping, write);
  }
  access.page = context_.page_size.frame_of(mapping->page, access.virtual_page);
  access.translated = true;
  l1_.not_before(tlb_.result_at(context_.partition.now()));
  if (context_.tracker != nullptr) context_.tracker->enter(access.page, 1);
  if (older == Older::None) return Translation::Known;
  translated_.push(&set_aside(access));
  return Translation::Parked;
}

/// Whether an access has to wait behind an older one of its own wavefront: one to the same line, of which one writes.
/// That one may still miss its translation, or have it and wait for something else.
ComputeUnit::Older ComputeUnit::find_older(const PageAccess& access, PageKey key) {
  if (tlb_.parked() == 0) return Older::None;
  const auto conflicts = [&](const ParkedAccess& older) {
    return older.slot == access.slot && older.virtual_page == access.virtual_page &&
           (older.lines & access.lines) != 0 && (writes(older.kind) || writes(access.kind));
  };
  if (const L1Tlb::Mshrs::Entry* pending = tlb_.mshrs().find(key)) {
    for (const ParkedAccess* older = pending->payload.front(); older != nullptr; older = older->next) {
      if (conflicts(*older)) return Older::Missing;
    }
  }
  for (const ParkedAccess* older = translated_.front(); older != nullptr; older = older->next) {
    if (conflicts(*older)) return Older::Translated;
  }
  return Older::None;
}

/// Stores take their room in the store buffer when they are put aside, so that what waits for translations is bounded.
bool ComputeUnit::may_park(const PageAccess& access) {
  if (access.kind != OpKind::Store) return true;
  const auto lines = static_cast<std::uint32_t>(std::popcount(access.lines));
  if (stores_outstanding_ == 0 || stores_outstanding_ + lines <= context_.spec.cu.store_buffer) return true;
  stall_reason_ = StallReason::StoreBuffer;
  return false;
}

void ComputeUnit::park(PageKey key, const PageAccess& access) {
  L1Tlb::Mshrs::Entry* pending = tlb_.mshrs().find(key);
  const bool asks = pending == nullptr;
  if (asks) {
    pending = &tlb_.mshrs().allocate(key);
  } else {
    ++tlb_.stats().merges;
  }
  pending->payload.push(&set_aside(access));
  if (asks) ask_l2_tlb(key, writes(access.kind));
}

/// Copies an access aside. A store takes its room in the store buffer, a load waits for one line more.
ParkedAccess& ComputeUnit::set_aside(const PageAccess& access) {
  ParkedAccess& parked = tlb_.park(access);
  if (access.kind == OpKind::Store) {
    stores_outstanding_ += static_cast<std::uint32_t>(std::popcount(access.lines));
    parked.buffered = true;
  } else if (access.kind != OpKind::ScalarLoad) {
    ++access.wave->lines_left[access.load];
  }
  if (context_.watch != nullptr && access.kind != OpKind::ScalarLoad) {
    context_.watch->parked(unit(), told(access, access.lines));
  }
  return parked;
}

void ComputeUnit::ask_l2_tlb(PageKey key, bool write) {
  context_.l2_tlb->request(index_, key, write, tlb_.result_at(context_.partition.now()));
}

void ComputeUnit::translated(PageKey key, const Mapping& mapping) {
  tlb_.array().insert(key, mapping);
  if (context_.tracker != nullptr) context_.tracker->add_user(mapping.page, index_);
  L1Tlb::Mshrs::Entry* entry = tlb_.mshrs().find(key);
  ParkedQueue waiting = entry->payload;
  tlb_.mshrs().release(*entry);
  ParkedQueue refused;
  while (!waiting.empty()) {
    ParkedAccess* access = waiting.pop();
    const bool write = writes(access->kind);
    if (write && !mapping.writable) {
      refused.push(access);
      continue;
    }
    if (access->kind == OpKind::ScalarLoad) {
      hold_page(*access->wave, key, mapping, access->virtual_page);
      tlb_.release(access);
      continue;
    }
    if (context_.translation_oracle != nullptr) {
      context_.translation_oracle->used(context_.device(), key, mapping, write);
    }
    access->page = context_.page_size.frame_of(mapping.page, access->virtual_page);
    access->translated = true;
    if (context_.tracker != nullptr) context_.tracker->enter(access->page, 1);
    translated_.push(access);
  }
  if (!refused.empty()) {
    // Stores that merged a load's miss: the mapping lets nobody write, so they ask again.
    tlb_.mshrs().allocate(key).payload = refused;
    ask_l2_tlb(key, true);
  }
  if (translated_stall_ == StallReason::None) run_translated();
  while (!scalar_tlb_waiters_.empty() && !tlb_.mshrs().full()) {
    sleep(*scalar_tlb_waiters_.pop(), context_.partition.now());
  }
  retry(StallReason::Tlb);
}

/// Accesses that have their translation go on, in order, until one stalls.
void ComputeUnit::run_translated() {
  translated_stall_ = StallReason::None;
  if (translated_.empty()) return;
  l1_.not_before(context_.partition.now());
  while (!translated_.empty()) {
    ParkedAccess* access = translated_.front();
    trying_translated_ = true;
    const bool done = run(*access);
    trying_translated_ = false;
    if (!done) {
      translated_stall_ = stall_reason_;
      return;
    }
    translated_.pop();
    Wavefront* wave = access->wave;
    const unsigned load = access->load;
    tlb_.release(access);
    if (wave != nullptr) lines_done(*wave, load, 1);
  }
}

void ComputeUnit::finish_instruction(Wavefront& wave) {
  in_unit_ = nullptr;
  if (kind_of(wave.op) != OpKind::Store) --wave.lines_left[(wave.loads_issued - 1) % kLoadSlots];
  context_.partition.progress().steps += 1;
  fetch(wave);
}

/// Takes what a line that is not held needs to be asked for: an MSHR and room on its way.
bool ComputeUnit::ask_for(PhysLine line) {
  if (l1_.pending().full()) {
    stall_reason_ = StallReason::Register;
    return false;
  }
  return take_room(line);
}

bool ComputeUnit::take_room(PhysLine line) {
  const auto me = static_cast<std::uint16_t>(index_ << 1 | (trying_translated_ ? 1U : 0U));
  if (context_.l2->reserve(line, me)) return true;
  stall_reason_ = StallReason::Room;
  return false;
}

/// Looks up the lines of a page: those held are ready after the L1's latency, those pending are merged, the others are
/// asked for together. Stalls where something for that is missing.
bool ComputeUnit::load_page(PageAccess& page) {
  Wavefront& wave = *page.wave;
  const bool is_atomic = page.kind == OpKind::Atomic;
  const unsigned load = page.load;
  L1MshrFile& pending = l1_.pending();
  L1MshrFile::Group* group = nullptr;
  Leaving asked;
  std::uint64_t hits = 0;
  Cycle hit_at = 0;
  for (; page.lines != 0; page.lines &= page.lines - 1) {
    const PhysLine line{page.page, static_cast<unsigned>(std::countr_zero(page.lines))};
    if (l1_.covered()) l1_.note(is_atomic ? L1Event::Atomic : L1Event::Load, line);
    const TagArray::Slot slot = l1_.look_up(line);
    if (slot != TagArray::kNone && !is_atomic) {
      ++hits;
      hit_at = l1_.next_line();
      if (context_.watch != nullptr) watch_hit(page, line, slot);
      continue;
    }
    const std::uint64_t bit = page.lines & -page.lines;
    if (L1MshrFile::Group* other = pending.find(page.page, bit)) {
      if (is_atomic || (other->poisoned & bit) != 0) {
        stall_reason_ = StallReason::Register;  // until the pending line has come
        break;
      }
      ++l1_.stats().merges;
      ++l1_.stats().load_lines;
      l1_.next_line();
      if (context_.watch != nullptr) context_.watch->load_merged(unit(), line);
      pending.merge(*other, line, load_target(wave, load));
      ++wave.lines_left[load];
      continue;
    }
    if (!ask_for(line)) break;
    const Cycle at = l1_.next_line();
    if (group == nullptr) {
      group = &pending.begin(line, load_target(wave, load), static_cast<std::uint32_t>(context_.partition.now()));
      asked.when = at + context_.spec.l1v.latency;
      asked.target = group->target;
    } else {
      pending.add(*group, line);
    }
    if (is_atomic) group->poisoned |= bit;
    asked.lines |= bit;
    ++wave.lines_left[load];
    if (is_atomic && slot != TagArray::kNone) l1_.tags().invalidate(slot);
    if (is_atomic && context_.watch != nullptr) {
      watch_store(page, line, TagArray::kNone, bytes_written(page, bit), asked);
    }
  }
  if (hits != 0) {
    l1_.stats().load_hits += hits;
    l1_.stats().load_lines += hits;
    note_ready(wave, load, hit_at + context_.spec.l1v.latency);
  }
  if (asked.lines != 0) {
    const auto lines = static_cast<std::uint64_t>(std::popcount(asked.lines));
    (is_atomic ? l1_.stats().atomic_lines : l1_.stats().load_lines) += lines;
    context_.latency.l1 += lines * (asked.when - context_.partition.now());
    if (context_.tracker != nullptr) context_.tracker->enter(page.page, static_cast<std::uint32_t>(lines));
    asked.operand_bytes = page.bytes;
    if (context_.watch != nullptr && is_atomic) context_.watch->atomics_issued(asked.record, unit());
    if (context_.watch != nullptr && !is_atomic) {
      asked.record =
          context_.watch->loads_issued(unit(), context_.application, location_of(page), page.page, asked.lines);
    }
    send_load(page.page, asked, is_atomic);
  }
  return finished(page);
}

/// The data of a load is not complete before `when`.
void ComputeUnit::note_ready(Wavefront& wave, unsigned load, Cycle when) {
  const auto low = static_cast<std::uint32_t>(when);
  if (static_cast<std::int32_t>(low - wave.ready[load]) > 0) wave.ready[load] = low;
}

bool ComputeUnit::store_page(PageAccess& page) {
  const Cycle latency = context_.spec.l1v.latency;
  Leaving leaving;
  std::uint32_t sent = 0;
  for (; page.lines != 0; page.lines &= page.lines - 1) {
    const PhysLine line{page.page, static_cast<unsigned>(std::countr_zero(page.lines))};
    if (!page.buffered && stores_outstanding_ >= context_.spec.cu.store_buffer) {
      stall_reason_ = StallReason::StoreBuffer;
      break;
    }
    if (!take_room(line)) break;
    if (!page.buffered) ++stores_outstanding_;
    ++sent;
    if (l1_.covered()) l1_.note(L1Event::Store, line);
    const Cycle leaves = l1_.next_line() + latency;
    const TagArray::Slot slot = l1_.look_up(line);
    if (slot != TagArray::kNone) {
      ++l1_.stats().store_hits;
    } else if (L1MshrFile::Group* pending = l1_.pending().find(line)) {
      pending->poisoned |= std::uint64_t{1} << line.index();  // what is on its way is older than this store
    }
    const std::uint64_t bit = std::uint64_t{1} << line.index();
    const ByteMask mask = bytes_written(page, bit);
    if (context_.watch != nullptr) watch_store(page, line, slot, mask, leaving);
    add_store(page.page, leaving, bit, mask, leaves);
  }
  l1_.stats().store_lines += sent;
  if (context_.tracker != nullptr) context_.tracker->enter(page.page, sent);
  if (leaving.lines != 0) send_store(page.page, leaving);
  return finished(page);
}

/// Puts a line behind those that leave; where one in part would come to stand between others, these go first.
void ComputeUnit::add_store(PhysPage page, Leaving& leaving, std::uint64_t line, const ByteMask& mask, Cycle when) {
  const bool several = (leaving.lines & (leaving.lines - 1)) != 0;
  if (several && leaving.masks.last != ByteMask::all(static_cast<unsigned>(context_.spec.line))) {
    send_store(page, leaving);
    leaving.lines = 0;
  }
  if (leaving.lines == 0) {
    leaving.masks.first = mask;
    leaving.when = when;
  }
  leaving.masks.last = mask;
  leaving.lines |= line;
}

/// Whether nothing was lacking; then the access no longer holds its translation.
bool ComputeUnit::finished(const PageAccess& access) {
  if (stall_reason_ != StallReason::None) return false;
  if (context_.tracker != nullptr) context_.tracker->leave(access.page, 1);
  return true;
}

void ComputeUnit::send_load(PhysPage page, const Leaving& leaving, bool atomic) {
  auto* request = context_.partition.pool().allocate<LoadRequest>();
  request->target = leaving.target;
  request->operand_bytes = static_cast<std::uint16_t>(leaving.operand_bytes);
  send(request, atomic ? RequestKind::Atomic : RequestKind::Read, page, leaving);
}

void ComputeUnit::send_store(PhysPage page, const Leaving& leaving) {
  auto* request = context_.partition.pool().allocate<StoreRequest>();
  const ByteMask whole = ByteMask::all(static_cast<unsigned>(context_.spec.line));
  if (leaving.masks.first != whole || leaving.masks.last != whole) {
    request->masks = context_.masks->allocate(context_.device(), leaving.masks);
  }
  send(request, RequestKind::Write, page, leaving);
}

/// The lines of a page that have to go on leave the L1 together.
void ComputeUnit::send(LineRequest* request, RequestKind kind, PhysPage page, const Leaving& leaving) {
  request->kind = kind;
  request->line = PhysLine{page, 0};
  request->mask = leaving.lines;
  request->unit = static_cast<std::uint16_t>(index_);
  request->origin = context_.device().value;
  request->record = leaving.record;
  context_.partition.schedule(request, context_.leave_handler, leaving.when);
}

/// Goes on with what stalled for `reason`: accesses whose translation came late first, then the instruction in the
/// unit and those that queue behind it.
void ComputeUnit::retry(StallReason reason) {
  if (translated_stall_ == reason) run_translated();
  retry_instruction(reason);
}

void ComputeUnit::room_freed(bool for_translated) {
  if (!for_translated) {
    retry_instruction(StallReason::Room);
  } else if (translated_stall_ == StallReason::Room) {
    run_translated();
  }
}

void ComputeUnit::retry_instruction(StallReason reason) {
  if (stall_ != reason) return;
  stall_ = StallReason::None;
  l1_.start_instruction(context_.partition.now());
  Wavefront* wave = in_unit_;
  if (!work()) return;
  finish_instruction(*wave);
  advance(*wave);
  while (in_unit_ == nullptr && !unit_queue_.empty()) {
    turn_ = unit_queue_.pop();
    advance(*turn_);
  }
}

}  // namespace nearfar
