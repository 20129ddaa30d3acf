// The parameters of Trans-FW.
#pragma once

#include <cstdint>

#include "designs/cuckoo_filter.h"

namespace nearfar {

class Section;

struct PrtSpec {
  CuckooFilterSpec filter{125, 4, 12, 500, FilterOverflow::Conservative, 0, 8, 0x505254};
  Cycle latency = 1;
  std::uint32_t region_pages = 1;

  void describe(Section& section);
};

/// What the Forwarding Table keeps: where pages lie, or remote mappings too.
enum class FtTrack : std::uint8_t { Owner, Holders };

struct FtSpec {
  CuckooFilterSpec filter{1000, 2, 12, 500, FilterOverflow::Drop, 0, 8, 0x4654};
  Cycle hash_latency = 1;
  std::uint32_t compared = 4;  // GPU numbers at once
  std::uint32_t threshold_percent = 50;
  FtTrack track = FtTrack::Owner;
  bool probe_l2_tlb = false;

  void describe(Section& section);
  /// Of a lookup that tries one hash, or both.
  Cycle latency(unsigned gpus, unsigned hashes) const {
    return hash_latency * hashes * ((gpus + compared - 1) / compared);
  }
};

}  // namespace nearfar
