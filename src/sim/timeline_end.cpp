// Shortens a timeline to what a viewer can open, without cutting a request in two.
#include "sim/timeline_end.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace nearfar {
namespace {

using Kind = TimelineEvent::Kind;

/// Events beyond the most that may be there before it is worth to look for the end.
constexpr std::size_t kSlack = 1024;

/// A request itself, not a part of its life.
bool is_whole(const TimelineEvent& event, unsigned host) { return event.value != 0 || event.device == host; }

/// Gives each event the cycle by which it and all that belongs to it has ended, in the order of `events`. A part
/// without its request, which was lost, gets kNever.
std::vector<Cycle> whole_ends(const std::vector<TimelineEvent>& events, unsigned host) {
  std::vector<Cycle> ends(events.size());
  std::vector<std::size_t> of_requests;
  for (std::size_t i = 0; i < events.size(); ++i) {
    ends[i] = events[i].settled();
    if (events[i].kind == Kind::Request) of_requests.push_back(i);
  }
  // What overlaps on one device under one id belongs together; a request comes before the parts that begin with it.
  std::ranges::stable_sort(of_requests, {}, [&](std::size_t i) {
    const TimelineEvent& event = events[i];
    return std::tuple(event.device, event.id, event.start, !is_whole(event, host), ~event.end);
  });
  for (std::size_t first = 0; first < of_requests.size();) {
    const TimelineEvent& begin = events[of_requests[first]];
    Cycle end = begin.end;
    bool has_request = is_whole(begin, host);
    std::size_t last = first + 1;
    for (; last < of_requests.size(); ++last) {
      const TimelineEvent& event = events[of_requests[last]];
      if (event.device != begin.device || event.id != begin.id || event.start >= end) break;
      end = std::max(end, event.end);
      has_request |= is_whole(event, host);
    }
    for (; first < last; ++first) ends[of_requests[first]] = has_request ? end : kNever;
  }
  return ends;
}

}  // namespace

void bound_timelines(std::span<Timeline* const> timelines, std::size_t most) {
  std::size_t noted = 0;
  for (const Timeline* timeline : timelines) noted += timeline->events().size();
  if (noted <= 2 * most + kSlack) return;
  std::vector<Cycle> ends;
  ends.reserve(noted);
  for (const Timeline* timeline : timelines) {
    for (const TimelineEvent& event : timeline->events()) ends.push_back(event.settled());
  }
  // So many ended earlier that from this cycle on nothing fits, even if some of them are parts of requests that did
  // not.
  const auto last = ends.begin() + static_cast<std::ptrdiff_t>(most + most / 2);
  std::ranges::nth_element(ends, last);
  for (Timeline* timeline : timelines) timeline->end_before(*last);
}

void shorten_timeline(std::vector<TimelineEvent>& events, std::size_t most, Cycle lost_from, unsigned host) {
  if (lost_from == kNever && events.size() <= most) return;
  const std::vector<Cycle> ends = whole_ends(events, host);
  std::map<Cycle, std::size_t> ending;  // how many end in a cycle
  for (const Cycle end : ends) {
    if (end < lost_from) ++ending[end];
  }
  Cycle until = 0;
  std::size_t kept = 0;
  for (const auto& [cycle, count] : ending) {
    if (kept + count > most) break;
    kept += count;
    until = cycle;
  }
  std::vector<TimelineEvent> whole;
  whole.reserve(kept);
  for (std::size_t i = 0; i < events.size() && kept != 0; ++i) {
    if (ends[i] <= until) whole.push_back(events[i]);
  }
  events = std::move(whole);
}

}  // namespace nearfar
