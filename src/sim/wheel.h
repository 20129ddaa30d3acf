// The event queue: a timing wheel of one slot a cycle, with later events set aside by block and the last ones in a
// heap.
//
// Order is total: (time, source, sequence). A slot is a circular list known by its tail; local events are appended, so
// they keep their sequence without storing it, and messages are kept sorted by source ahead of them. Time is cut into
// blocks. The slots cover the present block and the next; an event beyond waits in the list of its block, or, past the
// last list, in the heap. A block's events are dealt into slots when the block before it begins, heap first: that is
// before anything can be appended to its slots directly, so the order is the same as in one big heap.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "sim/event.h"
#include "sim/prefetch.h"
#include "sim/types.h"

namespace nearfar {

class Wheel {
 public:
  static constexpr Cycle kBlock = 512;         ///< cycles of a block: small, so that the slots stay in the host cache
  static constexpr Cycle kSlots = 2 * kBlock;  ///< what the slots cover
  static constexpr Cycle kBlocks = 64;         ///< blocks with a list of their own

  Cycle now() const { return now_; }
  std::uint64_t pending() const { return pending_; }

  /// An event of the partition's own, behind all others of that cycle.
  void schedule(Event* t, Cycle when) {
    assert(when >= now_);
    t->when = when;
    t->source = kLocalSource;
    ++pending_;
    if (when / kBlock <= block_ + 1) {
      append(t);
    } else {
      set_aside(t);
    }
  }

  /// A message from another partition, before the local events of its cycle (t->when and t->source are set).
  void deliver(Event* t) {
    assert(t->when >= now_ && t->source != kLocalSource);
    ++pending_;
    if (t->when / kBlock <= block_ + 1) {
      insert_by_source(t);
    } else {
      set_aside(t);
    }
  }

  /// Time of the earliest event, or kNever.
  Cycle next_time() const {
    if (summary_ != 0) return now_ + distance_to_next();
    return aside_ != 0 ? earliest_aside() : far_.empty() ? kNever : far_.front().when;
  }

  /// The events that are likely to fire after the one just removed, as far as they are close by. Only hints: what fires
  /// now may schedule others before them, and of several in one cycle only the last is looked at.
  struct Soon {
    const Event* next = nullptr;
    const Event* later = nullptr;  ///< not yet to be looked into: it may not be in the host's cache
  };
  Soon soon() const {
    const std::size_t slot = now_ % kSlots;
    std::uint64_t ahead = words_[slot / 64] >> (slot % 64);
    if (ahead == 0) return {};
    const std::size_t next = slot + static_cast<std::size_t>(std::countr_zero(ahead));
    ahead &= ahead - 1;
    if (ahead == 0) return {slots_[next], nullptr};
    return {slots_[next], slots_[slot + static_cast<std::size_t>(std::countr_zero(ahead))]};
  }

  /// Removes the first event before `limit`, moving time to it; null when there is none. Part of the loop that runs a
  /// window: a call for each event costs more than what it does.
  [[gnu::always_inline]] Event* pop(Cycle limit) {
    Event*& tail = slots_[now_ % kSlots];
    if (tail == nullptr) return advance_and_pop(limit);
    if (now_ >= limit) return nullptr;
    return take_head(tail, now_ % kSlots);
  }

 private:
  struct Far {
    Cycle when;
    std::uint64_t sequence;
    Event* event;

    /// std heap algorithms keep the largest in front: the later of two is the smaller.
    bool operator<(const Far& other) const {
      if (when != other.when) return when > other.when;
      if (event->source != other.event->source) return event->source > other.event->source;
      return sequence > other.sequence;
    }
  };

  static constexpr std::size_t kWords = kSlots / 64;
  static_assert(kWords <= 64 && kBlocks <= 64);
  static constexpr std::size_t kAhead = 8;  ///< events that are fetched before they are dealt

  void mark(std::size_t slot) {
    words_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    summary_ |= std::uint64_t{1} << (slot / 64);
  }

  /// Adds to the end of a circular list.
  static void push_back(Event*& tail, Event* t) {
    if (tail == nullptr) {
      t->next = t;
    } else {
      t->next = tail->next;
      tail->next = t;
    }
    tail = t;
  }

  void append(Event* t) {
    const std::size_t slot = t->when % kSlots;
    if (slots_[slot] == nullptr) mark(slot);
    push_back(slots_[slot], t);
  }

  void insert_by_source(Event* t) {
    Event*& tail = slots_[t->when % kSlots];
    if (tail == nullptr || tail->source <= t->source) {
      append(t);
      return;
    }
    Event* before = tail;
    while (before->next->source <= t->source) before = before->next;
    t->next = before->next;
    before->next = t;
  }

  Event* take_head(Event*& tail, std::size_t slot) {
    Event* head = tail->next;
    if (head == tail) {
      tail = nullptr;
      words_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
      if (words_[slot / 64] == 0) summary_ &= ~(std::uint64_t{1} << (slot / 64));
    } else {
      tail->next = head->next;
      prefetch_line(tail->next);
    }
    --pending_;
    return head;
  }

  [[gnu::always_inline]] Event* advance_and_pop(Cycle limit) {
    const Cycle next = next_time();
    if (next >= limit) return nullptr;
    while (block_ < next / kBlock) enter_next_block();
    now_ = next;
    return take_head(slots_[now_ % kSlots], now_ % kSlots);
  }

  /// Cycles from now to the first occupied slot; some slot is.
  Cycle distance_to_next() const {
    const std::size_t from = now_ % kSlots;
    const std::uint64_t here = words_[from / 64] >> (from % 64);
    if (here != 0) return static_cast<Cycle>(std::countr_zero(here));
    const std::size_t word = from / 64 + 1;
    // Rotate the summary so that the word after this one comes first; this one comes last (the wrapped-around part).
    const std::uint64_t rotated = std::rotr(summary_, static_cast<int>(word % 64));
    const std::size_t found = (word + static_cast<std::size_t>(std::countr_zero(rotated))) % 64;
    const std::size_t slot = found * 64 + static_cast<std::size_t>(std::countr_zero(words_[found]));
    return (slot + kSlots - from) % kSlots;
  }

  void set_aside(Event* t) {
    const Cycle block = t->when / kBlock;
    if (block - block_ < kBlocks) {
      lists_[block % kBlocks].push_back(t);
      aside_ |= std::uint64_t{1} << (block % kBlocks);
    } else {
      far_.push_back({t->when, far_sequence_++, t});
      std::push_heap(far_.begin(), far_.end());
    }
  }

  /// Only asked for when all slots are empty.
  [[gnu::noinline]] Cycle earliest_aside() const {
    const auto ahead = std::countr_zero(std::rotr(aside_, static_cast<int>(block_ % kBlocks)));
    Cycle earliest = kNever;
    for (const Event* t : lists_[(block_ + static_cast<Cycle>(ahead)) % kBlocks]) {
      earliest = std::min(earliest, t->when);
    }
    return far_.empty() ? earliest : std::min(earliest, far_.front().when);
  }

  /// The present block is over: deals the events of the block after the next into slots.
  [[gnu::noinline]] void enter_next_block() {
    ++block_;
    const Cycle dealt = block_ + 1;
    while (!far_.empty() && far_.front().when / kBlock <= dealt) {
      std::pop_heap(far_.begin(), far_.end());
      append(far_.back().event);
      far_.pop_back();
    }
    std::vector<Event*>& list = lists_[dealt % kBlocks];
    for (std::size_t i = 0; i < list.size(); ++i) {
      if (i + kAhead < list.size()) prefetch_line(list[i + kAhead]);
      insert_by_source(list[i]);
    }
    list.clear();
    aside_ &= ~(std::uint64_t{1} << (dealt % kBlocks));
  }

  Cycle now_ = 0;
  Cycle block_ = 0;  ///< the present one: now / kBlock
  std::uint64_t pending_ = 0;
  std::uint64_t summary_ = 0;                  ///< words that are not zero
  std::uint64_t aside_ = 0;                    ///< lists that are not empty
  std::array<std::uint64_t, kWords> words_{};  ///< slots that are not empty
  std::array<Event*, kSlots> slots_{};
  std::array<std::vector<Event*>, kBlocks> lists_;
  std::vector<Far> far_;
  std::uint64_t far_sequence_ = 0;
};

}  // namespace nearfar
