// What the work-items of a wavefront did, instruction by instruction, read from the bytes that the plugin sent.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/bytes.h"
#include "trace/opencl/kernel_code.h"

namespace nearfar::opencl {

/// One access of a work-item, at an address of the program's.
struct LaneAccess {
  LaneTag tag = LaneTag::Load;
  std::uint64_t bytes = 0;
  std::uint64_t address = 0;  ///< none of Local
};

/// Goes through what one work-item did between two barriers.
class LaneProgram {
 public:
  explicit LaneProgram(const KernelCode& code) : code_(&code) {}

  /// Begins at the first instruction behind a barrier, or of the kernel. `bytes` must stay. Throws MalformedBytes.
  void begin(std::span<const std::uint8_t> bytes);

  /// It has ended, or stands at a barrier.
  bool at_end() const { return ended_; }
  bool at_barrier() const { return at_barrier_; }
  std::uint32_t instruction() const { return instruction_; }
  const std::vector<LaneAccess>& accesses() const { return accesses_; }
  /// Carries out the instruction at which it stands.
  void advance();

  /// Where it stands, by the calls it is in and its position in the innermost function: of two work-items that have
  /// parted the lower one goes first.
  bool stands_before(const LaneProgram& other) const;
  bool stands_with(const LaneProgram& other) const {
    return instruction_ == other.instruction_ && calls_ == other.calls_;
  }

 private:
  void fetch();
  /// Of a call on the way here, or behind these the instruction itself; -1 beyond.
  std::int64_t position(std::size_t depth) const;

  const KernelCode* code_;
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
  std::uint32_t instruction_ = 0;
  std::uint64_t left_ = 0;  ///< instructions of the run, behind this one
  std::uint64_t next_ = 0;  ///< the one behind the last run
  std::uint64_t address_ = 0;
  bool ended_ = true;
  bool at_barrier_ = false;
  std::vector<std::uint32_t> calls_;
  std::vector<LaneAccess> accesses_;
};

}  // namespace nearfar::opencl
