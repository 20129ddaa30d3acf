// A run's timeline in the Chrome trace-event format, which Perfetto and chrome://tracing open.
#pragma once

#include <string>

#include "study/experiment.h"

namespace nearfar {

/// When the last event ended. A timeline that is too long is complete up to there.
Cycle timeline_end(const Report& report);

std::string timeline_json(const Report& report);

}  // namespace nearfar
