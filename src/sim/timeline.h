// What happened when, for a person to look at: spans of requests, walkers, queues and migrations. Each partition notes
// its own; after the run they are put together into one file (cli/timeline_json.h).
#pragma once

#include <cstdint>
#include <vector>

#include "sim/types.h"

namespace nearfar {

struct TimelineEvent {
  enum class Kind : std::uint8_t {
    Span,     ///< something that occupies its track from `start` to `end`
    Request,  ///< a part of a request's life; requests overlap, `id` tells them apart
    Level,    ///< a queue's length from `start` on, in `value`
  };

  Kind kind = Kind::Span;
  std::uint16_t device = 0;    ///< under which it is shown
  std::uint16_t track = 0;     ///< spans: walker number
  const char* name = nullptr;  ///< a literal
  Cycle start = 0;
  Cycle end = 0;
  std::uint64_t id = 0;     ///< requests and spans: the page
  std::uint64_t value = 0;  ///< levels: the length; requests of a GPU: 1 for a whole one, 0 for a part of it
};

/// Which events are kept.
struct TimelineFilter {
  bool on = false;
  std::uint64_t first_byte = 0;  ///< virtual addresses
  std::uint64_t last_byte = ~std::uint64_t{0};
  std::uint64_t device = ~std::uint64_t{0};  ///< one GPU; all by default
  Cycle from = 0;
  Cycle to = kNever;
  std::size_t most = 1'000'000;  ///< events of all devices together (timeline_end.h); a device stops there
};

class Timeline {
 public:
  Timeline(const TimelineFilter& filter, unsigned page_shift) : filter_(filter), page_shift_(page_shift) {}

  /// Notes an event about a page (its number in units of the page size in force).
  void note(const TimelineEvent& event, std::uint64_t page_number) {
    const std::uint64_t first = page_number << page_shift_;
    const std::uint64_t last = first + (std::uint64_t{1} << page_shift_) - 1;
    if (last >= filter_.first_byte && first <= filter_.last_byte) note(event);
  }
  void note(const TimelineEvent& event) {
    if (filter_.device != ~std::uint64_t{0} && event.device != filter_.device) return;
    if (event.end < filter_.from || event.start > filter_.to) return;
    if (events_.size() == filter_.most) {
      ++lost_;
      return;
    }
    events_.push_back(event);
  }

  const std::vector<TimelineEvent>& events() const { return events_; }
  std::uint64_t lost() const { return lost_; }

 private:
  TimelineFilter filter_;
  unsigned page_shift_;
  std::vector<TimelineEvent> events_;
  std::uint64_t lost_ = 0;
};

}  // namespace nearfar
