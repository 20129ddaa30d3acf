// Which bytes of their lines stores write, beside the requests that carry them: most lines are written whole and need
// none. A request may be made in one device and end in another, so the masks belong to the machine; each device has a
// list of free ones of its own, and what it releases it will hand out.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "memory/line_request.h"
#include "sim/types.h"

namespace nearfar {

inline constexpr unsigned kMaxLineBytes = 128;

/// Bytes of a line.
struct ByteMask {
  std::array<std::uint64_t, 2> bits{};

  static constexpr ByteMask all(unsigned line_bytes) {
    return {{~std::uint64_t{0}, line_bytes > 64 ? ~std::uint64_t{0} : 0}};
  }
  constexpr bool test(unsigned byte) const { return (bits[byte / 64] >> byte % 64 & 1) != 0; }
  constexpr unsigned count() const { return static_cast<unsigned>(std::popcount(bits[0]) + std::popcount(bits[1])); }
  constexpr bool empty() const { return (bits[0] | bits[1]) == 0; }
  constexpr ByteMask operator|(const ByteMask& other) const {
    return {{bits[0] | other.bits[0], bits[1] | other.bits[1]}};
  }
  constexpr ByteMask operator&(const ByteMask& other) const {
    return {{bits[0] & other.bits[0], bits[1] & other.bits[1]}};
  }
  constexpr ByteMask without(const ByteMask& other) const {
    return {{bits[0] & ~other.bits[0], bits[1] & ~other.bits[1]}};
  }
  /// Bytes [first, first + count).
  static constexpr ByteMask range(unsigned first, unsigned count) {
    const auto below = [](unsigned end) -> ByteMask {
      if (end >= 64)
        return {{~std::uint64_t{0}, end >= 128 ? ~std::uint64_t{0} : (std::uint64_t{1} << (end - 64)) - 1}};
      return {{(std::uint64_t{1} << end) - 1, 0}};
    };
    return below(first + count).without(below(first));
  }
  /// Maximal groups of bytes that are set and lie side by side.
  constexpr unsigned runs() const {
    // A run begins at a byte that is set behind one that is not.
    const std::uint64_t low = bits[0] & ~(bits[0] << 1);
    const std::uint64_t high = bits[1] & ~(bits[1] << 1 | bits[0] >> 63);
    return static_cast<unsigned>(std::popcount(low) + std::popcount(high));
  }
  /// Calls visit(first byte, bytes) for each of them, in order.
  template <class Visit>
  constexpr void for_each_run(Visit visit) const {
    unsigned at = 0;
    const auto skip = [&](std::uint64_t flip) {  // to the next byte that differs
      while (at < 128) {
        const std::uint64_t rest = (bits[at / 64] ^ flip) >> at % 64;
        if (rest != 0) {
          at += static_cast<unsigned>(std::countr_zero(rest));
          return;
        }
        at = (at / 64 + 1) * 64;
      }
    };
    for (;;) {
      skip(0);
      if (at >= 128) return;
      const unsigned first = at;
      skip(~std::uint64_t{0});
      visit(first, at - first);
    }
  }
  constexpr bool operator==(const ByteMask&) const = default;
};

/// The bytes that a store's first and last line are written in; those between are whole. Of one line, `first` counts.
struct EdgeMasks {
  ByteMask first;
  ByteMask last;
};

class ByteMaskPool {
 public:
  explicit ByteMaskPool(std::size_t devices) : free_(devices) {}

  ByteMasksId allocate(DeviceId device, const EdgeMasks& masks) {
    std::vector<ByteMasksId>& free = free_[device.value].ids;
    if (free.empty()) grow(free);
    const ByteMasksId id = free.back();
    free.pop_back();
    (*chunks_[id / kChunk])[id % kChunk] = masks;
    return id;
  }
  /// None may be named: 0.
  void release(DeviceId device, ByteMasksId id) {
    if (id != 0) free_[device.value].ids.push_back(id);
  }
  const EdgeMasks& at(ByteMasksId id) const { return (*chunks_[id / kChunk])[id % kChunk]; }

  /// Allocated and not released, when no device runs.
  std::size_t live() const {
    std::size_t free = 0;
    for (const FreeList& list : free_) free += list.ids.size();
    return made_ - free;
  }

 private:
  static constexpr std::size_t kChunk = 1024;
  static constexpr std::size_t kChunks = 1 << 16;
  using Chunk = std::array<EdgeMasks, kChunk>;
  struct alignas(64) FreeList {
    std::vector<ByteMasksId> ids;
  };

  /// A chunk is there before any of its names leaves the device that made it.
  void grow(std::vector<ByteMasksId>& free) {
    const std::scoped_lock lock(mutex_);
    chunks_[used_chunks_] = std::make_unique<Chunk>();
    const auto first = static_cast<ByteMasksId>(used_chunks_ * kChunk);
    ++used_chunks_;
    for (auto i = static_cast<ByteMasksId>(kChunk); i-- > 0;) {
      if (first + i != 0) free.push_back(first + i);
    }
    made_ += first == 0 ? kChunk - 1 : kChunk;
  }

  std::vector<FreeList> free_;  ///< by device
  std::mutex mutex_;
  std::size_t used_chunks_ = 0;
  std::size_t made_ = 0;
  std::unique_ptr<std::unique_ptr<Chunk>[]> chunks_ = std::make_unique<std::unique_ptr<Chunk>[]>(kChunks);
};

}  // namespace nearfar
