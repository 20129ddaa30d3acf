// The requests of a DRAM channel that its scheduler can choose from, in order of age.
//
// A ring of 64 slots; sets of requests (all, those of a bank, those whose row is open) are bit masks over it, so the
// oldest of a set is one rotation and one count of zeros away.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "sim/event.h"

namespace nearfar {

/// What a request found in its bank.
enum class RowState : std::uint8_t { Hit, Closed, Conflict };

struct DramRequest {
  union {
    Event* read = nullptr;  ///< of the window of reads: fires when the line is there
    std::uint64_t line;     ///< of the window of writes
  };
  std::uint32_t row = 0;
  std::uint32_t since = 0;  ///< low bits of the cycle in which it came; from its first command on, of that one's
  std::uint16_t bank = 0;   ///< of the channel
  std::uint8_t rank = 0;
  RowState found = RowState::Hit;
  std::uint32_t pipeline = 0;  ///< reads: cycles that the caller's pipeline adds
};

class DramWindow {
 public:
  using Mask = std::uint64_t;
  static constexpr std::uint32_t kSlots = 64;

  DramWindow(std::uint32_t ranks, std::uint32_t banks) : of_bank_(banks), of_rank_(ranks) {}

  bool empty() const { return live_ == 0; }
  std::uint32_t size() const { return size_; }
  Mask all() const { return live_; }
  Mask of_bank(std::uint32_t bank) const { return of_bank_[bank]; }
  Mask of_rank(std::uint32_t rank) const { return of_rank_[rank]; }
  /// Requests whose row is open, or being opened, in their bank.
  Mask hits() const { return hits_; }
  /// Those of the hits whose bank is known to be ready for a column command.
  Mask ready() const { return ready_; }
  bool is_hit(std::uint32_t slot) const { return (hits_ >> slot & 1) != 0; }
  DramRequest& operator[](std::uint32_t slot) { return requests_[slot]; }
  const DramRequest& operator[](std::uint32_t slot) const { return requests_[slot]; }

  std::uint32_t oldest(Mask mask) const {
    return (first_ + static_cast<std::uint32_t>(std::countr_zero(by_age(mask)))) % kSlots;
  }

  /// Visits the slots of `mask` from the oldest on.
  template <class Visit>
  void each(Mask mask, Visit visit) const {
    for (Mask left = by_age(mask); left != 0; left &= left - 1) {
      visit((first_ + static_cast<std::uint32_t>(std::countr_zero(left))) % kSlots);
    }
  }

  /// Adds a request as the youngest.
  void add(const DramRequest& request, bool hit, bool ready) {
    assert(size_ < kSlots);
    if (span_ == kSlots) close_ranks();
    ++size_;
    put((first_ + span_++) % kSlots, request, hit, hit && ready);
  }

  void remove(std::uint32_t slot) {
    const Mask bit = Mask{1} << slot;
    --size_;
    live_ &= ~bit;
    hits_ &= ~bit;
    ready_ &= ~bit;
    of_bank_[requests_[slot].bank] &= ~bit;
    of_rank_[requests_[slot].rank] &= ~bit;
    if (live_ == 0) {
      span_ = 0;
    } else if (slot == first_) {
      const auto gone = static_cast<std::uint32_t>(std::countr_zero(by_age(live_)));
      first_ = (first_ + gone) % kSlots;
      span_ -= gone;
    }
  }

  /// The bank now opens this row.
  void set_row(std::uint32_t bank, std::uint32_t row) {
    hits_ &= ~of_bank_[bank];
    ready_ &= ~of_bank_[bank];
    for (Mask left = of_bank_[bank]; left != 0; left &= left - 1) {
      if (requests_[static_cast<std::size_t>(std::countr_zero(left))].row == row) hits_ |= left & -left;
    }
  }

  /// The bank's open row is ready for column commands.
  void set_ready(std::uint32_t bank) { ready_ |= hits_ & of_bank_[bank]; }

 private:
  Mask by_age(Mask mask) const { return std::rotr(mask, static_cast<int>(first_)); }

  void put(std::uint32_t slot, const DramRequest& request, bool hit, bool ready) {
    const Mask bit = Mask{1} << slot;
    requests_[slot] = request;
    live_ |= bit;
    of_bank_[request.bank] |= bit;
    of_rank_[request.rank] |= bit;
    hits_ |= hit ? bit : 0;
    ready_ |= ready ? bit : 0;
  }

  /// Moves the requests together, to make room behind the youngest.
  void close_ranks() {
    const Mask live = by_age(live_), hits = by_age(hits_), ready = by_age(ready_);
    live_ = hits_ = ready_ = 0;
    span_ = 0;
    std::fill(of_bank_.begin(), of_bank_.end(), 0);
    std::fill(of_rank_.begin(), of_rank_.end(), 0);
    for (Mask left = live; left != 0; left &= left - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
      put((first_ + span_++) % kSlots, requests_[(first_ + i) % kSlots], (hits >> i & 1) != 0, (ready >> i & 1) != 0);
    }
  }

  Mask live_ = 0;
  Mask hits_ = 0;
  Mask ready_ = 0;
  std::uint32_t size_ = 0;
  std::uint32_t first_ = 0;  ///< slot of the oldest
  std::uint32_t span_ = 0;   ///< slots from the oldest to the youngest
  std::vector<Mask> of_bank_;
  std::vector<Mask> of_rank_;
  std::array<DramRequest, kSlots> requests_;
};

}  // namespace nearfar
