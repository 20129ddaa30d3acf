// What a wavefront loads before all else, where kernel arguments are modelled (dispatch.kernel_arguments): its dispatch
// packet, which has the size of its workgroup, and the arguments of its kernel. The driver writes both anew for every
// launch, into pages of their own in the memory of each GPU.
//
// The kernels of workloads count these loads as scalar instructions at their beginning; here some of them become loads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "program/workload.h"

namespace nearfar {

/// Where the wavefronts of one launch on one GPU find their packet and arguments.
class KernelArguments {
 public:
  KernelArguments() = default;  ///< none
  KernelArguments(VirtAddr packet, VirtAddr arguments, std::uint32_t bytes)
      : packet_(packet), arguments_(arguments), loads_(1 + (bytes + kLoadBytes - 1) / kLoadBytes) {}

  static constexpr std::uint32_t kLoadBytes = 16;     // four registers: the compilers' usual load of pointers
  static constexpr std::uint64_t kWorkgroupSize = 4;  // its offset in a dispatch packet

  std::uint32_t loads() const { return loads_; }
  /// One of them: the packet's comes first.
  Plain load(std::uint32_t number) const {
    return number == 0 ? scalar_load(4, packet_ + kWorkgroupSize)
                       : scalar_load(kLoadBytes, arguments_ + std::uint64_t{kLoadBytes} * (number - 1));
  }

 private:
  VirtAddr packet_{}, arguments_{};
  std::uint32_t loads_ = 0;
};

/// A workload with a buffer for the packets and arguments of its launches on `gpus` GPUs.
class WithKernelArguments final : public Workload {
 public:
  /// `page_bytes`: of the pages in force, of which every packet and every block of arguments has one.
  WithKernelArguments(std::shared_ptr<const Workload> program, unsigned gpus, std::uint64_t page_bytes,
                      std::uint32_t bytes);

  Stream wavefront(std::size_t launch, const Wave& wave) const override { return program_->wavefront(launch, wave); }
  std::uint64_t gpus() const override { return program_->gpus(); }
  std::uint32_t lanes() const override { return program_->lanes(); }
  std::span<const PageHome> page_homes() const override { return homes_; }
  std::optional<CollectiveWork> collective() const override { return program_->collective(); }
  /// What the wavefronts of a launch load on one of the GPUs.
  KernelArguments arguments(std::size_t launch, unsigned gpu) const;

 private:
  /// A page of a GPU; each launch has two rows of them.
  VirtAddr page(std::uint64_t row, unsigned gpu) const { return first_ + (row * gpus_ + gpu) * page_bytes_; }

  std::shared_ptr<const Workload> program_;
  unsigned gpus_;
  std::uint64_t page_bytes_;
  std::uint32_t bytes_;
  VirtAddr first_;
  std::vector<PageHome> homes_;
};

}  // namespace nearfar
