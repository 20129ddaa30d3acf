// What a cache is: the part of a system's YAML that describes an L1 vector, L1 scalar or L2 cache.
#pragma once

#include <cstdint>

#include "config/quantity.h"

namespace nearfar {

class Section;

/// How a line number picks its set (or its bank): the plain remainder, or with the upper bits folded in.
enum class IndexHash : std::uint8_t { Modulo, Xor };
/// Design: as the policy says that a design has plugged in (replacement.h); no parameter has this value.
enum class Replacement : std::uint8_t { Lru, Fifo, Random, Design };
/// When the victim of a miss leaves: when the line comes, or at once, and its way is reserved until then.
enum class VictimTime : std::uint8_t { AtFill, AtMiss };

/// L1 vector cache of a compute unit, L1 scalar cache of a shader array. Write-through, no write allocate.
struct L1Spec {
  Bytes size = 16_KiB;
  std::uint32_t ways = 4;
  Cycle latency = 28;                 // lookup to data; also what a miss pays before it leaves
  std::uint32_t mshrs = 64;           // lines that may be pending
  std::uint32_t lines_per_cycle = 1;  // port
  IndexHash index = IndexHash::Xor;
  Replacement replacement = Replacement::Lru;
  VictimTime victim = VictimTime::AtFill;

  void describe(Section& section);
};

/// Banked cache in front of a device's memory: a GPU's L2, the host's last-level cache. Write-back.
struct L2Spec {
  Bytes size = 2_MiB;
  std::uint32_t ways = 16;
  std::uint32_t banks = 16;
  Cycle tag_latency = 10;           // arrival to hit or miss known
  Cycle data_latency = 20;          // hit known to data out
  bool remote_lookup = true;        // requests of other devices pay for their lookup
  std::uint32_t mshrs = 64;         // pending lines for the device's own requests, per bank
  std::uint32_t remote_mshrs = 64;  // pending lines reserved for requests of other devices, per bank
  std::uint32_t queue = 64;         // requests of the device's own that may wait at a bank
  IndexHash index = IndexHash::Xor;
  IndexHash bank_index = IndexHash::Xor;
  std::uint32_t interleave = 1;  // neighbouring lines in one bank
  Replacement replacement = Replacement::Lru;
  VictimTime victim = VictimTime::AtFill;

  void describe(Section& section);
};

}  // namespace nearfar
