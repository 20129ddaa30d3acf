// Vectors of sharers, packed: each has a bit for every GPU of the machine, rounded up to a power of two, so that none
// lies in two words. With four GPUs the 16 vectors of a REC entry are one word.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coherence/directory.h"

namespace nearfar {

class SharerTable {
 public:
  SharerTable(std::size_t vectors, std::uint32_t gpus)
      : bits_(static_cast<unsigned>(std::countr_zero(std::bit_ceil(gpus)))),
        mask_(~Sharers{0} >> (64 - (std::size_t{1} << bits_))),
        words_(((vectors << bits_) + 63) / 64) {}

  Sharers get(std::size_t vector) const { return words_[word_of(vector)] >> shift_of(vector) & mask_; }
  void set(std::size_t vector, Sharers sharers) {
    std::uint64_t& word = words_[word_of(vector)];
    word = (word & ~(mask_ << shift_of(vector))) | sharers << shift_of(vector);
  }
  // A group: `count` vectors, a power of two, of which the first is a multiple.
  bool any(std::size_t first, std::size_t count) const {
    for (std::size_t i = 0; i < words_in(count); ++i) {
      if ((words_[word_of(first) + i] & group_mask(first, count)) != 0) return true;
    }
    return false;
  }
  void clear(std::size_t first, std::size_t count) {
    for (std::size_t i = 0; i < words_in(count); ++i) words_[word_of(first) + i] &= ~group_mask(first, count);
  }

 private:
  std::size_t word_of(std::size_t vector) const { return (vector << bits_) / 64; }
  unsigned shift_of(std::size_t vector) const { return static_cast<unsigned>((vector << bits_) % 64); }
  /// A group is part of a word, or whole words.
  std::size_t words_in(std::size_t count) const { return ((count << bits_) + 63) / 64; }
  std::uint64_t group_mask(std::size_t first, std::size_t count) const {
    const std::size_t bits = count << bits_;
    return bits < 64 ? ~std::uint64_t{0} >> (64 - bits) << shift_of(first) : ~std::uint64_t{0};
  }

  unsigned bits_;  ///< log2 of those of a vector
  Sharers mask_;
  std::vector<std::uint64_t> words_;
};

}  // namespace nearfar
