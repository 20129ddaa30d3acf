// A run's timeline in the Chrome trace-event format, which Perfetto and chrome://tracing open.
#pragma once

#include <string>

#include "study/experiment.h"

namespace nearfar {

std::string timeline_json(const Report& report);

}  // namespace nearfar
