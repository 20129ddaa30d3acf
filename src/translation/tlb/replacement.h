// The seam "TLB replacement": which mapping of a full set leaves. The baseline's answer, true LRU, is in the array
// itself (tlb.h); a policy takes its place.
#pragma once

#include <cstdint>
#include <memory>

#include "translation/page.h"
#include "translation/translation_spec.h"

namespace nearfar {

class TlbReplacement {
 public:
  virtual ~TlbReplacement() = default;

  /// The mapping of a page in a way of a set has been used, or a sub-entry of that way has been filled.
  virtual void used(std::uint64_t /*set*/, std::uint32_t /*way*/, PageKey /*page*/) {}
  /// A page's mapping has been put into a way of a set in the place of whatever it held.
  virtual void filled(std::uint64_t set, std::uint32_t way, PageKey page) = 0;
  /// The way of a full set that is given up for a page.
  virtual std::uint32_t victim(std::uint64_t set, PageKey page) = 0;
};

/// A policy for an array of `sets` × `ways`; none for LRU.
std::unique_ptr<TlbReplacement> make_replacement(TlbReplacementKind kind, std::uint32_t sets, std::uint32_t ways);

}  // namespace nearfar
