// What the functions of a kernel look like to a wavefront, read from LLVM's intermediate code.
#pragma once

#include <cstdint>
#include <set>
#include <unordered_map>

#include "trace/bytes.h"
#include "trace/opencl/messages.h"

namespace llvm {
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace nearfar::opencl {

/// The instructions of one kernel's launch, by number.
class CodeReader {
 public:
  /// Another launch begins, of this kernel.
  void begin(const llvm::Function* kernel);
  /// The instruction's number; -1 if its function has not been read.
  std::int64_t number(const llvm::Instruction* instruction) const;
  /// Numbers the instructions of a function, and writes its Function message.
  void read(const llvm::Function& function, ByteVector& message);

 private:
  const llvm::Function* kernel_ = nullptr;
  std::unordered_map<const llvm::Instruction*, std::uint32_t> numbers_;
};

}  // namespace nearfar::opencl
