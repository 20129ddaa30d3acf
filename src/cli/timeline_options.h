// What goes into a timeline, as the options of `run` say it, and what there is to say about the one that was made.
#pragma once

#include <string>

#include "study/experiment.h"

namespace nearfar {

/// A file of about 50 MB, which Perfetto opens in seconds.
inline constexpr std::size_t kUsualTimelineEvents = 200'000;

/// The options as typed; all may be empty.
struct TimelineArguments {
  std::string file{}, gpu{}, bytes{}, cycles{}, events{};
};

/// Numbers are decimal, or hexadecimal after 0x. Anything else, and a GPU that the system does not have, is an
/// InputError.
TimelineFilter timeline_filter(const TimelineArguments& arguments, const SystemSpec& system);

/// Why less is in the timeline than was asked for, in one line, or "".
std::string timeline_note(const Report& report);

}  // namespace nearfar
