// What a GPU is: the part of a system's YAML that describes shader arrays, compute units and caches.
#pragma once

#include <cstdint>

#include "config/quantity.h"
#include "memory/cache/cache_spec.h"
#include "memory/dram/dram_spec.h"
#include "translation/translation_spec.h"

namespace nearfar {

struct ComputeUnitSpec {
  std::uint32_t simds = 4;
  std::uint32_t simd_lanes = 16;  // a vector instruction occupies its SIMD wavefront/simd_lanes cycles
  std::uint32_t waves_per_simd = 10;
  Cycle scalar_cycles = 4;  // a scalar, branch or wait instruction holds its wavefront this long
  Bytes local_memory = 64_KiB;
  Cycle local_cycles = 4;             // one local-memory instruction occupies the unit this long
  Cycle local_latency = 64;           // local-memory result
  std::uint32_t loads_per_wave = 16;  // vector loads outstanding in a wavefront (at most 16)
  std::uint32_t store_buffer = 64;    // lines of stores and atomics on their way, per compute unit
  std::uint32_t reorder_buffer = 0;   // lines of vector memory instructions under way; 0: no limit, and no order

  void describe(Section& section);
};

/// Whose TLB scalar loads look their pages up in: their compute unit's, or one of their shader array's own.
enum class ScalarTlbOwner : std::uint8_t { Cu, Array };

struct GpuSpec {
  Frequency clock = 1000_MHz;
  std::uint32_t shader_arrays = 16;
  std::uint32_t cus_per_array = 4;
  std::uint32_t wavefront = 64;  // lanes: 64 or 32
  Bytes line = 64;               // 64 or 128
  Cycle dispatch_interval = 1;   // cycles between two workgroups that the dispatcher starts
  ComputeUnitSpec cu;
  L1Spec l1v;
  L1Spec l1s;
  L2Spec l2;
  DramSpec dram;
  TlbSpec l1_tlb{{{16, 16, 1}, 0}, 16};
  ScalarTlbOwner scalar_tlb = ScalarTlbOwner::Cu;
  TlbSpec l2_tlb{{{512, 16, 10}, 4}, 256};
  GmmuSpec gmmu;
  Cycle shootdown = 10;  // tlb.shootdown_cycles

  std::uint32_t cus() const { return shader_arrays * cus_per_array; }
  void describe(Section& section);
};

}  // namespace nearfar
