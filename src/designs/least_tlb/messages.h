// What GPUs and IOMMU tell one another about what leaves their TLBs. Questions to L2 TLBs are in foreign_lookup.h.
#pragma once

#include "translation/message_kind.h"

namespace nearfar::least_tlb {

/// GPU → IOMMU: `page` has left the L2 TLB; `stamp` is the note that was kept with it.
inline const MessageKind kVictim = add_message_kind({.name = "least-tlb.victim"});
/// IOMMU → GPU: keep `page` in the L2 TLB, with the note `stamp`.
inline const MessageKind kSpill = add_message_kind({.name = "least-tlb.spill"});
/// GPU → IOMMU: a spilled `page` is no longer in the L2 TLB.
inline const MessageKind kSpillGone = add_message_kind({.name = "least-tlb.spill-gone"});

}  // namespace nearfar::least_tlb
