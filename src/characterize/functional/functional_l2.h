// The L2 of a GPU, or the last-level cache of the host, without time: what the machine's (memory/cache/l2_cache.h) does
// to its tags when nothing else is under way. A miss is filled at once, so nothing ever merges, waits or is poisoned.
#pragma once

#include <cstdint>
#include <vector>

#include "coherence/directory.h"
#include "config/quantity.h"
#include "memory/cache/cache_spec.h"
#include "memory/cache/l2_address_map.h"
#include "memory/cache/l2_cache.h"
#include "memory/cache/l2_lookups.h"
#include "memory/cache/tag_array.h"
#include "memory/line_request.h"
#include "sim/types.h"

namespace nearfar {

class FunctionalL2 {
 public:
  /// `host` is the device with the highest number. `caches_remote`: lines of other GPUs are kept too.
  FunctionalL2(DeviceId device, const L2Spec& spec, Bytes capacity, Bytes line_bytes, DeviceId host,
               bool caches_remote);

  /// A line will be looked up soon.
  void prefetch(PhysLine line) {
    bank_of(line).tags.prefetch(line.device() == device_ ? map_.key(line) : map_.remote_key(line));
  }

  // Lines at home here, for a unit of the device itself or for another device (`remote`).
  void read(PhysLine line, bool remote);
  void write(PhysLine line, bool whole, bool remote);
  void atomic(PhysLine line, bool remote);

  // Lines at home in other GPUs. Reads and writes say whether the line is held now.
  bool read_remote(PhysLine line);
  bool write_remote(PhysLine line, bool whole);
  void atomic_remote(PhysLine line);
  /// A line comes from its home.
  void fill_remote(PhysLine line);
  void invalidate(const Invalidation& invalidation);
  void drop_remote_lines();

  /// Kernel boundary: writes dirty lines back, and drops them if asked to; drops lines that are clean.
  void flush(bool drops_written);
  void drop_clean_lines();
  // Copies: a line is read from memory, or overwritten there.
  void copy_from(PhysLine line);
  void copy_to(PhysLine line);

  L2Stats& stats() { return stats_; }
  RemoteLineStats& remote_stats() { return remote_stats_; }
  InvalidationStats& invalidation_stats() { return invalidation_stats_; }
  L2LookupStats& lookup_stats() { return lookups_.stats(); }
  std::uint64_t memory_reads() const { return memory_reads_; }
  std::uint64_t memory_writes() const { return memory_writes_; }

 private:
  struct Bank {
    TagArray tags;
    std::uint32_t index = 0;
    std::uint32_t dirty = 0;  ///< lines
  };
  // States of a slot.
  static constexpr std::uint8_t kDirty = 1;
  static constexpr std::uint8_t kRemote = 2;  ///< its line has its home elsewhere

  Bank& bank_of(PhysLine line) { return banks_[map_.bank_of(line)]; }
  PhysLine line_of(const Bank& bank, TagArray::Slot slot) const {
    return map_.line_of(bank.index, bank.tags.key(slot), device_, (bank.tags.state(slot) & kRemote) != 0);
  }
  /// A lookup as the counters of lookups know it.
  const LineRequest& lookup(PhysLine line, RequestKind kind) {
    request_.line = line;
    request_.kind = kind;
    return request_;
  }
  struct Found {
    TagArray::Slot slot;
    bool hit;
  };
  Found find_or_fill(Bank& bank, PhysLine line, RequestKind kind, bool from_memory, bool remote);
  TagArray::Slot install(Bank& bank, PhysLine line, std::uint64_t key);
  void make_dirty(Bank& bank, TagArray::Slot slot);
  void clean(Bank& bank, TagArray::Slot slot);
  void forget_remote(Bank& bank, TagArray::Slot slot, PhysLine line, Departure why);

  DeviceId device_;
  L2AddressMap map_;
  std::vector<Bank> banks_;
  LineRequest request_;
  L2Stats stats_;
  RemoteLineStats remote_stats_;
  InvalidationStats invalidation_stats_;
  L2Lookups lookups_;
  std::uint64_t memory_reads_ = 0;
  std::uint64_t memory_writes_ = 0;
};

}  // namespace nearfar
