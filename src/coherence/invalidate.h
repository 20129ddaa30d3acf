// How directories put their invalidations together.
#pragma once

#include <cstdint>

#include "coherence/directory.h"
#include "sim/types.h"

namespace nearfar {

/// One for each of the sharers, in ascending order.
inline void invalidate(Sharers sharers, const Invalidation& message, Invalidations& out) {
  for_each_sharer(sharers, [&](DeviceId gpu) { out.emplace_back(message).to = gpu; });
}

/// Of the line that has been written, and no other.
inline void invalidate_written_line(PhysLine line, Sharers sharers, Invalidations& out) {
  const std::uint64_t mask = std::uint64_t{1} << line.index();
  invalidate(sharers,
             {.page = line.page(), .lines = mask, .written = mask, .to = {}, .cause = InvalidationCause::Write}, out);
}

}  // namespace nearfar
