#include "characterize/functional/functional_l2.h"

#include <bit>

namespace nearfar {

FunctionalL2::FunctionalL2(DeviceId device, const L2Spec& spec, Bytes capacity, Bytes line_bytes, DeviceId host,
                           bool caches_remote)
    : device_(device), map_(spec, capacity, line_bytes) {
  const std::uint64_t sets = spec.size / line_bytes / spec.ways / spec.banks;
  const std::uint64_t keys = caches_remote ? map_.keys_of_devices(host) : map_.keys();
  banks_.reserve(spec.banks);
  for (std::uint32_t b = 0; b < spec.banks; ++b) {
    banks_.push_back({.tags = TagArray(sets, spec.ways, spec.index, spec.replacement, keys), .index = b});
  }
  request_.origin = device.value;
  lookups_.start(host.value);
}

// ------------------------------------------------------------------------------------------------- lines at home here

void FunctionalL2::read(PhysLine line, bool remote) {
  stats_.remote_requests += remote;
  ++stats_.reads;
  stats_.read_hits += find_or_fill(bank_of(line), line, RequestKind::Read, true, remote).hit;
}

void FunctionalL2::write(PhysLine line, bool whole, bool remote) {
  stats_.remote_requests += remote;
  ++stats_.writes;
  Bank& bank = bank_of(line);
  const Found found = find_or_fill(bank, line, RequestKind::Write, !whole, remote);
  stats_.write_hits += found.hit;
  make_dirty(bank, found.slot);
}

void FunctionalL2::atomic(PhysLine line, bool remote) {
  stats_.remote_requests += remote;
  ++stats_.atomics;
  Bank& bank = bank_of(line);
  make_dirty(bank, find_or_fill(bank, line, RequestKind::Atomic, true, remote).slot);
}

/// A line that is not held comes from memory, unless it is written whole.
FunctionalL2::Found FunctionalL2::find_or_fill(Bank& bank, PhysLine line, RequestKind kind, bool from_memory,
                                               bool remote) {
  const std::uint64_t key = map_.key(line);
  const TagArray::Slot slot = bank.tags.find(key);
  if (slot != TagArray::kNone) {
    lookups_.hit(lookup(line, kind), remote);
    bank.tags.touch(slot);
    return {slot, true};
  }
  lookups_.miss(lookup(line, kind), remote);
  memory_reads_ += from_memory;
  return {install(bank, line, key), false};
}

/// What is in the way leaves: to memory if it is dirty.
TagArray::Slot FunctionalL2::install(Bank& bank, PhysLine line, std::uint64_t key) {
  const TagArray::Slot slot = bank.tags.victim(key);
  if (bank.tags.valid(slot)) {
    const bool remote = (bank.tags.state(slot) & kRemote) != 0;
    ++(remote ? remote_stats_.evictions : stats_.evictions);
    lookups_.departed(line_of(bank, slot), Departure::Replaced);
    if ((bank.tags.state(slot) & kDirty) != 0) {
      ++stats_.write_backs;
      clean(bank, slot);
    }
  }
  bank.tags.fill(slot, key);
  if (line.device() != device_) bank.tags.state(slot) = kRemote;
  return slot;
}

void FunctionalL2::make_dirty(Bank& bank, TagArray::Slot slot) {
  bank.dirty += (bank.tags.state(slot) & kDirty) == 0;
  bank.tags.state(slot) |= kDirty;
}

void FunctionalL2::clean(Bank& bank, TagArray::Slot slot) {
  bank.tags.state(slot) &= static_cast<std::uint8_t>(~kDirty);
  --bank.dirty;
  ++memory_writes_;
}

// ----------------------------------------------------------------------------------------------- lines of other GPUs

bool FunctionalL2::read_remote(PhysLine line) {
  Bank& bank = bank_of(line);
  ++remote_stats_.reads;
  const TagArray::Slot slot = bank.tags.find(map_.remote_key(line));
  if (slot == TagArray::kNone) {
    lookups_.miss(lookup(line, RequestKind::Read), false);
    return false;
  }
  ++remote_stats_.read_hits;
  lookups_.hit(lookup(line, RequestKind::Read), false);
  bank.tags.touch(slot);
  return true;
}

/// Updates a copy, or makes one of a line that is written whole.
bool FunctionalL2::write_remote(PhysLine line, bool whole) {
  Bank& bank = bank_of(line);
  ++remote_stats_.writes;
  const TagArray::Slot slot = bank.tags.find(map_.remote_key(line));
  if (slot != TagArray::kNone) {
    ++remote_stats_.write_hits;
    lookups_.hit(lookup(line, RequestKind::Write), false);
    bank.tags.touch(slot);
    return true;
  }
  lookups_.miss(lookup(line, RequestKind::Write), false);
  if (!whole) return false;
  ++remote_stats_.write_allocations;
  install(bank, line, map_.remote_key(line));
  return true;
}

void FunctionalL2::atomic_remote(PhysLine line) {
  Bank& bank = bank_of(line);
  ++remote_stats_.atomics;
  const TagArray::Slot slot = bank.tags.find(map_.remote_key(line));
  if (slot == TagArray::kNone) {
    lookups_.miss(lookup(line, RequestKind::Atomic), false);
    return;
  }
  lookups_.hit(lookup(line, RequestKind::Atomic), false);
  forget_remote(bank, slot, line, Departure::Dropped);
}

void FunctionalL2::fill_remote(PhysLine line) {
  ++remote_stats_.fills;
  install(bank_of(line), line, map_.remote_key(line));
}

void FunctionalL2::forget_remote(Bank& bank, TagArray::Slot slot, PhysLine line, Departure why) {
  bank.tags.invalidate(slot);
  bank.tags.state(slot) = 0;
  lookups_.departed(line, why);
}

void FunctionalL2::invalidate(const Invalidation& invalidation) {
  const bool evicted = invalidation.cause == InvalidationCause::Eviction;
  InvalidationStats& stats = invalidation_stats_;
  for (std::uint64_t rest = invalidation.lines; rest != 0; rest &= rest - 1) {
    const PhysLine line{invalidation.page, static_cast<unsigned>(std::countr_zero(rest))};
    const bool necessary = (rest & -rest & invalidation.written) != 0;
    Bank& bank = bank_of(line);
    const TagArray::Slot slot = bank.tags.find(map_.remote_key(line));
    if (slot == TagArray::kNone) {
      ++(evicted ? stats.miss_eviction : necessary ? stats.miss_write : stats.miss_collateral);
      continue;
    }
    ++(evicted ? stats.hit_eviction : necessary ? stats.hit_write : stats.hit_collateral);
    forget_remote(bank, slot, line, evicted ? Departure::EvictionInvalidation : Departure::WriteInvalidation);
  }
}

void FunctionalL2::drop_remote_lines() {
  for (Bank& bank : banks_) {
    for (TagArray::Slot slot = bank.tags.find_state(0, kRemote); slot != bank.tags.slots();
         slot = bank.tags.find_state(slot + 1, kRemote)) {
      ++remote_stats_.dropped;
      forget_remote(bank, slot, line_of(bank, slot), Departure::Dropped);
    }
  }
}

// ------------------------------------------------------------------------------------------------- boundaries, copies

void FunctionalL2::flush(bool drops_written) {
  for (Bank& bank : banks_) {
    for (TagArray::Slot slot = 0; bank.dirty != 0; ++slot) {
      slot = bank.tags.find_state(slot, kDirty);
      ++stats_.flushed_lines;
      clean(bank, slot);
      if (!drops_written) continue;
      lookups_.departed(line_of(bank, slot), Departure::Dropped);
      bank.tags.invalidate(slot);
    }
  }
}

void FunctionalL2::drop_clean_lines() {
  for (Bank& bank : banks_) {
    for (TagArray::Slot slot = 0; slot < bank.tags.slots(); ++slot) {
      if (!bank.tags.valid(slot) || (bank.tags.state(slot) & (kDirty | kRemote)) != 0) continue;
      lookups_.departed(line_of(bank, slot), Departure::Dropped);
      bank.tags.invalidate(slot);
    }
  }
}

void FunctionalL2::copy_from(PhysLine line) {
  Bank& bank = bank_of(line);
  const TagArray::Slot slot = bank.tags.find(map_.key(line));
  ++memory_reads_;
  if (slot == TagArray::kNone || (bank.tags.state(slot) & kDirty) == 0) return;
  ++stats_.write_backs;
  clean(bank, slot);
}

void FunctionalL2::copy_to(PhysLine line) {
  Bank& bank = bank_of(line);
  const TagArray::Slot slot = bank.tags.find(map_.key(line));
  ++memory_writes_;
  if (slot == TagArray::kNone) return;
  bank.dirty -= (bank.tags.state(slot) & kDirty) != 0;
  bank.tags.state(slot) = 0;
  lookups_.departed(line, Departure::Dropped);
  bank.tags.invalidate(slot);
}

}  // namespace nearfar
