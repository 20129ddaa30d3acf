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

  bool empty() const { return used_ == 0; }
  bool contains(unsigned device) const { return (words_[device / 64] >> (device % 64) & 1) != 0; }
  void insert(unsigned device) {
    words_[device / 64] |= std::uint64_t{1} << (device % 64);
    used_ |= 1U << device / 64;
  }
  void erase(unsigned device) {
    words_[device / 64] &= ~(std::uint64_t{1} << (device % 64));
    if (words_[device / 64] == 0) used_ &= ~(1U << device / 64);
  }

  /// The first member from `device` on, or kNone.
  unsigned first_from(unsigned device) const {
    if (device >= kDevices) return kNone;
    const unsigned word = device / 64;
    if (const std::uint64_t members = words_[word] >> (device % 64) << (device % 64)) return member(word, members);
    const std::uint32_t later = word + 1 < kWords ? used_ >> (word + 1) << (word + 1) : 0;
    if (later == 0) return kNone;
    const auto next = static_cast<unsigned>(std::countr_zero(later));
    return member(next, words_[next]);
  }
  /// The same, beginning again at the first device when there is none: only kNone when the set is empty.
  unsigned first_around(unsigned device) const {
    const std::uint64_t close = device < 64 ? words_[0] >> device << device : 0;
    if (close != 0) return static_cast<unsigned>(std::countr_zero(close));  // few devices: one word is all
    const unsigned behind = first_from(device);
    return behind != kNone ? behind : first_from(0);
  }

 private:
  static constexpr unsigned kDevices = kMaxGpus + 2;  // the host, and a switch that is a device
  static constexpr unsigned kWords = (kDevices + 63) / 64;
  static_assert(kWords <= 32);

  static unsigned member(unsigned word, std::uint64_t members) {
    return word * 64 + static_cast<unsigned>(std::countr_zero(members));
  }

  std::uint32_t used_ = 0;  ///< a bit for each word that has members
  std::array<std::uint64_t, kWords> words_{};
};

}  // namespace nearfar
