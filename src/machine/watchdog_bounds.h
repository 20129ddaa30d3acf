// How long a machine may take before it counts as stuck: two bounds that follow from its own parameters.
#pragma once

#include "config/system_spec.h"

namespace nearfar {

struct WatchdogBounds {
  Cycle progress = 0;  ///< without any load, store, translation, page migration or kernel ending in the whole machine
  Cycle request = 0;   ///< that one wavefront waits for memory, whatever the others do
};

/// The bounds of a system, or what it says itself: watchdog.cycles, and 16 times that for one request.
WatchdogBounds watchdog_bounds(const SystemSpec& spec);

}  // namespace nearfar
