// The seam "before the GMMU walk": a chain of gates that know, sooner than a walk, that the local page table has
// nothing for a page. The baseline has none and walks.
#pragma once

#include "sim/types.h"
#include "translation/page.h"

namespace nearfar {

class WalkFilter {
 public:
  virtual ~WalkFilter() = default;

  /// From the miss, or the gate before, to its answer.
  virtual Cycle latency() const = 0;
  /// Whether requests that are replayed after a fault must pass it too.
  virtual bool asks_replays() const = 0;
  /// False: the local table has no mapping of the page that may be used; the host is asked at once.
  virtual bool admits(PageKey page) = 0;
};

/// Who keeps track of which entries of the local page table are valid.
class PteObserver {
 public:
  virtual ~PteObserver() = default;
  /// An invalid entry is about to become valid.
  virtual void maps(PageKey page) = 0;
  /// A valid entry has become invalid.
  virtual void unmapped(PageKey page) = 0;
};

}  // namespace nearfar
