// The seam "TLB replacement": which mapping of a full set leaves. The baseline's answer, true LRU, is in the array
// itself (tlb.h); a policy takes its place.
#pragma once

#include <cstdint>
#include <memory>

#include "translation/translation_spec.h"

namespace nearfar {

class TlbReplacement {
 public:
  virtual ~TlbReplacement() = default;

  /// The mapping in a way of a set has been used.
  virtual void used(std::uint64_t /*set*/, std::uint32_t /*way*/) {}
  /// Another mapping has been put into a way of a set.
  virtual void filled(std::uint64_t set, std::uint32_t way) = 0;
  /// The way of a full set whose mapping leaves.
  virtual std::uint32_t victim(std::uint64_t set) = 0;
};

/// A policy for an array of `sets` × `ways`; none for LRU.
std::unique_ptr<TlbReplacement> make_replacement(TlbReplacementKind kind, std::uint32_t sets, std::uint32_t ways);

}  // namespace nearfar
