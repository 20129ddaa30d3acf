// What happened when, for a person to look at: requests, walkers, caches, memory, links, launches. Each partition notes
// its own; after the run they are put together into one file (cli/timeline_json.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/timeline_event.h"
#include "sim/timeline_frames.h"
#include "sim/types.h"

namespace nearfar {

/// Virtual addresses, the last one included.
struct TimelineRange {
  static constexpr unsigned kEveryProcess = ~0U;

  std::uint64_t first = 0;
  std::uint64_t last = ~std::uint64_t{0};
  unsigned process = kEveryProcess;
};

/// Which events are kept.
struct TimelineFilter {
  bool on = false;
  unsigned subjects = bit(TimelineSubject::Translation) | bit(TimelineSubject::Launches);
  std::vector<TimelineRange> ranges;         ///< none: all addresses
  std::uint64_t device = ~std::uint64_t{0};  ///< one GPU; all by default
  Cycle from = 0;
  Cycle to = kNever;
  std::size_t most = 1'000'000;  ///< events of all devices together (timeline_end.h)

  static constexpr unsigned bit(TimelineSubject subject) { return 1U << static_cast<unsigned>(subject); }
  bool wants(TimelineSubject subject) const { return (subjects & bit(subject)) != 0; }
};

class Timeline {
 public:
  Timeline(const TimelineFilter& filter, unsigned page_shift, std::uint64_t line_bytes, TimelineFrames frames = {})
      : filter_(filter), page_shift_(page_shift), line_bytes_(line_bytes), frames_(std::move(frames)) {}

  bool wants(TimelineSubject subject) const { return filter_.wants(subject); }

  /// Notes an event of translation about a page (its number in units of the page size in force).
  void note(const TimelineEvent& event, std::uint64_t page_number) {
    if (selects(page(TimelineFrames::page_id(static_cast<std::uint8_t>(event.id & 0xff), page_number)))) note(event);
  }
  /// Notes an event about lines, if they are selected.
  void note_lines(const TimelineEvent& event) {
    if (selects(event.lines)) note(event);
  }
  void note(const TimelineEvent& event);

  /// The lines `mask` of a frame, by their virtual address where that is known.
  TimelineLines lines_of(PhysPage frame, std::uint64_t mask) const;
  /// A whole page, by its number and process (PageKey).
  TimelineLines page(std::uint64_t page_and_process) const {
    return {page_and_process >> 8 << page_shift_, 0, static_cast<std::uint8_t>(page_and_process & 0xff),
            TimelineLines::Space::Virtual};
  }
  bool selects(const TimelineLines& lines) const;
  /// A frame holds this page and process (PageKey) from now on.
  void frame_holds(PhysPage frame, std::uint64_t page_and_process) { frames_.set(frame, page_and_process); }

  const std::vector<TimelineEvent>& events() const { return events_; }
  std::vector<TimelineEvent> take_events() { return std::exchange(events_, {}); }
  std::uint64_t lost() const { return lost_; }
  /// Nothing from this cycle on is kept (TimelineEvent::settled).
  void end_before(Cycle cycle);
  Cycle complete_before() const { return end_; }

 private:
  TimelineFilter filter_;
  unsigned page_shift_;
  std::uint64_t line_bytes_;
  TimelineFrames frames_;
  std::vector<TimelineEvent> events_;
  std::uint64_t lost_ = 0;
  Cycle end_ = kNever;
};

}  // namespace nearfar
