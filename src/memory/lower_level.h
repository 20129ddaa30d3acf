// All that a cache knows of what is below it: an L1 of its L2, an L2 of the remote homes of lines.
#pragma once

#include <cstdint>

#include "memory/line_request.h"
#include "sim/types.h"

namespace nearfar {

/// Who waits for room below; its owner knows what it means.
using Waiter = std::uint16_t;

class LowerLevel {
 public:
  virtual ~LowerLevel() = default;

  /// Takes room for a request for `line`, which then must come. Where there is none, `waiter` is woken when there is.
  virtual bool reserve(PhysLine line, Waiter waiter) = 0;
  /// The same for a requester that is bounded by other means.
  virtual void reserve_always(PhysLine line) = 0;
  /// Requests for lines of a page, all of which have room.
  virtual void request(LineRequest* request) = 0;
};

}  // namespace nearfar
