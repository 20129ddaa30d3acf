// A system: everything a YAML file in systems/ can say about a machine. Read whole and checked whole before the
// first cycle.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "coherence/coherence_spec.h"
#include "coherence/umh/umh_spec.h"
#include "config/plug_in.h"
#include "config/quantity.h"
#include "gpu/gpu_spec.h"
#include "interconnect/link_spec.h"
#include "interconnect/perturb_spec.h"
#include "memory/cache/cache_spec.h"
#include "memory/dram/dram_spec.h"
#include "program/dispatch_spec.h"
#include "program/memory_spec.h"
#include "translation/mig_spec.h"
#include "translation/translation_spec.h"

namespace nearfar {

/// Which caches of a requester may keep lines of another device.
enum class RemoteCache : std::uint8_t { None, L1, L1L2 };

/// What a store to part of a remote line does in an L2 that does not hold the line.
enum class RemoteWriteMiss : std::uint8_t { NoAllocate, Fetch };
enum class RemoteWrite : std::uint8_t { Through, Back };

/// What becomes of the lines of a cache when a kernel ends and the next one begins.
enum class L1AtBoundary : std::uint8_t { Invalidate, Keep };
enum class L2AtBoundary : std::uint8_t { Keep, DropWritten, Drop };

struct BoundarySpec {
  L1AtBoundary l1 = L1AtBoundary::Invalidate;
  L2AtBoundary l2 = L2AtBoundary::Keep;
  bool write_back = true;
  bool markers = true;  // behind the invalidations of directories

  void describe(Section& section);
};

/// The DMA that carries out copies between launches.
struct DmaSpec {
  Bytes chunk = 4_KiB;             // of one message
  std::uint32_t outstanding = 16;  // chunks
  Cycle setup = 0;                 // before the first chunk of a copy

  void describe(Section& section);
};

/// The core that a program runs on between launches.
struct CpuSpec {
  std::uint32_t outstanding = 16;  // lines
  Cycle latency = 12;              // to the last-level cache

  void describe(Section& section);
};

struct HostSpec {
  CpuSpec cpu;
  L2Spec llc;     // 2 MiB, 16 ways, 4 banks
  DramSpec dram;  // DDR4-2400
  HostMmuSpec mmu;
  DmaSpec dma;

  HostSpec();
  void describe(Section& section);
};

struct SystemSpec {
  std::string name;
  std::uint32_t gpus = 4;
  GpuSpec gpu;
  HostSpec host;
  LinkSpec link;
  TranslationSpec translation;
  IommuSpec iommu;
  MigSpec mig;
  WalkSpec walk;
  PageTableSpec page_table;
  PageSpec page;
  UvmSpec uvm;
  InvalidateSpec invalidate;
  MigrationSpec migration;
  InitialPlacement placement = InitialPlacement::Workload;  // placement.initial
  PagePolicy policy = PagePolicy::Pinned;                   // placement.policy
  HostFirstTouch host_first_touch = HostFirstTouch::Move;   // placement.host_first_touch
  AccessCounterSpec access_counter;                         // placement.access_counter
  DispatchPolicy dispatch = DispatchPolicy::Workload;       // dispatch.policy
  std::uint32_t dispatch_chunk = 1;                         // dispatch.chunk
  Bytes kernel_arguments = 0;                               // dispatch.kernel_arguments; 0: not loaded
  MemorySpec memory;
  RemoteCache remote_cache = RemoteCache::L1;
  bool remote_host_lines = false;  // remote_cache l1l2: L2 caches keep lines of the host too
  RemoteWrite remote_write = RemoteWrite::Through;
  RemoteWriteMiss remote_write_miss = RemoteWriteMiss::NoAllocate;
  Coherence coherence = Coherence::Boundary;
  DirectorySpec directory;
  UmhSpec umh;
  BoundarySpec boundary;
  Cycle watchdog = 0;  // watchdog.cycles: cycles without progress that end a run; 0: from the system
  PerturbSpec perturb;
  /// The designs that are code; fixed once the system has been read.
  std::vector<std::shared_ptr<PlugIn>> plug_ins;

  /// The devices are instances of one GPU.
  bool has_instances() const { return translation.kind == TranslationKind::Mig; }
  bool moves_pages() const { return translation.kind == TranslationKind::Mmu && policy != PagePolicy::NoFault; }
  /// The pieces of 4 KiB that a page goes over the links as.
  std::uint64_t page_pieces() const { return migration.transfer == PageTransfer::Links ? page.size.frames() : 0; }
  /// Stores to other devices are posted: no answer comes, and a release waits until they have been written. Not where
  /// an L2 keeps copies of their lines, nor where pages move, which both have to know of each store that it is ordered.
  bool posts_stores() const {
    return !is_unified() && !link.is_plain() && remote_cache != RemoteCache::L1L2 &&
           translation.kind != TranslationKind::Mmu && policy == PagePolicy::Pinned;
  }
  /// L2 caches keep what stores change of the lines of other devices, until they write it back.
  bool writes_remote_lines_back() const {
    return remote_write == RemoteWrite::Back && remote_cache == RemoteCache::L1L2;
  }
  /// GPU memory is a cache of the host's.
  bool is_unified() const { return memory.management == MemoryManagement::Umh; }
  bool follows_useful_bytes() const { return link.track_useful && posts_stores(); }
  /// A design has made the switch between the GPUs a device.
  bool has_switch_device() const {
    return std::ranges::any_of(plug_ins, [](const auto& plug_in) { return plug_in->adds_switch(); });
  }
  /// L2 caches keep lines of other GPUs, and directories invalidate them.
  bool has_directories() const { return coherence == Coherence::Directory && remote_cache == RemoteCache::L1L2; }
  void describe(Section& section);
};

}  // namespace nearfar
