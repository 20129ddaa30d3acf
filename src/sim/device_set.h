// A set of devices, visited in the order of their numbers. Made for a few members among many devices: what is done for
// each member costs nothing for the others.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <limits>

#include "sim/types.h"

namespace nearfar {

class DeviceSet {
 public:
  static constexpr unsigned kNone = std::numeric_limits<unsigned>::max();

  bool empty() const { return first_from(0) == kNone; }
  bool contains(unsigned device) const { return (words_[device / 64] >> (device % 64) & 1) != 0; }
  void insert(unsigned device) { words_[device / 64] |= std::uint64_t{1} << (device % 64); }
  void erase(unsigned device) { words_[device / 64] &= ~(std::uint64_t{1} << (device % 64)); }

  /// The first member from `device` on, or kNone.
  unsigned first_from(unsigned device) const {
    if (device >= kDevices) return kNone;
    std::size_t word = device / 64;
    std::uint64_t members = words_[word] >> (device % 64) << (device % 64);
    while (members == 0) {
      if (++word == words_.size()) return kNone;
      members = words_[word];
    }
    return static_cast<unsigned>(word * 64) + static_cast<unsigned>(std::countr_zero(members));
  }
  /// The same, beginning again at the first device when there is none: only kNone when the set is empty.
  unsigned first_around(unsigned device) const {
    const unsigned behind = first_from(device);
    return behind != kNone ? behind : first_from(0);
  }

 private:
  static constexpr unsigned kDevices = kMaxGpus + 1;  // the host

  std::array<std::uint64_t, (kDevices + 63) / 64> words_{};
};

}  // namespace nearfar
