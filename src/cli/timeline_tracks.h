// The tracks of a timeline: where in a viewer each slice is drawn. A unit that does several things at once (an L2 bank
// with its MSHRs, a DRAM channel, the requests of a compute unit) gets as many tracks as it needs for its slices to lie
// beside one another; kernels and their phases lie within one another on one.
#pragma once

#include <string>
#include <vector>

#include "sim/timeline_event.h"

namespace nearfar {

struct TimelineSlice {
  /// A message is two slices: one at each end of its link.
  enum class Role : std::uint8_t { Whole, Sent, Received };

  const TimelineEvent* event = nullptr;
  Role role = Role::Whole;
  std::uint16_t device = 0;
  TimelineUnit unit = TimelineUnit::Walker;
  std::uint16_t index = 0;  ///< of the unit
  Cycle start = 0;
  Cycle end = 0;
  unsigned tid = 0;  ///< of its track, in its device
};

struct TimelineTrack {
  std::uint16_t device = 0;
  unsigned tid = 0;
  TimelineUnit unit = TimelineUnit::Walker;
  std::uint16_t index = 0;
  unsigned lane = 0;  ///< which of the tracks of one unit
};

struct TimelineTracks {
  std::vector<TimelineSlice> slices;  ///< track by track for each unit, by start; outer ones before inner ones
  std::vector<TimelineTrack> tracks;
};

/// Places spans, instants and messages; from 1 on for each device, in the order of units. The slices of a message are
/// drawn at least `shortest` cycles long, so that an arrow finds them.
TimelineTracks timeline_tracks(const std::vector<TimelineEvent>& events, Cycle shortest);

/// What a track is called; the host has a last-level cache.
std::string track_name(const TimelineTrack& track, bool host);

}  // namespace nearfar
