// Who watches the order of requests at their home: the coherence directory, which acts in the same moment.
#pragma once

#include "memory/line_request.h"
#include "sim/types.h"

namespace nearfar {

class OrderObserver {
 public:
  virtual ~OrderObserver() = default;

  /// The L2 of the home has ordered a request for `request.line`, whose lookup ends `after` cycles from now. Each
  /// request for a line comes exactly once, whatever it waits for later; reads of page tables do not.
  virtual void ordered(const LineRequest& request, Cycle after) = 0;
  /// A copy between launches has overwritten a line.
  virtual void overwritten(PhysLine line) = 0;
  /// A page has left its frame, and no cache holds lines of it.
  virtual void page_left(PhysPage page) = 0;
};

}  // namespace nearfar
