// An Oclgrind plugin that tells `nearfar record-opencl` what an OpenCL program does (opencl/messages.h): memory of the
// device, transfers, and of every kernel what each work-item executes and touches.
//
// Oclgrind runs the workgroups of a kernel one after another, since this plugin is not thread safe, and the work-items
// of each one by one, as far as a barrier. It calls the plugin for every instruction, with the accesses before it.
#include <llvm/IR/BasicBlock.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instruction.h>
#include <llvm/IR/Type.h>
#include <oclgrind/Plugin.h>
// Of these headers only Plugin.h includes what it needs.
#include <oclgrind/Context.h>
#include <oclgrind/Kernel.h>
#include <oclgrind/KernelInvocation.h>
#include <oclgrind/Memory.h>
#include <oclgrind/WorkGroup.h>
#include <oclgrind/WorkItem.h>

#include <map>
#include <string>
#include <vector>

#include "trace/oclgrind/channel.h"
#include "trace/oclgrind/code_reader.h"

namespace nearfar::opencl {
namespace {

namespace og = oclgrind;

/// A part of what a work-item did is sent when it has this many bytes.
constexpr std::size_t kSliceBytes = std::size_t{1} << 15;

bool is_global(const og::Memory* memory) { return memory->getAddressSpace() == og::AddrSpaceGlobal; }
bool is_local(const og::Memory* memory) { return memory->getAddressSpace() == og::AddrSpaceLocal; }

class Plugin final : public og::Plugin {
 public:
  explicit Plugin(const og::Context* context)
      : og::Plugin(context), channel_(Channel::of_process()), number_(channel_.next_context()) {}

  bool isThreadSafe() const override { return false; }

  // --- memory, and the host

  void memoryAllocated(const og::Memory* memory, std::size_t address, std::size_t size, cl_mem_flags,
                       const std::uint8_t* initial) override {
    if (!is_global(memory)) return;
    const std::scoped_lock lock(channel_.mutex());
    send(Message::Allocate, {number_, address, size});
    if (initial != nullptr) send(Message::HostWrite, {number_, address, size});
  }

  void memoryDeallocated(const og::Memory* memory, std::size_t address) override {
    if (!is_global(memory)) return;
    const std::scoped_lock lock(channel_.mutex());
    send(Message::Free, {number_, address});
  }

  void hostMemoryLoad(const og::Memory* memory, std::size_t address, std::size_t size) override {
    if (!is_global(memory)) return;
    const std::scoped_lock lock(channel_.mutex());
    send_load();
    load_ = {address, size};
  }

  void hostMemoryStore(const og::Memory* memory, std::size_t address, std::size_t size,
                       const std::uint8_t* data) override {
    if (!is_global(memory)) return;
    const std::scoped_lock lock(channel_.mutex());
    // A copy within the device is a load and then a store of what lies there.
    if (load_.size == size && size != 0 && memory->getPointer(load_.address) == data) {
      send(Message::DeviceCopy, {number_, load_.address, address, size});
      load_ = {};
      return;
    }
    send_load();
    send(Message::HostWrite, {number_, address, size});
  }

  void memoryMap(const og::Memory* memory, std::size_t address, std::size_t offset, std::size_t size,
                 cl_map_flags flags) override {
    const std::scoped_lock lock(channel_.mutex());
    send_load();
    if ((flags & CL_MAP_READ) != 0) send(Message::HostRead, {number_, address + offset, size});
    if ((flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION)) != 0) {
      mapped_.emplace(static_cast<const std::uint8_t*>(memory->getPointer(address)) + offset,
                      Range{address + offset, size});
    }
  }

  void memoryUnmap(const og::Memory*, std::size_t, const void* pointer) override {
    const std::scoped_lock lock(channel_.mutex());
    const auto found = mapped_.find(pointer);
    if (found == mapped_.end()) return;
    send_load();
    send(Message::HostWrite, {number_, found->second.address, found->second.size});
    mapped_.erase(found);
  }

  // --- kernels

  void kernelBegin(const og::KernelInvocation* invocation) override {
    channel_.mutex().lock();
    send_load();
    const og::Kernel* kernel = invocation->getKernel();
    refuse_images(*kernel);
    code_.begin(kernel->getFunction());
    last_ = nullptr;
    begin({number_});
    put_text(message_, kernel->getName());
    const og::Size3 groups = invocation->getNumGroups(), size = invocation->getLocalSize();
    for (const og::Size3& each : {groups, size}) {
      for (unsigned i = 0; i < 3; ++i) put_number(message_, each[i]);
    }
    put_number(message_, kernel->getLocalMemorySize());
    std::vector<std::pair<std::string, std::size_t>> buffers;
    for (auto value = kernel->values_begin(); value != kernel->values_end(); ++value) {
      const auto* argument = llvm::dyn_cast<llvm::Argument>(value->first);
      if (argument == nullptr || !argument->getType()->isPointerTy()) continue;
      const unsigned space = argument->getType()->getPointerAddressSpace();
      if (space != og::AddrSpaceGlobal && space != og::AddrSpaceConstant) continue;
      buffers.emplace_back(kernel->getArgumentName(argument->getArgNo()).str(), value->second.getPointer());
    }
    put_number(message_, buffers.size());
    for (const auto& [name, address] : buffers) {
      put_text(message_, name);
      put_number(message_, address);
    }
    channel_.send(Message::KernelBegin, message_);
  }

  void kernelEnd(const og::KernelInvocation*) override {
    send(Message::KernelEnd, {});
    channel_.flush();
    channel_.mutex().unlock();
  }

  void workGroupBegin(const og::WorkGroup* group) override {
    const og::Size3 id = group->getGroupID();
    size_ = group->getGroupSize();
    send(Message::GroupBegin, {id.x, id.y, id.z, size_.x, size_.y, size_.z});
    group_copy_.clear();
  }

  void workGroupBarrier(const og::WorkGroup*, std::uint32_t flags) override {
    leave();
    if (!group_copy_.empty()) {
      begin({group_copy_.size()});
      for (const GroupAccess& access : group_copy_) {
        put_number(message_, access.stores ? 1 : 0);
        put_number(message_, access.size);
        put_number(message_, access.address);
      }
      channel_.send(Message::GroupCopy, message_);
      group_copy_.clear();
    }
    send(Message::Barrier, {flags & (kLocalFence | kGlobalFence)});
  }

  void workGroupComplete(const og::WorkGroup*) override {
    leave();
    send(Message::GroupEnd, {});
  }

  void instructionExecuted(const og::WorkItem* item, const llvm::Instruction* instruction,
                           const og::TypedValue&) override {
    enter(item);
    // Most follow the one before in its block.
    if (last_ != nullptr && run_count_ != 0 && last_->getNextNode() == instruction) {
      ++run_count_;
    } else {
      put_run();
      std::int64_t number = code_.number(instruction);
      if (number < 0) {
        message_.clear();
        code_.read(*instruction->getFunction(), message_);
        channel_.send(Message::Function, message_);
        number = code_.number(instruction);
      }
      run_first_ = static_cast<std::uint64_t>(number);
      run_count_ = 1;
    }
    last_ = instruction;
    if (slice_.size() >= kSliceBytes) send_slice();
  }

  void memoryLoad(const og::Memory* memory, const og::WorkItem* item, std::size_t address, std::size_t size) override {
    access(LaneTag::Load, memory, item, address, size);
  }
  void memoryStore(const og::Memory* memory, const og::WorkItem* item, std::size_t address, std::size_t size,
                   const std::uint8_t*) override {
    access(LaneTag::Store, memory, item, address, size);
  }
  /// The store of an atomic belongs to its load.
  void memoryAtomicLoad(const og::Memory* memory, const og::WorkItem* item, og::AtomicOp, std::size_t address,
                        std::size_t size) override {
    access(LaneTag::Atomic, memory, item, address, size);
  }

  void memoryLoad(const og::Memory* memory, const og::WorkGroup*, std::size_t address, std::size_t size) override {
    if (is_global(memory)) group_copy_.push_back({false, address, size});
  }
  void memoryStore(const og::Memory* memory, const og::WorkGroup*, std::size_t address, std::size_t size,
                   const std::uint8_t*) override {
    if (is_global(memory)) group_copy_.push_back({true, address, size});
  }

  void flush() {
    const std::scoped_lock lock(channel_.mutex());
    send_load();
    channel_.flush();
  }

 private:
  struct Range {
    std::size_t address = 0, size = 0;
  };
  struct GroupAccess {
    bool stores;
    std::size_t address, size;
  };

  void begin(std::initializer_list<std::uint64_t> numbers) {
    message_.clear();
    for (const std::uint64_t number : numbers) put_number(message_, number);
  }
  void send(Message message, std::initializer_list<std::uint64_t> numbers) {
    begin(numbers);
    channel_.send(message, message_);
  }

  /// The host's last load, which was no part of a copy.
  void send_load() {
    if (load_.size != 0) send(Message::HostRead, {number_, load_.address, load_.size});
    load_ = {};
  }

  void refuse_images(const og::Kernel& kernel) {
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i) {
      const std::string type = kernel.getArgumentTypeName(i).str();
      if (type.rfind("image", 0) != 0) continue;
      channel_.refuse("Kernel '" + kernel.getName() + "' takes an image (argument " + std::to_string(i) + ", " + type +
                      "), and traces have no images: only programs that keep their data in buffers can be recorded.");
    }
  }

  /// Another work-item goes on.
  void enter(const og::WorkItem* item) {
    if (item == item_) return;
    leave();
    item_ = item;
    const og::Size3 id = item->getLocalID();
    lane_ = id.x + size_.x * (id.y + size_.y * id.z);
    run_count_ = 0;
    next_ = 0;
    address_ = 0;
  }

  void put_run() {
    if (run_count_ == 0) return;
    put_number(slice_, zigzag(run_first_ - next_) << kLaneTagBits | static_cast<std::uint64_t>(LaneTag::Run));
    put_number(slice_, run_count_);
    next_ = run_first_ + run_count_;
    run_count_ = 0;
  }

  void access(LaneTag tag, const og::Memory* memory, const og::WorkItem* item, std::size_t address, std::size_t size) {
    const bool local = is_local(memory);
    if (!local && !is_global(memory)) return;
    enter(item);
    put_run();
    if (local) tag = LaneTag::Local;
    put_number(slice_, std::uint64_t{size} << kLaneTagBits | static_cast<std::uint64_t>(tag));
    if (local) return;
    put_number(slice_, zigzag(address - address_));
    address_ = address;
  }

  /// What the work-item has done so far; it may go on.
  void send_slice() {
    if (slice_.empty()) return;
    begin({lane_});
    message_.insert(message_.end(), slice_.begin(), slice_.end());
    channel_.send(Message::Slice, message_);
    slice_.clear();
  }

  /// The work-item stands at a barrier, or has ended.
  void leave() {
    if (item_ == nullptr) return;
    put_run();
    send_slice();
    item_ = nullptr;
  }

  Channel& channel_;
  std::uint64_t number_;
  ByteVector message_;
  Range load_;  ///< of the host, not yet sent
  std::map<const void*, Range> mapped_;

  CodeReader code_;
  og::Size3 size_;
  std::vector<GroupAccess> group_copy_;
  const og::WorkItem* item_ = nullptr;
  std::uint64_t lane_ = 0;
  ByteVector slice_;
  const llvm::Instruction* last_ = nullptr;
  std::uint64_t run_first_ = 0, run_count_ = 0;  ///< executed, not yet in the slice
  std::uint64_t next_ = 0, address_ = 0;         ///< those from which differences are taken
};

/// By context; at the end of the process, those that are left have something to say still.
std::map<const og::Context*, Plugin*>& plugins() {
  static auto* const all = new std::map<const og::Context*, Plugin*>;
  return *all;
}

}  // namespace
}  // namespace nearfar::opencl

extern "C" {

__attribute__((visibility("default"))) void initializePlugins(oclgrind::Context* context) {
  auto* plugin = new nearfar::opencl::Plugin(context);
  static const int registered = std::atexit([] {
    for (const auto& [of, each] : nearfar::opencl::plugins()) each->flush();
  });
  static_cast<void>(registered);
  nearfar::opencl::plugins()[context] = plugin;
  context->registerPlugin(plugin);
}

__attribute__((visibility("default"))) void releasePlugins(oclgrind::Context* context) {
  const auto found = nearfar::opencl::plugins().find(context);
  if (found == nearfar::opencl::plugins().end()) return;
  found->second->flush();
  context->unregisterPlugin(found->second);
  delete found->second;
  nearfar::opencl::plugins().erase(found);
}
}
