// The data bus of a DRAM channel: bursts of one line at the exact rate, in either direction, one at a time.
//
// Bursts are booked ahead of time. One that begins later than the bus is free leaves a gap, and a burst that is ready
// sooner may still take it; so a request can be committed as soon as it comes without holding up those that follow.
//
// The length of a burst is kept as a fraction of cycles. It is exact for all rates and clocks that a person writes
// (whole MB/s and MHz); where its denominator exceeds 2^23, it is rounded up to a multiple of that part of a cycle.
#pragma once

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <numeric>

#include "sim/types.h"

namespace nearfar {

/// Whole cycles and parts of one, in one number. How many parts make a cycle is the bus's to know.
class ExactTime {
 public:
  static constexpr unsigned kPartBits = 24;

  constexpr ExactTime() = default;
  constexpr explicit ExactTime(Cycle cycle, std::uint64_t part = 0) : value_(cycle << kPartBits | part) {}
  static constexpr ExactTime never() { return ExactTime(kNever >> kPartBits); }

  constexpr Cycle cycle() const { return value_ >> kPartBits; }
  constexpr std::uint64_t part() const { return value_ & kPartMask; }
  constexpr Cycle ceil() const { return (value_ + kPartMask) >> kPartBits; }
  constexpr auto operator<=>(const ExactTime&) const = default;

  constexpr ExactTime after(Cycle cycles) const { return ExactTime(cycle() + cycles, part()); }
  constexpr ExactTime plus(ExactTime span, std::uint64_t parts_of_a_cycle) const {
    ExactTime sum;
    sum.value_ = value_ + span.value_;
    if (sum.part() >= parts_of_a_cycle) sum.value_ += kPartMask + 1 - parts_of_a_cycle;
    return sum;
  }

 private:
  static constexpr std::uint64_t kPartMask = (std::uint64_t{1} << kPartBits) - 1;

  std::uint64_t value_ = 0;
};

enum class BusDirection : std::uint8_t { Read, Write };

class DramBus {
 public:
  /// Bursts of different ranks need the turn-around between them, as a read and a write do.
  /// `fill_gaps` says whether a burst may begin before one that was booked earlier.
  DramBus(std::uint64_t line_bytes, std::uint64_t bytes_per_second, std::uint64_t clock_hertz, std::uint32_t ranks,
          bool fill_gaps)
      : fill_gaps_(fill_gaps), many_ranks_(ranks > 1) {
    const auto work = static_cast<unsigned __int128>(line_bytes) * clock_hertz;
    const auto common = std::gcd(bytes_per_second, static_cast<std::uint64_t>(work % bytes_per_second));
    parts_ = std::min(bytes_per_second / common, kMostParts);
    const auto ticks = (work * parts_ + bytes_per_second - 1) / bytes_per_second;
    burst_ = ExactTime(static_cast<Cycle>(ticks / parts_), static_cast<std::uint64_t>(ticks % parts_));
    turn_around_ = (burst_.ceil() + 1) / 2;
  }

  std::uint64_t parts() const { return parts_; }
  ExactTime burst() const { return burst_; }
  /// Idle time between bursts of different directions or ranks: half a burst, as the 2 clocks of DDR are.
  Cycle turn_around() const { return turn_around_; }
  /// End of the last burst.
  ExactTime free() const { return free_; }
  std::uint32_t rank() const { return rank_; }

  /// When a burst can begin, at or after `from`.
  ExactTime earliest(Cycle from, BusDirection direction, std::uint32_t rank) const {
    ExactTime best = std::max(ExactTime(from), after_last(direction, rank));
    if (gap_count_ == 0 || direction != direction_) return best;
    for (std::uint32_t i = 0; i < gap_count_; ++i) {
      const ExactTime start = std::max(ExactTime(from), gaps_[i].begin);
      if (start < best && plus(start, burst_) <= gaps_[i].end) best = start;
    }
    return best;
  }

  /// Books a burst at a time that `earliest` gave and returns its end. No burst will begin before `horizon` any more.
  ExactTime book(ExactTime start, BusDirection direction, std::uint32_t rank, Cycle horizon) {
    const ExactTime end = plus(start, burst_);
    if (start < free_) {
      split_gap(start, end);
      return end;
    }
    if (fill_gaps_) {
      if (gap_count_ != 0) drop_gaps(horizon, direction);
      if (start != free_) add_gap(after_last(direction, many_ranks_ ? ~rank_ : rank_), before(start));
    }
    free_ = end;
    direction_ = direction;
    rank_ = rank;
    return end;
  }

 private:
  static constexpr std::uint64_t kMostParts = std::uint64_t{1} << (ExactTime::kPartBits - 1);

  struct Gap {
    ExactTime begin;
    ExactTime end;
  };

  ExactTime plus(ExactTime time, ExactTime span) const { return time.plus(span, parts_); }

  ExactTime after_last(BusDirection direction, std::uint32_t rank) const {
    return direction == direction_ && rank == rank_ ? free_ : free_.after(turn_around_);
  }

  /// Where there are several ranks, what fills a gap may be of another one than its neighbours.
  ExactTime before(ExactTime start) const {
    return many_ranks_ ? ExactTime(start.cycle() - std::min(turn_around_, start.cycle()), start.part()) : start;
  }
  ExactTime after(ExactTime end) const { return many_ranks_ ? end.after(turn_around_) : end; }

  void add_gap(ExactTime begin, ExactTime end) {
    if (gap_count_ < gaps_.size() && plus(begin, burst_) <= end) gaps_[gap_count_++] = {begin, end};
  }

  void remove_gap(std::uint32_t i) { gaps_[i] = gaps_[--gap_count_]; }

  void drop_gaps(Cycle horizon, BusDirection direction) {
    for (std::uint32_t i = gap_count_; i-- > 0;) {
      if (direction != direction_ || gaps_[i].end < plus(ExactTime(horizon), burst_)) remove_gap(i);
    }
  }

  void split_gap(ExactTime start, ExactTime end) {
    std::uint32_t i = 0;
    while (start < gaps_[i].begin || end > gaps_[i].end) ++i;
    const Gap gap = gaps_[i];
    remove_gap(i);
    add_gap(gap.begin, before(start));
    add_gap(after(end), gap.end);
  }

  bool fill_gaps_;
  bool many_ranks_;
  BusDirection direction_ = BusDirection::Read;
  std::uint32_t rank_ = 0;
  std::uint64_t parts_ = 1;
  ExactTime burst_;
  Cycle turn_around_ = 0;
  ExactTime free_;
  std::uint32_t gap_count_ = 0;
  std::array<Gap, 4> gaps_{};
};

}  // namespace nearfar
