// The virtual address space of one application: which frame of which device each page is.
// It is fixed before the first cycle and read by all partitions: with ideal translation it is all there is, else page
// tables are filled from it.
#pragma once

#include <cstdint>
#include <vector>

#include "program/workload.h"
#include "sim/types.h"
#include "translation/page.h"
#include "translation/translation_spec.h"

namespace nearfar {

/// Hands out the frames of each device: pages that were given back first, else in order.
class FrameAllocator {
 public:
  explicit FrameAllocator(unsigned devices, PageSize size = {}) : size_(size), next_(devices, 0), free_(devices) {}

  /// A frame for a whole page.
  PhysPage take(DeviceId device) {
    std::vector<PhysPage>& free = free_[device.value];
    if (!free.empty()) {
      const PhysPage page = free.back();
      free.pop_back();
      return page;
    }
    std::uint64_t& next = next_[device.value];
    next = (next + size_.frames() - 1) >> size_.bits << size_.bits;
    const PhysPage page{device, next};
    next += size_.frames();
    return page;
  }
  void give(PhysPage page) { free_[page.device().value].push_back(page); }
  /// A 4 KiB frame for a page of a page table.
  PhysPage take_table(DeviceId device) { return PhysPage{device, next_[device.value]++}; }
  std::uint64_t taken(DeviceId device) const { return next_[device.value]; }

 private:
  PageSize size_;
  std::vector<std::uint64_t> next_;
  std::vector<std::vector<PhysPage>> free_;
};

class AddressSpace {
 public:
  /// Places all buffers of `workload` on the GPUs [first, first + count), on the host, or at the switch behind it.
  /// Tables that are private to each GPU stay so, unless there is one copy of everything (`shared`).
  AddressSpace(const Workload& workload, InitialPlacement policy, unsigned first, unsigned count, DeviceId host,
               FrameAllocator& frames, PageSize size = {}, bool shared = false);

  PageSize page_size() const { return size_; }
  /// Number of the first page, and how many follow (some may belong to no buffer).
  std::uint64_t first_page() const { return first_page_ >> size_.bits; }
  std::uint64_t pages() const { return frames_.size() >> size_.bits; }
  /// Visits every page of a buffer: its number, where it starts, and whether each GPU has one of its own.
  template <class Visit>
  void for_each_page(Visit visit) const {
    for (std::uint64_t i = 0; i < frames_.size(); i += size_.frames()) {
      if (frames_[i] == kUnmapped) continue;
      visit((first_page_ + i) >> size_.bits, (frames_[i] & kPrivate) != 0);
    }
  }
  unsigned first_gpu() const { return first_gpu_; }
  unsigned gpus() const { return gpus_; }

  /// Whether each GPU has a page of its own.
  bool is_private(VirtPage page) const { return (frames_[page.value - first_page_] & kPrivate) != 0; }
  /// The frame of a page as GPU `gpu` sees it.
  PhysPage translate(DeviceId gpu, VirtPage page) const {
    const std::uint64_t index = page.value - first_page_;
    if (index >= frames_.size() || frames_[index] == kUnmapped) unmapped(page);
    const std::uint64_t frame = frames_[index];
    if ((frame & kPrivate) == 0) return PhysPage{frame};
    return private_frames_[(frame & ~kPrivate) * gpus_ + (gpu.value - first_gpu_)];
  }

 private:
  static constexpr std::uint64_t kUnmapped = ~std::uint64_t{0};
  static constexpr std::uint64_t kPrivate = std::uint64_t{1} << 62;  // one frame on each GPU; which, in the other bits

  [[noreturn]] static void unmapped(VirtPage page);
  void put(std::uint64_t index, PhysPage page);
  void place(const PageHome& home, DeviceId host, FrameAllocator& frames);
  std::uint64_t run_length(InitialPlacement policy, std::uint64_t pages) const;
  void place(const Buffer& buffer, Placement placement, InitialPlacement policy, DeviceId host, FrameAllocator& frames);

  PageSize size_;
  unsigned first_gpu_;
  unsigned gpus_;
  std::uint64_t first_page_ = 0;
  std::uint64_t interleaved_ = 0;      // one running counter through all allocations
  std::vector<std::uint64_t> frames_;  // by page: PhysPage value
  std::vector<PhysPage> private_frames_;
};

}  // namespace nearfar
