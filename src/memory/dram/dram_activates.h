// When a rank may open rows: activates at least t_rrd apart, and at most four in any window of t_faw.
// They are placed ahead of time, so one that is ready sooner may still go before those already placed.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/types.h"

namespace nearfar {

class DramActivates {
 public:
  /// Places an activate at the first legal time at or after `from`.
  Cycle place(Cycle from, Cycle t_rrd, Cycle t_faw) {
    const auto rrd = static_cast<Time>(t_rrd);
    const auto faw = static_cast<Time>(t_faw);
    if (static_cast<Time>(from) >= times_[kKept - 1]) {
      const Time last = std::max({static_cast<Time>(from), times_[kKept - 1] + rrd, times_[kKept - kBehind] + faw});
      insert(last, kKept);
      return static_cast<Cycle>(last);
    }
    // Those forgotten are not later than times_[0]; behind four known ones they do not matter.
    Time when = std::max(static_cast<Time>(from), times_[kBehind - 1] + rrd);
    std::size_t at = kBehind;
    for (;;) {
      while (at < kKept && times_[at] <= when) ++at;
      const Time legal = std::max(times_[at - 1] + rrd, times_[at - kBehind] + faw);
      if (when < legal) {
        when = legal;
        continue;
      }
      if (at == kKept || leaves_room(when, at, rrd, faw)) break;
      when = times_[at] + rrd;
    }
    insert(when, at);
    return static_cast<Cycle>(when);
  }

 private:
  using Time = std::int64_t;
  static constexpr std::size_t kKept = 8;
  static constexpr std::size_t kBehind = 4;
  static constexpr Time kLongAgo = -(Time{1} << 60);

  /// Whether the activates placed from `at` on stay legal when another one comes before them.
  bool leaves_room(Time when, std::size_t at, Time rrd, Time faw) const {
    if (times_[at] - when < rrd) return false;
    for (std::size_t later = at; later < std::min(at + kBehind - 1, kKept); ++later) {
      if (times_[later] - times_[later - (kBehind - 1)] < faw) return false;
    }
    return at + kBehind - 1 >= kKept || times_[at + kBehind - 1] - when >= faw;
  }

  void insert(Time when, std::size_t at) {
    for (std::size_t i = 1; i < at; ++i) times_[i - 1] = times_[i];
    times_[at - 1] = when;
  }

  std::array<Time, kKept> times_{kLongAgo, kLongAgo, kLongAgo, kLongAgo, kLongAgo, kLongAgo, kLongAgo, kLongAgo};
};

}  // namespace nearfar
