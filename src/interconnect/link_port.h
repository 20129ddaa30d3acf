// One direction of a link: it passes bytes at an exact rate, and decides who is next where several wait.
//
// Messages wait by traffic class and flow: the destinations at a sender's output, the sources at a receiver's input.
// Classes take turns, and so do the flows of a class, a burst at a time; the port is never idle while something may go.
// The port knows who waits and when it is free; the network interface keeps the queues.
//
// Time is in ticks (sim/rate.h), so that no rounding accumulates.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>

#include "memory/packet.h"
#include "sim/device_set.h"
#include "sim/divider.h"
#include "sim/rate.h"
#include "sim/spacing.h"
#include "sim/types.h"

namespace nearfar {

class LinkPort {
 public:
  LinkPort(std::uint64_t bytes_per_second, std::uint64_t clock_hertz)
      : LinkPort(Rate::of(bytes_per_second, clock_hertz)) {}

  std::uint64_t ticks(Cycle cycles) const { return cycles * cycle_.divisor(); }
  std::uint64_t ticks_of_bytes(std::uint64_t bytes) const { return bytes * ticks_per_byte_; }

  /// When all that it has begun to pass is through, in ticks; rounded up to a cycle; rounded down to one.
  std::uint64_t free() const { return free_; }
  Cycle free_cycle() const { return cycle_.ceiling(free_); }
  Cycle free_within() const { return cycle_.quotient(free_); }

  // ---------------------------------------------------------------------------------------------- who waits

  /// Whether something waits that may go.
  bool waiting() const { return classes_ != 0; }
  /// The first of the queue of a class and flow may go, from tick `now` on.
  void add(TrafficClass traffic, unsigned flow, std::uint64_t now) {
    if (classes_ == 0) free_ = std::max(free_, now);  // it has been idle until now
    const auto which = static_cast<unsigned>(traffic);
    flows_[which].insert(flow);
    classes_ |= 1U << which;
  }
  /// That queue is empty or has to wait for something else.
  void remove(TrafficClass traffic, unsigned flow) {
    const auto which = static_cast<unsigned>(traffic);
    flows_[which].erase(flow);
    if (flows_[which].empty()) classes_ &= ~(1U << which);
  }

  struct Turn {
    TrafficClass traffic;
    unsigned flow;
  };
  /// Whose turn it is, of those that wait.
  Turn next() {
    const unsigned later = classes_ >> next_class_ << next_class_;
    const auto which = static_cast<unsigned>(std::countr_zero(later != 0 ? later : classes_));
    const auto traffic = static_cast<TrafficClass>(which);
    const unsigned flow = flows_[which].first_around(next_flow_[which]);
    took_turn(traffic, flow);
    return {traffic, flow};
  }
  /// A message that did not have to wait has used its turn.
  void took_turn(TrafficClass traffic, unsigned flow) {
    const auto which = static_cast<unsigned>(traffic);
    next_class_ = which + 1;
    next_flow_[which] = flow + 1;
  }

  // ---------------------------------------------------------------------------------------------- passing

  /// When a packet is through: the cycle, and by how many ticks its last byte was before that cycle's end; and the
  /// cycle in which the last of those that came with it is.
  struct Through {
    Cycle cycle;
    std::uint32_t early;
    Cycle last;
  };
  /// Passes a packet of `bytes` from tick `from` on or when it is free, and `behind` bytes of packets that follow it
  /// without a gap.
  Through pass(std::uint64_t from, std::uint64_t bytes, std::uint64_t behind) {
    const std::uint64_t first = std::max(from, free_) + ticks_of_bytes(bytes);
    free_ = first + ticks_of_bytes(behind);
    bytes_ += bytes + behind;
    const Cycle cycle = cycle_.ceiling(first);
    return {cycle, static_cast<std::uint32_t>(ticks(cycle) - first), behind == 0 ? cycle : cycle_.ceiling(free_)};
  }

  /// When `behind` bytes that follow a packet have come, which came `early` ticks before the end of cycle `end`.
  Cycle after(Cycle end, std::uint32_t early, std::uint64_t behind) const {
    return behind == 0 ? end : cycle_.ceiling(ticks(end) - early + ticks_of_bytes(behind));
  }
  /// How far apart `packets` are that have `bytes` in all.
  Spacing spacing(std::uint64_t bytes, std::uint64_t packets) const {
    return Spacing::of_ticks(ticks_of_bytes(bytes) / packets, cycle_);
  }
  /// Whole cycles that `bytes` occupy, rounded up.
  Cycle duration(std::uint64_t bytes) const { return cycle_.ceiling(ticks_of_bytes(bytes)); }
  /// Whole cycles of work done so far.
  Cycle busy_cycles() const { return cycle_.quotient(ticks_of_bytes(bytes_)); }

 private:
  explicit LinkPort(const Rate& rate) : cycle_(rate.ticks_per_cycle), ticks_per_byte_(rate.ticks_per_byte) {}

  Divider cycle_;  ///< in ticks
  std::uint64_t ticks_per_byte_;
  std::uint64_t free_ = 0;
  std::uint64_t bytes_ = 0;
  unsigned classes_ = 0;  ///< a bit for each class in which something may go
  unsigned next_class_ = 0;
  std::array<unsigned, kTrafficClasses> next_flow_{};
  std::array<DeviceSet, kTrafficClasses> flows_;
};

}  // namespace nearfar
