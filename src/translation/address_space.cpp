#include "translation/address_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.h"

namespace nearfar {
namespace {

std::uint64_t pages_of(const Buffer& buffer) { return (buffer.bytes + kPageBytes - 1) / kPageBytes; }

Placement effective(const Buffer& buffer, PlacementPolicy policy) {
  if (buffer.placement == Placement::Private) return Placement::Private;
  switch (policy) {
    case PlacementPolicy::Workload: return buffer.placement;
    case PlacementPolicy::Host: return Placement::Host;
    case PlacementPolicy::Distribute: return Placement::Distribute;
    case PlacementPolicy::Interleave: return Placement::Interleave;
  }
  return buffer.placement;
}

}  // namespace

AddressSpace::AddressSpace(const Workload& workload, PlacementPolicy policy, unsigned first, unsigned count,
                           DeviceId host, FrameAllocator& frames)
    : first_gpu_(first), gpus_(count) {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  for (const Buffer& buffer : workload.buffers()) {
    begin = std::min(begin, page_of(buffer.base).value);
    end = std::max(end, page_of(buffer.base).value + pages_of(buffer));
  }
  first_page_ = begin;
  frames_.assign(end > begin ? end - begin : 0, kUnmapped);
  for (const Buffer& buffer : workload.buffers()) place(buffer, effective(buffer, policy), host, frames);
}

void AddressSpace::place(const Buffer& buffer, Placement placement, DeviceId host, FrameAllocator& frames) {
  const std::uint64_t pages = pages_of(buffer);
  const std::uint64_t each = pages / gpus_;
  const auto gpu = [&](std::uint64_t g) { return DeviceId{static_cast<std::uint8_t>(first_gpu_ + g)}; };
  for (std::uint64_t p = 0; p < pages; ++p) {
    std::uint32_t& entry = frames_[page_of(buffer.base).value + p - first_page_];
    switch (placement) {
      case Placement::Host: entry = static_cast<std::uint32_t>(frames.take(host).value); break;
      case Placement::Interleave:
        entry = static_cast<std::uint32_t>(frames.take(gpu(interleaved_++ % gpus_)).value);
        break;
      case Placement::Distribute: {
        const std::uint64_t g = each == 0 ? 0 : std::min<std::uint64_t>(p / each, gpus_ - 1);
        entry = static_cast<std::uint32_t>(frames.take(gpu(g)).value);
        break;
      }
      case Placement::Private:
        entry = static_cast<std::uint32_t>(private_frames_.size() / gpus_) << 8 | kPrivate;
        for (std::uint64_t g = 0; g < gpus_; ++g) private_frames_.push_back(frames.take(gpu(g)));
        break;
    }
  }
}

void AddressSpace::unmapped(VirtPage page) {
  throw SimulationError(
      fmt::format("a wavefront touched virtual address {:#x}, which belongs to no buffer", page.value << kPageShift));
}

}  // namespace nearfar
