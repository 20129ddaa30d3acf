// A set of small numbers, such as vertices: one bit each.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

namespace nearfar {

class IndexSet {
 public:
  explicit IndexSet(std::uint64_t size) : words_((size + 63) / 64) {}

  void insert(std::uint64_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  bool has(std::uint64_t i) const { return (words_[i / 64] >> (i % 64) & 1) != 0; }
  std::uint64_t count() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t word : words_) sum += static_cast<std::uint64_t>(std::popcount(word));
    return sum;
  }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace nearfar
