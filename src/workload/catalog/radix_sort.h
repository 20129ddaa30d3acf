// Radix sort by 8-bit digits, as the host would do it: where every key goes in each of the four passes.
#pragma once

#include <cstdint>
#include <vector>

namespace nearfar {

struct RadixSort {
  static constexpr std::uint32_t kDigits = 256, kPasses = 4;
  static constexpr std::uint32_t kKeysOfItem = 256;  ///< consecutive keys that one item moves

  std::vector<std::uint32_t> keys;                    ///< as they were drawn
  std::vector<std::uint32_t> sorted;                  ///< after the last pass
  std::vector<std::vector<std::uint32_t>> positions;  ///< by pass: where the key at each place goes
};

/// Keys of 31 bits, a multiple of kKeysOfItem of them.
RadixSort sort_by_radix(std::uint64_t keys, std::uint64_t seed);

}  // namespace nearfar
