#include "gpu/compute_unit_stats.h"

namespace nearfar {

void ComputeUnitStats::describe(StatVisitor& visitor) {
  visitor.counter("instructions", "instructions", "Wavefront instructions of every kind that compute units issued.",
                  instructions);
  visitor.counter("accesses", "lines", "Line accesses of vector memory instructions after coalescing.", accesses);
  visitor.counter("vector_loads", "instructions", "Vector load instructions that compute units issued.", vector_loads);
  visitor.counter("vector_stores", "instructions", "Vector store instructions that compute units issued.",
                  vector_stores);
  visitor.counter("vector_atomics", "instructions", "Vector atomic instructions that compute units issued.",
                  vector_atomics);
  visitor.counter("scalar_loads", "instructions", "Scalar load instructions that compute units issued.", scalar_loads);
  visitor.counter("local_instructions", "instructions", "Local-memory instructions that compute units issued.",
                  local_instructions);
  visitor.counter("barriers", "instructions", "Barrier instructions that compute units issued.", barriers);
  visitor.counter("page_groups", "pages", "Pages that a vector memory instruction touches, summed over instructions.",
                  page_groups);
  visitor.counter("simd_busy_cycles", "cycles", "Time that SIMDs executed vector instructions, summed over SIMDs.",
                  simd_busy_cycles);
  visitor.counter("stalled_instructions", "instructions",
                  "Memory instructions that stalled in the load/store unit since MSHRs, buffers or queues were full.",
                  stalled_instructions);
  visitor.counter("waves", "wavefronts", "Wavefronts that compute units executed.", waves);
  visitor.counter("groups", "workgroups", "Workgroups that compute units executed.", groups);
}

}  // namespace nearfar
