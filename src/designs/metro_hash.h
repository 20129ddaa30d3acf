// MetroHash64 of one 8-byte key: the hash of the filters that designs keep.
#pragma once

#include <bit>
#include <cstdint>

namespace nearfar {

constexpr std::uint64_t metro_hash(std::uint64_t key, std::uint64_t seed) {
  constexpr std::uint64_t k0 = 0xd6d018f5;
  constexpr std::uint64_t k1 = 0xa2aa033b;
  constexpr std::uint64_t k2 = 0x62992fc1;
  constexpr std::uint64_t k3 = 0x30bc5b29;
  std::uint64_t h = (seed + k2) * k0;
  h += key * k3;
  h ^= std::rotr(h, 55) * k1;
  h ^= std::rotr(h, 28);
  h *= k0;
  h ^= std::rotr(h, 29);
  return h;
}

}  // namespace nearfar
