// The stream of one wavefront of a recorded kernel: 64 work-items as a SIMT machine executes them.
//
// Work-items come one by one, each as far as the next barrier. Here they run in step: of those that stand at the lowest
// place (the calls on the way compared first) all execute its instruction together. What a kernel's instructions become
// is told in docs/opencl.md.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "trace/opencl/kernel_code.h"
#include "trace/opencl/lane_program.h"
#include "trace/stream_code.h"

namespace nearfar::opencl {

/// Finds the address in the trace of an access: 0 where the access lies in no buffer.
using AddressMap = std::function<std::uint64_t(const LaneAccess&)>;

class WaveWriter {
 public:
  WaveWriter(const KernelCode& code, const AddressMap& addresses, unsigned lanes);

  /// What a work-item did next; the parts up to a barrier follow one another.
  void add(unsigned lane, std::span<const std::uint8_t> bytes);
  /// All work-items have come as far as a barrier, or to their end. Returns whether one stands at a barrier.
  bool run_phase();
  /// The wavefront's part in an asynchronous copy: lanes that load or store side by side.
  void copy(OpKind kind, unsigned bytes, const LaneAddresses& lanes);
  void local_instructions(std::uint64_t count) { local_ += count; }
  /// A barrier that all have reached: memory is waited for where the barrier orders it.
  void barrier(bool global);
  /// The whole stream.
  ByteVector take();

 private:
  struct Result {
    std::uint64_t vector = 0;  ///< the load that fills it, from 1 on
    std::uint64_t scalar = 0;
  };
  struct Piece {
    LaneTag tag;
    std::uint8_t bytes;
    std::uint64_t address;
  };

  void execute(const std::vector<unsigned>& active);
  void wait_for(const CodeInstruction& code);
  void wait_for_all();
  void execute_memory(std::uint32_t instruction, const std::vector<unsigned>& active);
  bool execute_uniform(std::uint32_t instruction, const std::vector<unsigned>& active);
  void gather(const LaneProgram& lane, std::vector<Piece>& pieces) const;
  void put_memory(OpKind kind, unsigned bytes);
  void flush();

  const KernelCode& code_;
  const AddressMap& addresses_;
  std::vector<LaneProgram> lanes_;
  std::vector<ByteVector> bytes_;  ///< of each lane, up to the next barrier
  StreamEncoder encoder_;
  LaneAddresses touched_;
  std::vector<std::vector<Piece>> pieces_;             ///< of each lane: its accesses in parts of at most 16 bytes
  std::vector<Result> results_;                        ///< by instruction
  std::uint64_t vector_ = 0, scalar_ = 0, local_ = 0;  ///< instructions that have not been written yet
  std::uint64_t loads_ = 0, loads_awaited_ = 0;
  std::uint64_t scalar_loads_ = 0, scalar_loads_awaited_ = 0;
};

/// Says the same in rows where the active lanes are neighbours and lie in rows, as a machine coalesces them best.
void find_rows(unsigned bytes, LaneAddresses& lanes);

}  // namespace nearfar::opencl
