// The event queue: a timing wheel of one slot a cycle, with far events set aside in a heap.
//
// Order is total: (time, source, sequence). A slot is a circular list known by its tail; local events are appended,
// so they keep their sequence without storing it, and messages are kept sorted by source ahead of them. An event set
// aside enters its slot when the wheel's horizon reaches it, which is before anything can be appended there directly,
// so the order is the same as in one big heap.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "sim/transaction.h"
#include "sim/types.h"

namespace nearfar {

class Wheel {
 public:
  static constexpr Cycle kSlots = 4096;

  Cycle now() const { return now_; }
  std::uint64_t pending() const { return pending_; }

  /// An event of the partition's own, behind all others of that cycle.
  void schedule(Transaction* t, Cycle when) {
    assert(when >= now_);
    t->when = when;
    t->source = kLocalSource;
    ++pending_;
    if (when - now_ < kSlots) {
      append(t);
    } else {
      set_aside(t);
    }
  }

  /// A message from another partition, before the local events of its cycle (t->when and t->source are set).
  void deliver(Transaction* t) {
    assert(t->when >= now_ && t->source != kLocalSource);
    ++pending_;
    if (t->when - now_ < kSlots) {
      insert_by_source(t);
    } else {
      set_aside(t);
    }
  }

  /// Time of the earliest event, or kNever.
  Cycle next_time() const {
    if (summary_ == 0) return far_.empty() ? kNever : far_.front().when;
    // Everything in the wheel is nearer than everything set aside.
    return now_ + distance_to_next();
  }

  /// Removes the first event before `limit`, moving time to it; null when there is none.
  Transaction* pop(Cycle limit) {
    Transaction*& tail = slots_[now_ % kSlots];
    if (tail == nullptr) return advance_and_pop(limit);
    if (now_ >= limit) return nullptr;
    return take_head(tail, now_ % kSlots);
  }

  /// Moves time forward over cycles without events (to place messages relative to a window's start).
  void advance_to(Cycle when) {
    assert(when >= now_ && (pending_ == 0 || when <= next_time()));
    now_ = when;
    admit_far();
  }

 private:
  struct Far {
    Cycle when;
    std::uint64_t sequence;
    Transaction* transaction;

    /// std heap algorithms keep the largest in front: the later of two is the smaller.
    bool operator<(const Far& other) const {
      if (when != other.when) return when > other.when;
      if (transaction->source != other.transaction->source) return transaction->source > other.transaction->source;
      return sequence > other.sequence;
    }
  };

  static constexpr std::size_t kWords = kSlots / 64;
  static_assert(kWords <= 64);

  void mark(std::size_t slot) {
    words_[slot / 64] |= std::uint64_t{1} << (slot % 64);
    summary_ |= std::uint64_t{1} << (slot / 64);
  }

  void append(Transaction* t) {
    const std::size_t slot = t->when % kSlots;
    Transaction*& tail = slots_[slot];
    if (tail == nullptr) {
      t->next = t;
      mark(slot);
    } else {
      t->next = tail->next;
      tail->next = t;
    }
    tail = t;
  }

  void insert_by_source(Transaction* t) {
    const std::size_t slot = t->when % kSlots;
    Transaction*& tail = slots_[slot];
    if (tail == nullptr || tail->source <= t->source) {
      append(t);
      return;
    }
    Transaction* before = tail;
    while (before->next->source <= t->source) before = before->next;
    t->next = before->next;
    before->next = t;
  }

  Transaction* take_head(Transaction*& tail, std::size_t slot) {
    Transaction* head = tail->next;
    if (head == tail) {
      tail = nullptr;
      words_[slot / 64] &= ~(std::uint64_t{1} << (slot % 64));
      if (words_[slot / 64] == 0) summary_ &= ~(std::uint64_t{1} << (slot / 64));
    } else {
      tail->next = head->next;
      __builtin_prefetch(tail->next);
    }
    --pending_;
    return head;
  }

  Transaction* advance_and_pop(Cycle limit) {
    const Cycle next = next_time();
    if (next >= limit) return nullptr;
    now_ = next;
    admit_far();
    return take_head(slots_[now_ % kSlots], now_ % kSlots);
  }

  /// Cycles from now to the first occupied slot; the wheel is not empty.
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

  void set_aside(Transaction* t) {
    far_.push_back({t->when, far_sequence_++, t});
    std::push_heap(far_.begin(), far_.end());
  }

  void admit_far() {
    while (!far_.empty() && far_.front().when - now_ < kSlots) {
      std::pop_heap(far_.begin(), far_.end());
      append(far_.back().transaction);
      far_.pop_back();
    }
  }

  Cycle now_ = 0;
  std::uint64_t pending_ = 0;
  std::uint64_t summary_ = 0;
  std::array<std::uint64_t, kWords> words_{};
  std::array<Transaction*, kSlots> slots_{};
  std::vector<Far> far_;
  std::uint64_t far_sequence_ = 0;
};

}  // namespace nearfar
