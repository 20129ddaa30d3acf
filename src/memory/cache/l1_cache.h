// The first-level cache of a compute unit (vector) or a shader array (scalar): write-through, no write allocate, kept
// coherent by software at kernel boundaries and fences. It holds tags, MSHRs and the port; who asked, and
// what happens then, is its owner's.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>

#include "memory/cache/cache_spec.h"
#include "memory/cache/l1_mshr.h"
#include "memory/cache/protocol_coverage.h"
#include "memory/cache/tag_array.h"
#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

struct L1Stats {
  std::uint64_t load_lines = 0;
  std::uint64_t load_hits = 0;
  std::uint64_t merges = 0;
  std::uint64_t fills = 0;
  std::uint64_t store_lines = 0;
  std::uint64_t store_hits = 0;
  std::uint64_t atomic_lines = 0;
  std::uint64_t port_wait_cycles = 0;

  void describe(StatVisitor& visitor);
};

class L1Cache {
 public:
  /// `frames`: more than the frames of any device's memory.
  L1Cache(const L1Spec& spec, std::uint64_t line_bytes, std::uint64_t frames)
      : tags_(spec.size / line_bytes / spec.ways, spec.ways, spec.index, spec.replacement),
        pending_(spec.mshrs),
        high_device_(8 + static_cast<unsigned>(std::bit_width(frames)) + kLineIndexBits),
        port_shift_(static_cast<unsigned>(std::countr_zero(spec.lines_per_cycle))),
        reserves_(spec.victim == VictimTime::AtMiss) {}

  /// Plugs a design into the seam "L1 cache replacement", before the first access; `index` is that of its unit.
  void set_replacement(const MakeCacheReplacement& make, std::uint32_t index) {
    tags_.set_replacement(make({index, tags_.sets(), tags_.ways()}));
  }

  TagArray& tags() { return tags_; }
  L1MshrFile& pending() { return pending_; }
  const L1MshrFile& pending() const { return pending_; }
  L1Stats& stats() { return stats_; }

  /// A line will be looked up soon.
  void prefetch(PhysLine line) const { tags_.prefetch(key(line)); }

  /// Looks a line up and marks it used; kNone on a miss.
  TagArray::Slot look_up(PhysLine line) {
    const TagArray::Slot slot = tags_.find(key(line));
    if (slot != TagArray::kNone) tags_.touch(slot);
    return slot;
  }

  // Where victims leave at the miss (`victim: at_miss`), a line that is asked for and will be kept has a way reserved.
  bool reserves_ways() const { return reserves_; }
  bool can_reserve_way(PhysLine line) const { return tags_.can_reserve(key(line)); }
  void reserve_way(PhysLine line) { tags_.reserve(choose_victim(tags_.place(key(line)))); }
  void give_way_up(PhysLine line) { tags_.unreserve(tags_.reserved(key(line))); }

  /// Keeps a line that has arrived, of a page of which that has been said; the answer is its slot.
  TagArray::Slot install(PhysLine line) {
    assert(may_hold(line.page()));
    const TagArray::Place place = tags_.place(key(line));
    const TagArray::Slot slot = reserves_ ? tags_.reserved(place) : choose_victim(place);
    tags_.fill(slot, place);
    return slot;
  }
  /// Lines of a page will be kept.
  void keep_page(PhysPage page) { pages_[page_bit(page) / 64] |= std::uint64_t{1} << page_bit(page) % 64; }

  /// Drops these lines of a page.
  void drop(PhysPage page, std::uint64_t lines) {
    // Few pages are in any one L1: those that cannot be are not searched for line by line.
    if (!may_hold(page)) return;
    if (coverage_ == nullptr && holds_none(page, lines)) return;
    for (; lines != 0; lines &= lines - 1) {
      const PhysLine line{page, static_cast<unsigned>(std::countr_zero(lines))};
      if (coverage_ != nullptr) note(L1Event::Drop, line);
      const TagArray::Slot slot = tags_.find(key(line));
      if (slot != TagArray::kNone) tags_.invalidate(slot);
    }
  }

  /// Drops everything; what is pending answers who waits and is not kept (kernel boundary, fence).
  void acquire(L1Event why = L1Event::Fence) {
    if (coverage_ != nullptr) note_all(why);
    tags_.invalidate_all();
    pages_ = {};
    pending_.poison_all();
  }

  /// From now on counts which events meet which states of a line.
  void cover(L1Coverage* coverage) { coverage_ = coverage; }
  bool covered() const { return coverage_ != nullptr; }
  /// An event meets a line; for a cache that is covered.
  void note(L1Event event, PhysLine line);

  /// Reserves the port for one instruction that may start at `earliest`; lines then take their turns.
  void start_instruction(Cycle earliest) {
    const Cycle turns = earliest << port_shift_;
    if (port_ < turns) {
      port_ = turns;
    } else {
      stats_.port_wait_cycles += (port_ - turns) >> port_shift_;
    }
  }
  /// The cycle in which the next line of the instruction is looked up.
  Cycle next_line() { return port_++ >> port_shift_; }
  /// The next line is looked up no earlier than this.
  void not_before(Cycle earliest) { port_ = std::max(port_, earliest << port_shift_); }

 private:
  // The high bits of a device, which only machines of more than 255 GPUs have, come down to just above the frames that
  // there are: tags have 32 bits.
  static constexpr unsigned kHighDevice = 8 + PhysPage::kFrameBits + kLineIndexBits;
  std::uint64_t key(PhysLine line) const {
    const std::uint64_t low = line.value & ((std::uint64_t{1} << kHighDevice) - 1);
    return low | line.value >> kHighDevice << high_device_;
  }
  PhysLine line_of(TagArray::Slot slot) const {
    const std::uint64_t held = tags_.key(slot);
    const std::uint64_t low = held & ((std::uint64_t{1} << high_device_) - 1);
    return PhysLine{low | held >> high_device_ << kHighDevice};
  }
  /// Whether none of many lines is held, where all have one tag: then all sets are searched in less time than each line
  /// is. False says nothing.
  bool holds_none(PhysPage page, std::uint64_t lines) const {
    if (static_cast<std::uint64_t>(std::popcount(lines)) < tags_.sets() / 2) return false;
    const TagArray::Place first = tags_.place(key(PhysLine{page, 0}));
    const TagArray::Place last = tags_.place(key(PhysLine{page, (1U << kLineIndexBits) - 1}));
    return first.tag == last.tag && !tags_.any_with_tag(first);
  }
  TagArray::Slot choose_victim(const TagArray::Place& place) {
    const TagArray::Slot slot = tags_.victim(place);
    if (coverage_ != nullptr && tags_.valid(slot)) note(L1Event::Replacement, line_of(slot));
    return slot;
  }
  void note_all(L1Event event);
  bool may_hold(PhysPage page) const { return (pages_[page_bit(page) / 64] >> page_bit(page) % 64 & 1) != 0; }
  static unsigned page_bit(PhysPage page) { return static_cast<unsigned>(page.value * 0x9e3779b97f4a7c15ULL >> 56); }

  TagArray tags_;
  L1MshrFile pending_;
  unsigned high_device_;
  Cycle port_ = 0;  // in turns: cycle × lines per cycle, which is a power of two
  unsigned port_shift_;
  bool reserves_;
  std::array<std::uint64_t, 4> pages_{};  ///< by hash: pages of which a line may be held
  L1Coverage* coverage_ = nullptr;
  L1Stats stats_;
};

}  // namespace nearfar
