// What translates addresses: the part of a system's YAML that describes TLBs, walkers, page tables and the driver.
#pragma once

#include <cstdint>

#include "config/quantity.h"
#include "sim/types.h"

namespace nearfar {

class Section;

enum class TranslationKind : std::uint8_t {
  Ideal,  ///< one latency for every page, no structures
  Ats,    ///< TLBs in the GPUs, everything below them in the host's IOMMU
  Mmu,    ///< a GMMU and a local page table in each GPU, far faults to the host's MMU and the UVM driver
  Svm,    ///< one GPU that shares its memory and page table with the host behind an IOMMU beside it
  Mig,    ///< instances of one GPU, each a device; below their L2 TLBs an L3 TLB and walkers that they share
};

/// Bits of a 4 KiB page number within a page of 64 KiB.
inline constexpr unsigned kMediumPageBits = 4;

struct TranslationSpec {
  TranslationKind kind = TranslationKind::Ideal;
  Cycle latency = 1;        // ideal: every page of an instruction, this many cycles, no limit
  Bytes message = 32;       // of a request, answer, invalidation or acknowledgement on a link
  bool observe = false;     // reuse distances at the IOMMU TLB, snapshots of TLBs, sharing of pages
  Cycle snapshot = 20'000;  // between two looks at what the TLBs hold, when observed

  /// L2 TLBs ask a TLB and walkers that all devices share, over the links.
  bool asks_shared_tlb() const { return kind == TranslationKind::Ats || kind == TranslationKind::Mig; }

  void describe(Section& section);
};

/// Which mapping of a full set leaves.
enum class TlbReplacementKind : std::uint8_t { Lru, Fifo, Random };

/// A TLB that any number of lookups may enter, and whose misses wait elsewhere.
struct PlainTlbSpec {
  std::uint32_t entries = 512;  // 0: unlimited
  std::uint32_t ways = 16;
  Cycle latency = 10;
  TlbReplacementKind replacement = TlbReplacementKind::Lru;
  std::uint32_t sub_entries = 1;  // neighbouring pages that an entry has room for; mig.sub_entries of GPU instances

  void describe(Section& section);
};

/// One with a port.
struct PortedTlbSpec : PlainTlbSpec {
  std::uint32_t lookups_per_cycle = 0;  // 0: no limit

  void describe(Section& section);
};

/// One with MSHRs too.
struct TlbSpec : PortedTlbSpec {
  std::uint32_t mshrs = 256;

  void describe(Section& section);
};

struct WalkCacheSpec {
  std::uint32_t entries = 128;
  Cycle latency = 1;
  std::uint32_t level_bits = 9;  // what an entry covers: 2^level_bits pages for each level above the leaf
  std::uint32_t page_bits = 0;   // of a leaf entry's number that are no part of a page's: 4 with pages of 64 KiB
  bool unlimited = false;
  bool by_level = false;  // svm
  std::uint32_t l2 = 32;  // by_level: l2_entries and so on
  std::uint32_t l3 = 4;
  std::uint32_t l4 = 2;
  std::uint32_t l5 = 2;

  void describe(Section& section);
};

/// Walkers with their queue and walk cache: of a GMMU, an IOMMU or the host's MMU.
struct WalkersSpec {
  std::uint32_t walkers = 8;  // 0: unlimited
  std::uint32_t queue = 64;   // pw_queue.entries
  WalkCacheSpec cache;        // pw_cache

  void describe(Section& section);
};

enum class Replay : std::uint8_t { Full, Short };
/// How a new mapping gets into a GPU's page table.
enum class UpdateHow : std::uint8_t { Walk, ZeroLatency };
enum class WalkTiming : std::uint8_t { FixedLevel, FixedTotal, Memory };
enum class UpperLevels : std::uint8_t { Prebuilt, OnDemand };

struct WalkSpec {
  WalkTiming timing = WalkTiming::FixedLevel;
  Cycle cycles_per_level = 100;
  Cycle cycles = 500;  // fixed-total

  void describe(Section& section);
};

struct PageTableSpec {
  std::uint32_t levels = 5;
  UpperLevels upper = UpperLevels::Prebuilt;

  void describe(Section& section);
};

struct PageSpec {
  PageSize size;

  void describe(Section& section);
};

struct GmmuSpec : WalkersSpec {
  std::uint32_t ingress = 64;  // ingress.entries
  Replay replay = Replay::Full;
  UpdateHow update = UpdateHow::Walk;

  void describe(Section& section);
};

struct IommuSpec : WalkersSpec {
  PortedTlbSpec tlb{{4096, 64, 200}, 1};
  std::uint32_t pending = 0;       // translations that requests wait for; 0: as many as the GPUs' MSHRs
  PlainTlbSpec l1_tlb{32, 32, 4};  // svm
  Cycle hop = 100;                 // svm: GPU to IOMMU, one way; one request a cycle each way
  Cycle memory_hop = 20;           // svm: IOMMU to memory, one way

  void describe(Section& section);
};

struct HostMmuSpec : WalkersSpec {
  PlainTlbSpec tlb{2048, 64, 20};

  HostMmuSpec() { walkers = 16; }
  void describe(Section& section);
};

/// When the driver sends the mappings of a batch: each when it is ready, or all when the last one is.
enum class BatchReplay : std::uint8_t { PerFault, PerBatch };

/// Which pages follow one that a fault brings to a GPU.
enum class UvmPrefetch : std::uint8_t { None, Tree };

struct UvmSpec {
  std::uint32_t batch_size = 256;
  Cycle batch_wait = 0;
  Cycle batch_fixed = 100;   // batch_fixed_cycles
  Cycle per_fault = 0;       // per_fault_cycles
  Cycle fault_software = 0;  // fault_software_cycles
  std::uint32_t concurrent_migrations = 256;
  BatchReplay replay = BatchReplay::PerFault;
  UvmPrefetch prefetch = UvmPrefetch::None;
  std::uint32_t prefetch_threshold = 51;  // percent

  void describe(Section& section);
};

/// Where buffers start: as the workload says, or the same for all (private tables stay private).
enum class InitialPlacement : std::uint8_t { Workload, Host, Distribute, Interleave, Blocks, First };

/// Where pages go when they are touched.
enum class PagePolicy : std::uint8_t { Pinned, OnTouch, FirstTouch, AccessCounter, Replication, NoFault };
/// What the first touch does to a page on the host where access counters move pages.
enum class HostFirstTouch : std::uint8_t { Move, Map };
enum class InvalidateTargets : std::uint8_t { Auto, Owner, Broadcast };
enum class InvalidateHow : std::uint8_t { Walk, ZeroLatency };

/// What one access counter counts for: a number of 4 KiB pages as a power of two, or one page of whichever size.
enum class CounterRegion : std::uint8_t { Page = 0, Of64K = 4, Of2M = 9 };
/// Where remote accesses are counted: each line that leaves the GPU, each line that an instruction looks up in the L1,
/// or each lookup of the L1 TLB.
enum class CountAt : std::uint8_t { Egress, L1, L1Tlb };

struct AccessCounterSpec {
  std::uint32_t threshold = 256;
  CounterRegion granularity = CounterRegion::Page;
  CountAt count_at = CountAt::Egress;

  void describe(Section& section);
};

struct InvalidateSpec {
  InvalidateTargets targets = InvalidateTargets::Auto;
  InvalidateHow how = InvalidateHow::Walk;

  void describe(Section& section);
};

/// What leaves a full GPU: the page that came first, or the block of 2 MiB whose last page came first.
enum class EvictionUnit : std::uint8_t { Page, Block };

/// How a page gets to its new place: as packets over the links, or after a fixed time, without bytes on them.
enum class PageTransfer : std::uint8_t { Links, Fixed };
/// Which accesses by way of its old mappings a page waits for before it leaves: all that have their translation, those
/// that have left their compute unit (the others are translated again), or none.
enum class MigrationWaits : std::uint8_t { Translated, Issued, None };

struct MigrationSpec {
  Cycle setup = 0;  // setup_cycles
  PageTransfer transfer = PageTransfer::Links;
  Cycle transfer_cycles = 256;                        // fixed
  MigrationWaits waits = MigrationWaits::Translated;  // waits_for
  Cycle retention = 0;                                // retention_cycles
  bool ideal = false;                                 // invalidation and transfer take no time and no bandwidth
  bool keep_invalidation = false;                     // ideal: the transfer alone
  bool evict = false;                                 // a full GPU sends pages back to the host
  EvictionUnit unit = EvictionUnit::Page;             // evict_unit

  bool free_invalidation() const { return ideal && !keep_invalidation; }
  /// Pages leave although accesses by way of old mappings are under way, so that data is not followed.
  bool leaves_accesses() const { return free_invalidation() || waits == MigrationWaits::None; }
  /// Before a page's message leaves for its new place.
  Cycle before_transfer() const { return setup + (transfer == PageTransfer::Fixed ? transfer_cycles : 0); }

  void describe(Section& section);
};

}  // namespace nearfar
