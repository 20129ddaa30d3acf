// The seam "how to invalidate": what a GMMU does with an invalidation's entry of the local page table. The baseline
// walks to it and writes it before it acknowledges. An invalidator takes it over, and until it has written the entry
// hides it.
#pragma once

#include "translation/page.h"

namespace nearfar {

class Invalidator {
 public:
  virtual ~Invalidator() = default;

  /// An invalidation, of which the TLBs know, for the local table. True: it is taken, and counts as done. False: it
  /// waits for room behind those that wait already; Gmmu::invalidation_taken() follows. From now on its entry is
  /// hidden.
  virtual bool offer(PageKey page) = 0;
  /// Invalidations that wait for room.
  virtual std::size_t waiting() const = 0;
  /// Whether the entry in the local table is void, whatever it says.
  virtual bool hides(PageKey page) const = 0;
  /// A new mapping of a page has come, whose write follows. Whether an invalidation that had not been written is void
  /// by that.
  virtual bool cancel(PageKey page) = 0;
  /// The queue of the walkers has room, and perhaps a walker nothing to do.
  virtual void walkers_have_room() = 0;
};

}  // namespace nearfar
