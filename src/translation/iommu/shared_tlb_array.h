// The seam "L3 TLB array": what holds the translations of the TLB that all GPU instances share. The baseline's answer
// is a set-associative array whose entries have a sub-entry for each of 16 neighbouring pages (tlb/tlb.h).
#pragma once

#include <functional>

#include "translation/page.h"
#include "translation/tlb/tlb.h"

namespace nearfar {

class SharedTlbArray {
 public:
  virtual ~SharedTlbArray() = default;

  /// The mapping of a page, which counts as used; null when it is not held.
  virtual const Mapping* use(PageKey page) = 0;
  /// Holds a page; the observer hears of each range of pages that had to leave for it.
  virtual void insert(PageKey page, const Mapping& mapping, std::uint32_t note) = 0;
  /// Whether there is an entry for the range of a page.
  virtual bool holds_range(PageKey page) const = 0;
  virtual void for_each(const std::function<void(const TlbEntry&)>& visit) const = 0;
  virtual void set_eviction_observer(TlbEvictionObserver& observer) = 0;
};

}  // namespace nearfar
