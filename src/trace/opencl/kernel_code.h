// The code of a kernel and of the functions it calls, as far as a wavefront is concerned: kinds of instructions, whose
// results they use, and the order of positions by which lanes that have parted find together again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/bytes.h"
#include "trace/opencl/messages.h"

namespace nearfar::opencl {

struct CodeInstruction {
  CodeKind kind = CodeKind::Free;
  std::uint32_t count = 0;
  /// Instructions whose results it uses, as far as they may come from memory, by number.
  std::vector<std::uint32_t> uses;
  /// Its place in the order of execution: where lanes have parted, those at the lowest go first.
  std::uint32_t position = 0;
};

/// Blocks in an order in which each stands before those it leads to, but for the beginnings of loops, and the blocks of
/// a loop stand together: so a loop's body comes before its exits. `successors` are those of each block; 0 is entered
/// first. Blocks that cannot be reached come last.
std::vector<std::uint32_t> execution_order(const std::vector<std::vector<std::uint32_t>>& successors);

/// The instructions of all functions that a launch has executed, numbered one after another.
class KernelCode {
 public:
  void clear() { instructions_.clear(); }
  /// A Function message: number of its first instruction, number of blocks; of each its successors and instructions; of
  /// each of these kind, count and uses, as numbers within the function. Throws MalformedBytes.
  void add_function(ByteReader& in);

  std::size_t size() const { return instructions_.size(); }
  const CodeInstruction& operator[](std::uint32_t number) const { return instructions_[number]; }

 private:
  std::vector<CodeInstruction> instructions_;
};

}  // namespace nearfar::opencl
