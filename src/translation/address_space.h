// The virtual address space of one application: which frame of which device each page is.
// With ideal translation this table is all there is; it is fixed before the first cycle and read by all partitions.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/system_spec.h"
#include "program/workload.h"
#include "sim/types.h"

namespace nearfar {

/// Hands out the frames of each device in order.
class FrameAllocator {
 public:
  explicit FrameAllocator(unsigned devices) : next_(devices, 0) {}
  PhysPage take(DeviceId device) { return PhysPage{device, next_[device.value]++}; }
  std::uint64_t taken(DeviceId device) const { return next_[device.value]; }

 private:
  std::vector<std::uint64_t> next_;
};

class AddressSpace {
 public:
  /// Places all buffers of `workload` on the GPUs [first, first + count) or on the host.
  AddressSpace(const Workload& workload, PlacementPolicy policy, unsigned first, unsigned count, DeviceId host,
               FrameAllocator& frames);

  /// The frame of a page as GPU `gpu` sees it.
  PhysPage translate(DeviceId gpu, VirtPage page) const {
    const std::uint64_t index = page.value - first_page_;
    if (index >= frames_.size() || frames_[index] == kUnmapped) unmapped(page);
    const std::uint32_t frame = frames_[index];
    if ((frame & 0xff) != kPrivate) return PhysPage{frame};
    return private_frames_[(frame >> 8) * gpus_ + (gpu.value - first_gpu_)];
  }

 private:
  static constexpr std::uint32_t kUnmapped = ~std::uint32_t{0};
  static constexpr std::uint32_t kPrivate = 0xfe;  // in place of the device: one frame on each GPU

  [[noreturn]] static void unmapped(VirtPage page);
  void place(const Buffer& buffer, Placement placement, DeviceId host, FrameAllocator& frames);

  unsigned first_gpu_;
  unsigned gpus_;
  std::uint64_t first_page_ = 0;
  std::uint64_t interleaved_ = 0;      // one running counter through all allocations
  std::vector<std::uint32_t> frames_;  // by page: PhysPage value
  std::vector<PhysPage> private_frames_;
};

}  // namespace nearfar
