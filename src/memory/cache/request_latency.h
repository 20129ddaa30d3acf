// Which requests count for the latency of loads, and how long the present stage of one has taken.
#pragma once

#include <cstdint>

#include "memory/line_request.h"
#include "sim/types.h"

namespace nearfar {

/// Vector loads and atomics do; scalar loads, stores, walkers' reads and what a switch asks of others do not.
inline bool counts_latency(const LineRequest& request) {
  return (request.kind == RequestKind::Read || request.kind == RequestKind::Atomic) &&
         request.fill != LineRequest::kForSwitch;
}

inline std::uint32_t since_stage_start(Cycle now, const LineRequest& request) {
  return static_cast<std::uint32_t>(now) - request.stage_start;
}

}  // namespace nearfar
