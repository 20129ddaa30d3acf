// A system: everything a YAML file in systems/ can say about a machine. Read whole and checked whole before the
// first cycle.
#pragma once

#include <cstdint>
#include <string>

#include "config/quantity.h"
#include "gpu/gpu_spec.h"
#include "interconnect/link_spec.h"
#include "memory/cache_spec.h"
#include "memory/dram_spec.h"

namespace nearfar {

enum class TranslationKind : std::uint8_t { Ideal };
struct TranslationSpec {
  TranslationKind kind = TranslationKind::Ideal;
  Cycle latency = 1;  // ideal: every page of an instruction, this many cycles, no limit

  void describe(Section& section);
};

/// Where buffers start: as the workload says, or the same for all (private tables stay private).
enum class PlacementPolicy : std::uint8_t { Workload, Host, Distribute, Interleave };
/// How workgroups are split: as the workload says, or the same for all.
enum class DispatchPolicy : std::uint8_t { Workload, Offset, Blocks, RoundRobin, Greedy };
/// Which caches of a requester may keep lines of another device.
enum class RemoteCache : std::uint8_t { None, L1 };

struct HostSpec {
  HomeCacheSpec llc;  // 2 MiB, 16 ways, 4 banks
  DramSpec dram;      // DDR4-2400

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
  PlacementPolicy placement = PlacementPolicy::Workload;  // placement.policy
  DispatchPolicy dispatch = DispatchPolicy::Workload;     // dispatch.policy
  RemoteCache remote_cache = RemoteCache::L1;
  bool write_back_at_release = true;  // boundary.write_back: dirty L2 lines go to memory when a kernel ends
  Cycle watchdog = 5'000'000;         // watchdog.cycles: cycles without progress that end a run

  void describe(Section& section);
};

}  // namespace nearfar
