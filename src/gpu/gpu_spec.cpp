// The parameters of GPUs and compute units.
#include "gpu/gpu_spec.h"

#include "config/schema.h"

namespace nearfar {

void ComputeUnitSpec::describe(Section& section) {
  section.integer("simds", simds, {1, 64}, "SIMDs", "SIMD units in a compute unit.");
  section.integer("simd_lanes", simd_lanes, Limits::powers_of_two(1, 64), "lanes",
                  "Lanes of a SIMD unit, which a vector instruction occupies for wavefront / simd_lanes cycles.");
  section.integer("waves_per_simd", waves_per_simd, {1, 64}, "wavefronts",
                  "Wavefronts that can be resident in a SIMD unit.");
  section.cycles("scalar_cycles", scalar_cycles, {1, 1000},
                 "Time that a scalar, branch or wait instruction occupies its wavefront.");
  section.bytes("local_memory", local_memory, {0, 16_MiB}, "Local memory that the workgroups of a compute unit share.");
  section.cycles("local_cycles", local_cycles, {1, 1000},
                 "Time that one local-memory instruction occupies the local memory.");
  section.cycles("local_latency", local_latency, {1, 10'000}, "Time from a local-memory instruction to its result.");
  section.integer("loads_per_wave", loads_per_wave, {1, 16}, "loads",
                  "Vector loads that a wavefront can have outstanding.");
  section.integer("store_buffer", store_buffer, {1, 65'536}, "lines",
                  "Lines of stores and atomics that a compute unit can have on their way.");
  section.integer("reorder_buffer", reorder_buffer, {0, 65'536}, "lines",
                  "Lines that the vector memory instructions of a compute unit can have under way, which then end in "
                  "order; 0 is no limit and any order.");
}

void GpuSpec::describe(Section& section) {
  section.clock("clock", clock, {1_MHz, 10'000_MHz}, "Core clock of the GPUs, whose cycle is the unit of all times.");
  section.integer("shader_arrays", shader_arrays, {1, 128}, "arrays", "Shader arrays; each has one L1 scalar cache.");
  section.integer("cus_per_array", cus_per_array, {1, 128}, "units", "Compute units in a shader array.");
  section.integer("wavefront", wavefront, Limits::one_of({32, 64}), "lanes",
                  "Lanes of a wavefront, which execute one instruction together.");
  section.bytes("line", line, Limits::one_of({64, 128}), "Line size of all caches, and the unit of remote access.");
  section.cycles("dispatch_interval", dispatch_interval, {1, 100'000},
                 "Time between two workgroups that the GPU's dispatcher starts.");
  section.child("cu", cu, "The parameters of a compute unit.");
  section.child("l1v", l1v, "The L1 vector cache of a compute unit: write-through, no write allocate.");
  section.child("l1s", l1s, "The L1 scalar cache of a shader array: read only.");
  section.child("l2", l2, "The GPU's L2 cache in front of its memory: banked, write-back.");
  section.child("dram", dram, "The GPU's memory.");
  section.child("l1_tlb", l1_tlb, "The L1 TLB of a compute unit.");
  section.choice<ScalarTlbOwner>(
      "scalar_tlb", scalar_tlb, {{"cu", ScalarTlbOwner::Cu}, {"array", ScalarTlbOwner::Array}},
      "Where scalar loads look their pages up: `cu`, the L1 TLB of their compute unit, which "
      "vector accesses use too, or `array`, one of their shader array alone, as large and as "
      "fast as `gpu.l1_tlb`.");
  section.child("l2_tlb", l2_tlb, "The L2 TLB that a GPU's compute units share.");
  section.child("gmmu", gmmu, "The GPU's MMU, where it has page tables of its own.");
  Section tlbs = section.group("tlb", "All TLBs of a GPU.");
  tlbs.cycles("shootdown_cycles", shootdown, {0, 100'000}, "Time to invalidate a page in all TLBs of a GPU.");
}

}  // namespace nearfar
