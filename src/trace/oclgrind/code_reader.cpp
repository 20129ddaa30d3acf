#include "trace/oclgrind/code_reader.h"

#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Operator.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

namespace nearfar::opencl {
namespace {

constexpr unsigned kConstantSpace = 2;

/// The name in OpenCL of a built-in function: `barrier` of _Z7barrierj.
std::string builtin_name(const llvm::Function& function) {
  const std::string name = function.getName().str();
  if (name.rfind("_Z", 0) != 0) return name;
  std::size_t at = 2, length = 0;
  while (at < name.size() && name[at] >= '0' && name[at] <= '9')
    length = length * 10 + static_cast<std::size_t>(name[at++] - '0');
  return name.substr(at, length);
}

const llvm::Function* called(const llvm::CallInst& call) {
  return llvm::dyn_cast<llvm::Function>(call.getCalledOperand()->stripPointerCasts());
}

bool is_one_of(const std::string& name, std::initializer_list<const char*> names) {
  return std::any_of(names.begin(), names.end(), [&](const char* each) { return name == each; });
}

bool begins_with_one_of(const std::string& name, std::initializer_list<const char*> beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](const char* each) { return name.rfind(each, 0) == 0; });
}

/// The same for all work-items of a workgroup.
bool is_uniform_builtin(const std::string& name) {
  return is_one_of(name, {"get_group_id", "get_num_groups", "get_local_size", "get_enqueued_local_size",
                          "get_global_size", "get_global_offset", "get_work_dim"});
}

/// Whose values are certain to be the same in all work-items of a wavefront, wherever these stand.
class Uniformity {
 public:
  Uniformity(const llvm::Function& function, bool is_kernel) : is_kernel_(is_kernel) {
    if (!is_kernel) return;
    for (bool changed = true; changed;) {
      changed = false;
      for (const llvm::BasicBlock& block : function) {
        for (const llvm::Instruction& instruction : block) {
          if (varies_.count(&instruction) != 0 || !varies_itself(instruction)) continue;
          varies_.insert(&instruction);
          changed = true;
        }
        const llvm::Instruction* end = block.getTerminator();
        if (end->getNumSuccessors() > 1 && !is_uniform(end->getOperand(0)) && parting_.insert(&block).second) {
          part(block);
          changed = true;
        }
      }
    }
  }

  bool is_uniform(const llvm::Value* value) const {
    if (!is_kernel_) return false;
    if (llvm::isa<llvm::Constant>(value) || llvm::isa<llvm::Argument>(value)) return true;
    return llvm::isa<llvm::Instruction>(value) && varies_.count(value) == 0;
  }

  /// A load of one place for all, in memory that no kernel writes while this one runs.
  bool is_uniform_load(const llvm::LoadInst& load) const {
    return is_constant(load) && is_uniform(load.getPointerOperand());
  }

 private:
  static bool is_constant(const llvm::LoadInst& load) {
    if (load.getPointerAddressSpace() == kConstantSpace) return true;
    const auto* argument = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()));
    return argument != nullptr && argument->hasNoAliasAttr() && argument->onlyReadsMemory();
  }

  bool varies_itself(const llvm::Instruction& instruction) const {
    if (llvm::isa<llvm::AllocaInst>(instruction)) return true;
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return !is_uniform_load(*load);
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      const llvm::Function* function = called(*call);
      if (function == nullptr || !is_uniform_builtin(builtin_name(*function))) return true;
    }
    if (llvm::isa<llvm::PHINode>(instruction) && parted_.count(instruction.getParent()) != 0) return true;
    for (const llvm::Value* operand : instruction.operands()) {
      if (!llvm::isa<llvm::BasicBlock>(operand) && !llvm::isa<llvm::Function>(operand) && !is_uniform(operand)) {
        return true;
      }
    }
    return false;
  }

  /// Behind a branch that work-items take differently, what depends on the way that was taken may differ.
  void part(const llvm::BasicBlock& from) {
    std::vector<const llvm::BasicBlock*> left{&from};
    while (!left.empty()) {
      const llvm::BasicBlock* block = left.back();
      left.pop_back();
      const llvm::Instruction* end = block->getTerminator();
      for (unsigned i = 0; i < end->getNumSuccessors(); ++i) {
        if (parted_.insert(end->getSuccessor(i)).second) left.push_back(end->getSuccessor(i));
      }
    }
  }

  bool is_kernel_;
  std::set<const llvm::Value*> varies_;
  std::set<const llvm::BasicBlock*> parting_, parted_;
};

unsigned components(const llvm::Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector == nullptr ? 1 : vector->getNumElements();
}

struct Code {
  CodeKind kind = CodeKind::Free;
  unsigned count = 0;
};

std::uint64_t fence_flags(const llvm::CallInst& call) {
  const auto* flags = call.arg_size() == 0 ? nullptr : llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(0));
  return flags == nullptr ? kLocalFence | kGlobalFence : flags->getZExtValue() & (kLocalFence | kGlobalFence);
}

Code code_of_call(const llvm::CallInst& call) {
  const llvm::Function* function = called(call);
  if (function != nullptr && !function->isDeclaration()) return {CodeKind::Call, 1};
  const std::string name = function == nullptr ? "" : builtin_name(*function);
  if (is_one_of(name, {"barrier", "work_group_barrier", "wait_group_events"})) return {CodeKind::Barrier};
  if (is_one_of(name, {"mem_fence", "read_mem_fence", "write_mem_fence"})) {
    return {CodeKind::Fence, static_cast<unsigned>(fence_flags(call))};
  }
  if (begins_with_one_of(name, {"atomic_", "atom_", "vload", "vstore", "llvm.memcpy", "llvm.memmove", "llvm.memset"})) {
    return {CodeKind::Memory};
  }
  if (begins_with_one_of(
          name, {"llvm.dbg", "llvm.lifetime", "llvm.assume", "llvm.experimental", "prefetch", "get_local_id"}) ||
      is_uniform_builtin(name)) {
    return {};
  }
  if (begins_with_one_of(name, {"async_work_group", "printf"})) return {CodeKind::Scalar, 1};
  return {CodeKind::Vector, components(call.getType())};
}

Code code_of(const llvm::Instruction& instruction, const Uniformity& uniformity) {
  switch (instruction.getOpcode()) {
    case llvm::Instruction::Load: {
      const auto& load = llvm::cast<llvm::LoadInst>(instruction);
      return {uniformity.is_uniform_load(load) ? CodeKind::Uniform : CodeKind::Memory};
    }
    case llvm::Instruction::Store: return {CodeKind::Memory};
    case llvm::Instruction::Call: return code_of_call(llvm::cast<llvm::CallInst>(instruction));
    case llvm::Instruction::Ret: return {CodeKind::Return};
    case llvm::Instruction::Switch: return {CodeKind::Scalar, 1};
    // A branch without a condition only says which block is next.
    case llvm::Instruction::Br: return {CodeKind::Scalar, llvm::cast<llvm::BranchInst>(instruction).isConditional()};
    case llvm::Instruction::GetElementPtr:
      if (llvm::cast<llvm::GetElementPtrInst>(instruction).hasAllConstantIndices()) return {};
      return {CodeKind::Vector, 1};
    case llvm::Instruction::PHI:
    case llvm::Instruction::Alloca:
    case llvm::Instruction::BitCast:
    case llvm::Instruction::PtrToInt:
    case llvm::Instruction::IntToPtr:
    case llvm::Instruction::AddrSpaceCast:
    case llvm::Instruction::Trunc:
    case llvm::Instruction::Freeze:
    case llvm::Instruction::ExtractElement:
    case llvm::Instruction::InsertElement:
    case llvm::Instruction::ShuffleVector:
    case llvm::Instruction::ExtractValue:
    case llvm::Instruction::InsertValue:
    case llvm::Instruction::Unreachable: return {};
    default:
      return {CodeKind::Vector,
              std::max(components(instruction.getType()), components(instruction.getOperand(0)->getType()))};
  }
}

/// Whether waiting for its result may be waiting for memory: it is a load, or another name for a register.
bool may_wait(CodeKind kind) { return kind == CodeKind::Memory || kind == CodeKind::Uniform || kind == CodeKind::Free; }

}  // namespace

void CodeReader::begin(const llvm::Function* kernel) {
  kernel_ = kernel;
  numbers_.clear();
}

std::int64_t CodeReader::number(const llvm::Instruction* instruction) const {
  const auto found = numbers_.find(instruction);
  return found == numbers_.end() ? -1 : std::int64_t{found->second};
}

void CodeReader::read(const llvm::Function& function, ByteVector& message) {
  const auto base = static_cast<std::uint32_t>(numbers_.size());
  std::unordered_map<const llvm::BasicBlock*, std::size_t> blocks;
  for (const llvm::BasicBlock& block : function) {
    blocks.emplace(&block, blocks.size());
    for (const llvm::Instruction& instruction : block) {
      numbers_.emplace(&instruction, static_cast<std::uint32_t>(numbers_.size()));
    }
  }
  const Uniformity uniformity(function, &function == kernel_);
  put_number(message, base);
  put_number(message, blocks.size());
  for (const llvm::BasicBlock& block : function) {
    const llvm::Instruction* end = block.getTerminator();
    put_number(message, end->getNumSuccessors());
    for (unsigned i = 0; i < end->getNumSuccessors(); ++i) put_number(message, blocks.at(end->getSuccessor(i)));
    put_number(message, block.size());
    for (const llvm::Instruction& instruction : block) {
      const Code code = code_of(instruction, uniformity);
      put_number(message, static_cast<std::uint64_t>(code.kind));
      put_number(message, code.count);
      std::vector<std::uint32_t> uses;
      for (const llvm::Value* operand : instruction.operands()) {
        const auto* use = llvm::dyn_cast<llvm::Instruction>(operand);
        if (use != nullptr && may_wait(code_of(*use, uniformity).kind)) uses.push_back(numbers_.at(use) - base);
      }
      put_number(message, uses.size());
      for (const std::uint32_t use : uses) put_number(message, use);
    }
  }
}

}  // namespace nearfar::opencl
