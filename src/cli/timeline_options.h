// What goes into a timeline, as the options of `run` say it, and what there is to say about the one that was made.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "study/experiment.h"

namespace nearfar {

/// The options as typed; all may be empty.
struct TimelineArguments {
  std::string file{}, of{}, gpu{}, address{}, cycles{}, limit{};
};

/// What is in a timeline when nothing else is asked for, and how large its file may become.
inline constexpr const char* kUsualTimelineSubjects = "translation,launches";
inline constexpr const char* kUsualTimelineLimit = "100MB";

/// Numbers are decimal, or hexadecimal after 0x. Anything else, and a GPU that the system does not have, is an
/// InputError. Addresses are only looked at: which they are the workloads know.
TimelineFilter timeline_filter(const TimelineArguments& arguments, const SystemSpec& system);

/// Which addresses go into a timeline: ranges, and buffers of the applications by their names.
std::vector<TimelineRange> timeline_ranges(const TimelineArguments& arguments,
                                           const std::vector<Application>& applications);

/// Bytes that the file may have.
std::uint64_t timeline_limit(const TimelineArguments& arguments);

/// Why less is in the timeline than was asked for, in one line, or "".
std::string timeline_note(const Report& report);

}  // namespace nearfar
