#include "translation/address_space.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/error.h"

namespace nearfar {
namespace {

std::uint64_t pages_of(const Buffer& buffer) { return (buffer.bytes + kPageBytes - 1) / kPageBytes; }

/// Whether these pages are of a buffer that is private to each GPU.
bool is_in_private(const Workload& workload, const PageHome& home) {
  return std::ranges::any_of(workload.buffers(), [&](const Buffer& buffer) {
    const std::uint64_t first = page_of(buffer.base).value;
    return buffer.placement == Placement::Private && home.first.value >= first &&
           home.first.value < first + pages_of(buffer);
  });
}

Placement effective(const Buffer& buffer, InitialPlacement policy, bool shared) {
  if (buffer.placement == Placement::Multicast) return Placement::Multicast;
  if (buffer.placement == Placement::Private && !shared) return Placement::Private;
  switch (policy) {
    case InitialPlacement::Workload: return buffer.placement;
    case InitialPlacement::Host: return Placement::Host;
    case InitialPlacement::Distribute:
    case InitialPlacement::First:
    case InitialPlacement::Blocks: return Placement::Distribute;
    case InitialPlacement::Interleave: return Placement::Interleave;
  }
  return buffer.placement;
}

}  // namespace

AddressSpace::AddressSpace(const Workload& workload, InitialPlacement policy, unsigned first, unsigned count,
                           DeviceId host, FrameAllocator& frames, PageSize size, bool shared)
    : size_(size), first_gpu_(first), gpus_(count) {
  std::uint64_t begin = ~std::uint64_t{0};
  std::uint64_t end = 0;
  for (const Buffer& buffer : workload.buffers()) {
    begin = std::min(begin, page_of(buffer.base).value);
    end = std::max(end, page_of(buffer.base).value + pages_of(buffer));
  }
  const std::uint64_t whole = size.frames() - 1;
  first_page_ = begin & ~whole;
  end = (end + whole) & ~whole;
  frames_.assign(end > first_page_ ? end - first_page_ : 0, kUnmapped);
  for (const PageHome& home : workload.page_homes()) {
    // What is private to GPUs stays with them, whatever the policy.
    if (policy == InitialPlacement::Workload || (!shared && is_in_private(workload, home))) place(home, host, frames);
  }
  for (const Buffer& buffer : workload.buffers()) {
    place(buffer, effective(buffer, policy, shared), policy, host, frames);
  }
}

/// Pages of a run where `pages` are dealt out to `gpus` GPUs: the last one gets the rest, or runs are rounded up.
std::uint64_t AddressSpace::run_length(InitialPlacement policy, std::uint64_t pages) const {
  switch (policy) {
    case InitialPlacement::Blocks: return (pages + gpus_ - 1) / gpus_;
    case InitialPlacement::First: return pages;
    default: return pages / gpus_;
  }
}

/// All 4 KiB pieces of a page.
void AddressSpace::put(std::uint64_t index, PhysPage page) {
  for (std::uint64_t i = 0; i < size_.frames(); ++i) {
    frames_[index + i] = PhysPage{page.device(), page.frame() + i}.value;
  }
}

/// A page of the size in force goes where the first of its pieces that has a home goes.
void AddressSpace::place(const PageHome& home, DeviceId host, FrameAllocator& frames) {
  const DeviceId device =
      home.device == PageHome::kHost ? host : DeviceId{static_cast<std::uint16_t>(first_gpu_ + home.device)};
  for (std::uint64_t page = home.first.value; page < home.first.value + home.pages; ++page) {
    const std::uint64_t index = (page >> size_.bits << size_.bits) - first_page_;
    if (frames_[index] == kUnmapped) put(index, frames.take(device));
  }
}

void AddressSpace::place(const Buffer& buffer, Placement placement, InitialPlacement policy, DeviceId host,
                         FrameAllocator& frames) {
  // Page by page of the size in force. A page that two buffers share goes where the first one puts it.
  const std::uint64_t first = page_of(buffer.base).value >> size_.bits;
  const std::uint64_t last = (page_of(buffer.base).value + pages_of(buffer) - 1) >> size_.bits;
  const std::uint64_t pages = last - first + 1;
  const std::uint64_t each = run_length(policy, pages);
  const auto gpu = [&](std::uint64_t g) { return DeviceId{static_cast<std::uint16_t>(first_gpu_ + g)}; };
  for (std::uint64_t p = 0; p < pages; ++p) {
    const std::uint64_t index = ((first + p) << size_.bits) - first_page_;
    if (frames_[index] != kUnmapped) continue;
    switch (placement) {
      case Placement::Host: put(index, frames.take(host)); break;
      case Placement::Multicast: put(index, frames.take(DeviceId{static_cast<std::uint16_t>(host.value + 1)})); break;
      case Placement::Interleave: put(index, frames.take(gpu(interleaved_++ % gpus_))); break;
      case Placement::Distribute:
        put(index, frames.take(gpu(each == 0 ? 0 : std::min<std::uint64_t>(p / each, gpus_ - 1))));
        break;
      case Placement::Private: {
        const std::size_t group = private_frames_.size() / gpus_;
        for (std::uint64_t i = 0; i < size_.frames(); ++i) {
          frames_[index + i] = (group + i) | kPrivate;
        }
        private_frames_.resize(private_frames_.size() + size_.frames() * gpus_);
        for (std::uint64_t g = 0; g < gpus_; ++g) {
          const PhysPage page = frames.take(gpu(g));
          for (std::uint64_t i = 0; i < size_.frames(); ++i) {
            private_frames_[(group + i) * gpus_ + g] = PhysPage{page.device(), page.frame() + i};
          }
        }
        break;
      }
    }
  }
}

void AddressSpace::unmapped(VirtPage page) {
  throw SimulationError(
      fmt::format("a wavefront touched virtual address {:#x}, which belongs to no buffer", page.value << kPageShift));
}

}  // namespace nearfar
