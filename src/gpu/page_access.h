// The lines of one page that a memory instruction touches, on their way through the load/store unit.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/wavefront.h"
#include "memory/byte_masks.h"
#include "sim/fifo.h"
#include "sim/types.h"

namespace nearfar {

struct PageAccess {
  VirtPage virtual_page;
  PhysPage page;                    ///< once translated
  std::uint64_t lines = 0;          ///< not yet looked up
  std::uint64_t whole = 0;          ///< stores: lines written completely
  const ByteMask* masks = nullptr;  ///< stores: the bytes written of lines that are not, in order; where the data
                                    ///< oracle is on, of atomics too
  Wavefront* wave = nullptr;        ///< loads, atomics, scalar loads: who waits
  std::uint16_t bytes = 0;          ///< of an element
  std::uint8_t load = 0;            ///< load slot of the wavefront
  std::uint8_t slot = 0;            ///< of the wavefront itself
  OpKind kind = OpKind::Load;
  bool translated = false;
  bool again = false;     ///< has given its translation up once, and keeps the next one
  bool buffered = false;  ///< stores: the store buffer has room for its lines already

  bool writes() const { return kind == OpKind::Store || kind == OpKind::Atomic; }
  bool is_atomic() const { return kind == OpKind::Atomic; }
};

/// A page access that waits for its translation, or, with it, for its turn in the load/store unit.
struct ParkedAccess : PageAccess {
  ParkedAccess* next = nullptr;
  std::vector<ByteMask> byte_masks;
};

using ParkedQueue = Fifo<ParkedAccess>;

}  // namespace nearfar
