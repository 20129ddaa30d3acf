#include "sim/timeline.h"

#include <algorithm>
#include <bit>

namespace nearfar {

void Timeline::note(const TimelineEvent& event) {
  if (!filter_.wants(subject_of(event.unit))) return;
  const bool sent_by_it = event.kind == TimelineEvent::Kind::Message && event.peer == filter_.device;
  if (filter_.device != ~std::uint64_t{0} && event.device != filter_.device && !sent_by_it) return;
  if (event.end < filter_.from || event.start > filter_.to) return;
  if (event.settled() >= end_) {
    ++lost_;
    return;
  }
  events_.push_back(event);
}

TimelineLines Timeline::lines_of(PhysPage frame, std::uint64_t mask) const {
  TimelineLines lines;
  lines.mask = mask;
  if (const auto place = frames_.find(frame)) {
    lines.address = place->address;
    lines.process = place->process;
    lines.space = TimelineLines::Space::Virtual;
  } else {
    lines.address = frame.value;
    lines.space = TimelineLines::Space::Physical;
  }
  return lines;
}

bool Timeline::selects(const TimelineLines& lines) const {
  if (filter_.ranges.empty()) return true;
  if (lines.space != TimelineLines::Space::Virtual) return false;
  const auto meets = [&](std::uint64_t first, std::uint64_t bytes) {
    return std::ranges::any_of(filter_.ranges, [&](const TimelineRange& range) {
      const bool whose = range.process == TimelineRange::kEveryProcess || range.process == lines.process;
      return whose && first <= range.last && first + bytes - 1 >= range.first;
    });
  };
  if (lines.mask == 0) return meets(lines.address, std::uint64_t{1} << page_shift_);
  for (std::uint64_t rest = lines.mask; rest != 0; rest &= rest - 1) {
    const auto index = static_cast<std::uint64_t>(std::countr_zero(rest));
    if (meets(lines.address + index * line_bytes_, line_bytes_)) return true;
  }
  return false;
}

void Timeline::end_before(Cycle cycle) {
  end_ = std::min(end_, cycle);
  lost_ += std::erase_if(events_, [&](const TimelineEvent& event) { return event.settled() >= end_; });
}

}  // namespace nearfar
