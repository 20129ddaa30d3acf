// What GPUs tell one another to keep copies of lines in their L2 caches right.
#pragma once

#include <cstdint>

#include "coherence/directory.h"
#include "memory/packet.h"
#include "sim/types.h"

namespace nearfar {

enum class CoherenceKind : std::uint8_t {
  Invalidation,    ///< home → sharer: drop your copies of `lines` of `page`
  BoundaryMarker,  ///< home → all: every invalidation of this launch has been sent before
  FenceRequest,    ///< GPU with a fence → home: send markers to all
  FenceMarker,     ///< home → all: every invalidation has been sent before; answer `fence_gpu`
  FenceAck,        ///< GPU → `fence_gpu`: a marker has come
};

struct CoherenceMessage : Packet {
  PhysPage page;
  std::uint64_t lines = 0;
  std::uint64_t written = 0;
  std::uint16_t fence_gpu = 0;
  std::uint16_t fence_unit = 0;  ///< compute unit
  std::uint8_t application = 0;
  CoherenceKind kind = CoherenceKind::Invalidation;
  InvalidationCause cause = InvalidationCause::Write;
};
static_assert(EventType<CoherenceMessage>);

}  // namespace nearfar
