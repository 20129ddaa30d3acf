// The seam "walk access": how a walker gets a page-table entry. The baseline's answer is the absence of one: a fixed
// time, or a read of the entry's line in memory (WalkUnit::read).
#pragma once

#include "sim/types.h"
#include "translation/walk/walk.h"

namespace nearfar {

class WalkAccess {
 public:
  virtual ~WalkAccess() = default;

  /// A walk begins at `walk.level`, or begins again, when the walk cache has answered, at `walk.looked_up`.
  virtual void begins(Walk&) {}
  /// The access of a walk's level begins at `at`. True: it is made here, and `event` goes to WalkUnit::accessed when
  /// the entry is there. False: it is made as in the baseline.
  virtual bool access(Walk& walk, WalkEvent* event, Cycle at) = 0;
  /// A walk has made its last access, or begins again.
  virtual void ended(Walk&) {}
};

}  // namespace nearfar
