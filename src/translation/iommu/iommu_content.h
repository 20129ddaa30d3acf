// The seam "IOMMU TLB content": asked when a translation reaches, fills or leaves the IOMMU's TLB.
//
// The baseline's answer is the absence of a plug: the TLB is mostly inclusive. A hit leaves its entry there, every walk
// fills it, and what an L2 TLB gives up goes nowhere.
#pragma once

#include "translation/iommu/iommu_pending.h"
#include "translation/page.h"
#include "translation/tlb/tlb.h"

namespace nearfar {

class IommuContent {
 public:
  virtual ~IommuContent() = default;

  /// A request of `gpu` has found `entry` and is about to be answered with it.
  virtual void hit(const Tlb::Entry& entry, DeviceId gpu) = 0;
  /// A request has missed and opened `pending`: ask elsewhere, if need be (PendingTranslation::questions). False: the
  /// walk waits until Iommu::start_walk().
  virtual bool missed(PendingTranslation& pending) = 0;
  /// The walk of an open entry has found `mapping`; its requesters are answered next.
  virtual void walked(const PendingTranslation& pending, const Mapping& mapping) = 0;
};

}  // namespace nearfar
