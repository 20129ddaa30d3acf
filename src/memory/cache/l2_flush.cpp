// The L2 cache writes dirty lines back: all of them at the end of a kernel, those of a page that
// migrates, and those of a copy; and drops what a kernel boundary or a copy makes old.
#include <bit>

#include "memory/cache/l2_cache.h"

namespace nearfar {

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
  if (timeline_ != nullptr) timeline_->written_back(line);
  if (watch_ != nullptr) watch_->written_back(line, bank.images[slot]);
  dram_->write(line);
  if (drops_flushed_) drop_line(bank, slot, line);
}

/// A line that memory holds, or that nobody needs any more, leaves.
void L2Cache::drop_line(Bank& bank, TagArray::Slot slot, PhysLine line) {
  if (lookups_.on()) lookups_.departed(line, Departure::Dropped);
  bank.tags.invalidate(slot);
  if (follows_pages_) in_page(line.page()).held &= ~(std::uint64_t{1} << line.index());
}

void L2Cache::drop_clean_lines() {
  for (Bank& bank : banks_) {
    for (TagArray::Slot slot = 0; slot < bank.tags.slots(); ++slot) {
      if (!bank.tags.valid(slot) || (bank.tags.state(slot) & (kDirty | kRemote)) != 0) continue;
      const PhysLine line = line_of(bank, slot);
      if (watch_ != nullptr) watch_->dropped(line, bank.images[slot]);
      drop_line(bank, slot, line);
    }
  }
}

void L2Cache::write_back_page(PhysPage page, bool leaves) {
  if (coverage_ != nullptr) cover_page(page, leaves);
  const std::uint64_t held = in_page(page).held;
  for (std::uint64_t rest = held; rest != 0; rest &= rest - 1) {
    const PhysLine line{page, static_cast<unsigned>(std::countr_zero(rest))};
    Bank& bank = bank_of(line);
    const TagArray::Slot slot = bank.tags.find(key(line));
    if ((bank.tags.state(slot) & kDirty) != 0) {
      bank.tags.state(slot) &= static_cast<std::uint8_t>(~kDirty);
      --bank.dirty;
      ++stats_.write_backs;
      if (timeline_ != nullptr) timeline_->written_back(line);
      if (watch_ != nullptr) watch_->written_back(line, bank.images[slot]);
      dram_->write(line);
    } else if (watch_ != nullptr) {
      watch_->dropped(line, bank.images[slot]);
    }
    if (leaves && lookups_.on()) lookups_.departed(line, Departure::Dropped);
    if (leaves) bank.tags.invalidate(slot);
  }
  if (leaves) in_page(page).held = 0;
  if (leaves && observer_ != nullptr) observer_->page_left(page);
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
    if (timeline_ != nullptr) timeline_->written_back(line);
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
    if (observer_ != nullptr) observer_->overwritten(line);
    dram_->write(line);
  }
}

}  // namespace nearfar
