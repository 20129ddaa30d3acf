// Places the slices of each unit on the first of its tracks that is free.
#include "cli/timeline_tracks.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <queue>
#include <set>
#include <span>
#include <tuple>
#include <utility>

namespace nearfar {
namespace {

using Kind = TimelineEvent::Kind;

/// The tracks of one unit: which are free, and when the others will be.
class Lanes {
 public:
  unsigned place(Cycle start, Cycle end) {
    while (!busy_.empty() && busy_.top().first <= start) {
      free_.insert(busy_.top().second);
      busy_.pop();
    }
    if (free_.empty()) free_.insert(count_++);
    const unsigned lane = *free_.begin();
    free_.erase(free_.begin());
    // What takes no time still has its track for itself.
    busy_.emplace(std::max(end, start + 1), lane);
    return lane;
  }
  unsigned count() const { return count_; }

 private:
  using Busy = std::pair<Cycle, unsigned>;
  std::set<unsigned> free_;
  std::priority_queue<Busy, std::vector<Busy>, std::greater<>> busy_;
  unsigned count_ = 0;
};

void add_message(std::vector<TimelineSlice>& slices, const TimelineEvent& event, Cycle shortest) {
  slices.push_back({&event, TimelineSlice::Role::Sent, event.peer, TimelineUnit::LinkOutput, event.hop.output,
                    event.start, event.start + std::max<Cycle>(event.hop.sending, shortest)});
  slices.push_back({&event, TimelineSlice::Role::Received, event.device, TimelineUnit::LinkInput, event.track,
                    event.end - std::max<Cycle>(event.hop.receiving, shortest), event.end});
}

std::vector<TimelineSlice> slices_of(const std::vector<TimelineEvent>& events, Cycle shortest) {
  std::vector<TimelineSlice> slices;
  for (const TimelineEvent& event : events) {
    if (event.kind == Kind::Message) add_message(slices, event, shortest);
    if (event.kind != Kind::Span && event.kind != Kind::Instant) continue;
    slices.push_back(
        {&event, TimelineSlice::Role::Whole, event.device, event.unit, event.track, event.start, event.end});
  }
  std::ranges::stable_sort(slices, {}, [](const TimelineSlice& slice) {
    return std::tuple(slice.device, slice.unit, slice.index, slice.start, ~slice.end);
  });
  return slices;
}

/// Gives the slices of one unit their tracks, from `first` on; the answer is how many.
unsigned place(std::span<TimelineSlice> slices, unsigned first) {
  Lanes lanes;
  for (TimelineSlice& slice : slices) {
    const bool beside = slice.unit != TimelineUnit::Kernel && slice.event->kind != Kind::Instant;
    slice.tid = first + (beside ? lanes.place(slice.start, slice.end) : 0);
  }
  return std::max(lanes.count(), 1U);
}

}  // namespace

TimelineTracks timeline_tracks(const std::vector<TimelineEvent>& events, Cycle shortest) {
  TimelineTracks all;
  all.slices = slices_of(events, shortest);
  unsigned next = 1;
  for (std::size_t first = 0; first < all.slices.size();) {
    const TimelineSlice unit = all.slices[first];
    const auto same = [&](const TimelineSlice& other) {
      return std::tie(other.device, other.unit, other.index) == std::tie(unit.device, unit.unit, unit.index);
    };
    if (all.tracks.empty() || all.tracks.back().device != unit.device) next = 1;
    std::size_t last = first;
    while (last < all.slices.size() && same(all.slices[last])) ++last;
    const unsigned count = place(std::span(all.slices).subspan(first, last - first), next);
    for (unsigned lane = 0; lane < count; ++lane) {
      all.tracks.push_back({unit.device, next + lane, unit.unit, unit.index, lane});
    }
    next += count;
    first = last;
  }
  return all;
}

std::string track_name(const TimelineTrack& track, bool host) {
  const char* cache = host ? "LLC" : "L2";
  const auto name = [&]() -> std::string {
    switch (track.unit) {
      case TimelineUnit::Application: return fmt::format("application {}", track.index);
      case TimelineUnit::Dma: return "DMA copies";
      case TimelineUnit::Kernel: return "kernels";
      case TimelineUnit::ComputeUnit: return fmt::format("CU {} requests", track.index);
      case TimelineUnit::VectorL1: return fmt::format("CU {} L1 misses", track.index);
      case TimelineUnit::ScalarL1: return fmt::format("shader array {} scalar L1 misses", track.index);
      case TimelineUnit::L2Bank: return fmt::format("{} bank {}", cache, track.index);
      case TimelineUnit::L2Lines: return fmt::format("{} fills, evictions, write-backs, invalidations", cache);
      case TimelineUnit::Directory: return fmt::format("{} {}", host ? "HMD" : "SMD", track.index);
      case TimelineUnit::DramChannel: return fmt::format("DRAM channel {}", track.index);
      case TimelineUnit::LinkOutput: return fmt::format("link output {}", track.index);
      case TimelineUnit::LinkInput: return fmt::format("link input {}", track.index);
      case TimelineUnit::Walker: break;
    }
    return fmt::format("page walker {}", track.index);
  };
  return track.lane == 0 ? name() : fmt::format("{} #{}", name(), track.lane + 1);
}

}  // namespace nearfar
