// The words of the simulator as types: a page cannot be passed for a line, nor a device for a count.
// Everything below sim/ speaks in these.
#pragma once

#include <compare>
#include <cstdint>

namespace nearfar {

/// Simulated time: an integer count of GPU core cycles.
using Cycle = std::uint64_t;
inline constexpr Cycle kNever = ~Cycle{0};

/// A number with a name: comparable, explicit to make and to take apart.
template <class Tag, class Rep>
struct Strong {
  Rep value{};

  constexpr Strong() = default;
  constexpr explicit Strong(Rep v) : value(v) {}
  constexpr auto operator<=>(const Strong&) const = default;
};

/// A device of the machine: GPUs are 0..G-1, the host is G; where a design gives the switch between the GPUs state of
/// its own, that is G+1. Each device is one partition.
struct DeviceTag;
using DeviceId = Strong<DeviceTag, std::uint16_t>;
inline constexpr unsigned kMaxGpus = 1024;

/// A byte address in an application's virtual address space.
struct VirtTag;
using VirtAddr = Strong<VirtTag, std::uint64_t>;
constexpr VirtAddr operator+(VirtAddr a, std::uint64_t bytes) { return VirtAddr{a.value + bytes}; }

/// Pages are 4 KiB frames. From the coalescer to the L1 the unit of work is a page and a mask of its lines,
/// so a page has at most 64 lines.
inline constexpr unsigned kPageShift = 12;
inline constexpr std::uint64_t kPageBytes = std::uint64_t{1} << kPageShift;
inline constexpr unsigned kLineIndexBits = 6;

struct VirtPageTag;
using VirtPage = Strong<VirtPageTag, std::uint64_t>;
constexpr VirtPage page_of(VirtAddr a) { return VirtPage{a.value >> kPageShift}; }

/// A physical frame: which device, and which frame of its memory.
/// The low bits of the device come first, so that tags of small memories stay small (memory/cache/tag_array.h); its
/// high bits, which only machines of more than 255 GPUs have, stand above the frame.
struct PhysPage {
  static constexpr unsigned kFrameBits = 32;

  std::uint64_t value{};

  constexpr PhysPage() = default;
  constexpr explicit PhysPage(std::uint64_t v) : value(v) {}
  constexpr PhysPage(DeviceId device, std::uint64_t frame)
      : value((device.value & 0xffU) | frame << 8 | (std::uint64_t{device.value} >> 8) << (8 + kFrameBits)) {}
  constexpr DeviceId device() const {
    return DeviceId{static_cast<std::uint16_t>((value & 0xff) | (value >> (8 + kFrameBits) << 8))};
  }
  constexpr std::uint64_t frame() const { return value >> 8 & ((std::uint64_t{1} << kFrameBits) - 1); }
  constexpr auto operator<=>(const PhysPage&) const = default;
};

/// Bits by which a page number is shorter than that of a 4 KiB frame.
inline constexpr unsigned kLargePageBits = 9;

/// The page size in force.
struct PageSize {
  unsigned bits = 0;  ///< 0: 4 KiB, 4: 64 KiB, 9: 2 MiB

  constexpr std::uint64_t number(VirtPage page) const { return page.value >> bits; }
  constexpr std::uint64_t bytes() const { return kPageBytes << bits; }
  constexpr std::uint64_t frames() const { return std::uint64_t{1} << bits; }
  /// The frame of one 4 KiB piece of a page that is mapped at `page`.
  constexpr PhysPage frame_of(PhysPage page, VirtPage piece) const {
    return PhysPage{page.device(), page.frame() + (piece.value & (frames() - 1))};
  }
  constexpr bool operator==(const PageSize&) const = default;
};

/// A physical line: a frame and the index of the line in it.
struct PhysLine {
  std::uint64_t value{};

  constexpr PhysLine() = default;
  constexpr explicit PhysLine(std::uint64_t v) : value(v) {}
  constexpr PhysLine(PhysPage page, unsigned index) : value(page.value << kLineIndexBits | index) {}
  constexpr PhysPage page() const { return PhysPage{value >> kLineIndexBits}; }
  constexpr DeviceId device() const { return page().device(); }
  constexpr unsigned index() const { return static_cast<unsigned>(value & ((1U << kLineIndexBits) - 1)); }
  /// Position among all the lines of its device's memory.
  constexpr std::uint64_t number_in_device() const { return page().frame() << kLineIndexBits | index(); }
  constexpr auto operator<=>(const PhysLine&) const = default;
};

}  // namespace nearfar
