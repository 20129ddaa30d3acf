#include "gpu/compute_unit_stats.h"

namespace nearfar {

void ComputeUnitStats::describe(StatVisitor& visitor) {
  visitor.counter("instructions", "instructions", "Wavefront instructions issued, of every kind.", instructions);
  visitor.counter("accesses", "lines", "Line accesses of vector memory instructions after coalescing.", accesses);
  visitor.counter("vector_loads", "instructions", "Vector load instructions.", vector_loads);
  visitor.counter("vector_stores", "instructions", "Vector store instructions.", vector_stores);
  visitor.counter("vector_atomics", "instructions", "Vector atomic instructions.", vector_atomics);
  visitor.counter("scalar_loads", "instructions", "Scalar load instructions.", scalar_loads);
  visitor.counter("local_instructions", "instructions", "Local-memory instructions.", local_instructions);
  visitor.counter("barriers", "instructions", "Barrier instructions.", barriers);
  visitor.counter("page_groups", "pages", "Pages touched, summed over vector memory instructions.", page_groups);
  visitor.counter("simd_busy_cycles", "cycles", "Time that SIMDs executed vector instructions, summed.",
                  simd_busy_cycles);
  visitor.counter("stalled_instructions", "instructions",
                  "Memory instructions that stalled in the load/store unit (registers, buffers or queues full).",
                  stalled_instructions);
  visitor.counter("waves", "wavefronts", "Wavefronts run.", waves);
  visitor.counter("groups", "workgroups", "Workgroups run.", groups);
}

}  // namespace nearfar
