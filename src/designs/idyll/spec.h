// The parameters of IDYLL.
#pragma once

#include <cstdint>

#include "sim/types.h"

namespace nearfar {

class Section;

struct InPteSpec {
  std::uint32_t access_bits = 11;

  void describe(Section& section);
};

struct IrmbSpec {
  std::uint32_t bases = 32;
  std::uint32_t offsets = 16;  // of a base
  std::uint32_t writeback_buffers = 2;
  Cycle latency = 1;
  bool idle_writeback = true;

  void describe(Section& section);
};

struct VmCacheSpec {
  std::uint32_t entries = 64;
  std::uint32_t ways = 4;
  Cycle latency = 2;
  Cycle memory = 100;  // memory_cycles

  void describe(Section& section);
};

}  // namespace nearfar
