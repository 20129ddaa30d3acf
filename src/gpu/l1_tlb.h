// The L1 TLB of a compute unit: its array, its MSHRs, and what waits in them for a translation.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/wavefront.h"
#include "memory/cache/mshr.h"
#include "memory/line_image.h"
#include "sim/fifo.h"
#include "sim/pool.h"
#include "stats/stat.h"
#include "translation/tlb/l2_tlb.h"
#include "translation/tlb/tlb.h"
#include "translation/translation_spec.h"

namespace nearfar {

struct L1TlbStats {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t merges = 0;
  std::uint64_t permission_misses = 0;

  void describe(StatVisitor& visitor);
};

/// The lines of one page that a memory instruction touches, on their way through the load/store unit.
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
  bool buffered = false;  ///< stores: the store buffer has room for its lines already
};

/// A page access that waits for its translation, or, with it, for its turn in the load/store unit.
struct ParkedAccess : PageAccess {
  ParkedAccess* next = nullptr;
  std::vector<ByteMask> byte_masks;
};

using ParkedQueue = Fifo<ParkedAccess>;

class L1Tlb {
 public:
  using Mshrs = MshrFile<ParkedQueue, PageKey>;

  explicit L1Tlb(const TlbSpec& spec)
      : tlb_(spec), port_(spec.lookups_per_cycle), latency_(spec.latency), mshrs_(spec.mshrs) {}

  /// A sufficient mapping, or null. Counts as a lookup.
  const Mapping* look_up(PageKey page, bool write) {
    ++stats_.lookups;
    const Mapping* held = tlb_.use(page);
    if (held != nullptr && (held->writable || !write)) {
      ++stats_.hits;
      return held;
    }
    ++stats_.misses;
    if (held != nullptr) ++stats_.permission_misses;
    return nullptr;
  }
  /// When the result of a lookup that starts now is there.
  Cycle result_at(Cycle now) { return port_.take(now) + latency_; }

  /// Copies an access aside to wait.
  ParkedAccess& park(const PageAccess& access);
  void release(ParkedAccess* access) { pool_.release(access); }

  Tlb& array() { return tlb_; }
  Mshrs& mshrs() { return mshrs_; }
  L1TlbStats& stats() { return stats_; }
  std::uint64_t parked() const { return pool_.live(); }

 private:
  Tlb tlb_;
  LookupPort port_;
  Cycle latency_;
  Mshrs mshrs_;
  Pool<ParkedAccess, 16> pool_;
  L1TlbStats stats_;
};

}  // namespace nearfar
