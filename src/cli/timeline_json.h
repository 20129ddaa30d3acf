// A run's timeline in the Chrome trace-event format, which Perfetto and chrome://tracing open.
#pragma once

#include <cstdint>
#include <string>

#include "study/experiment.h"

namespace nearfar {

/// The cycle up to which a timeline that is too long is complete.
Cycle timeline_end(const Report& report);

std::string timeline_json(const Report& report);

/// The same in at most `bytes`: what does not fit leaves the report's timeline, later events first, and is counted.
std::string timeline_json(Report& report, std::uint64_t bytes);

}  // namespace nearfar
