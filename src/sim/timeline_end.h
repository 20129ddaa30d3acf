// Where a timeline that is too long ends.
#pragma once

#include <vector>

#include "sim/timeline.h"

namespace nearfar {

/// Shortens the events of all devices to at most `most`, in such a way that what is left is whole: everything that
/// ended by one cycle, requests with all of their parts, and nothing else. Events that ended at `lost_from` or later
/// are not complete (kNever: all are). `host` is the device whose requests have no parts.
void shorten_timeline(std::vector<TimelineEvent>& events, std::size_t most, Cycle lost_from, unsigned host);

}  // namespace nearfar
