// The compute units of a GPU without time: what the instructions of their wavefronts ask of the L1 caches, and what of
// that goes on to the L2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "characterize/functional/functional_memory.h"
#include "config/system_spec.h"
#include "gpu/coalescer.h"
#include "gpu/compute_unit_stats.h"
#include "memory/cache/l1_cache.h"
#include "program/stream.h"
#include "sim/types.h"
#include "translation/address_space.h"

namespace nearfar {

/// How far a wavefront came in its turn.
enum class TurnEnd : std::uint8_t { Memory, Barrier, End };

class FunctionalGpu {
 public:
  /// The coalescer may be that of other GPUs too.
  FunctionalGpu(DeviceId device, const SystemSpec& system, const AddressSpace& space, Coalescer& coalescer,
                FunctionalMemory& memory);

  DeviceId device() const { return device_; }

  /// The start of a kernel.
  void acquire();
  /// Runs a wavefront of a compute unit to its next vector memory instruction and through it, or to a barrier, or to
  /// its end. Scalar loads and fences on the way take no turn of their own.
  TurnEnd run(Stream& stream, unsigned cu);

  ComputeUnitStats& stats() { return stats_; }
  std::vector<L1Cache>& vector_l1s() { return vector_l1s_; }
  std::vector<L1Cache>& scalar_l1s() { return scalar_l1s_; }

 private:
  void run_memory(const Stream& stream, Plain op, L1Cache& l1);
  template <class Group, class Prefetch>
  void find_lines(std::span<const Group> pages, Prefetch prefetch);
  void load(std::span<const PageGroup> pages, L1Cache& l1);
  void atomic(std::span<const PageGroup> pages, std::uint32_t bytes, L1Cache& l1);
  void store(const Stores& stores, L1Cache& l1);
  void load_scalar(VirtAddr address, L1Cache& l1);
  void fence(Scope scope, L1Cache& l1);
  void fill(PhysLine line, L1Cache& l1);

  DeviceId device_;
  std::uint32_t line_bytes_;
  unsigned lanes_;
  unsigned cus_per_array_;
  bool keeps_remote_;
  bool acquires_;
  const AddressSpace& space_;
  Coalescer& coalescer_;
  FunctionalMemory& memory_;
  LaneAddresses addresses_;
  std::vector<PhysLine> lines_;      ///< of the instruction that runs
  std::vector<L1Cache> vector_l1s_;  ///< by compute unit
  std::vector<L1Cache> scalar_l1s_;  ///< by shader array
  ComputeUnitStats stats_;
};

}  // namespace nearfar
