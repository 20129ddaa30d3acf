// Where a timeline that is too long ends: while the run goes on, so that it stays in bounds, and at its end.
#pragma once

#include <span>
#include <vector>

#include "sim/timeline.h"

namespace nearfar {

/// Shortens the events of all devices to at most `most`, in such a way that what is left is whole: everything that
/// ended by one cycle, requests with all of their parts, launches that have begun by then, and nothing else. Events
/// from `lost_from` on are not complete (kNever: all are). `host` is the device whose requests have no parts.
void shorten_timeline(std::vector<TimelineEvent>& events, std::size_t most, Cycle lost_from, unsigned host);

/// To be called now and then: where the devices have noted far more than `most` events, those are dropped, here and
/// from now on, that are certain to be beyond the end.
void bound_timelines(std::span<Timeline* const> timelines, std::size_t most);

}  // namespace nearfar
