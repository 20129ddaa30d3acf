// Arrays of networks that several GPUs train or evaluate together. The GPUs are called ranks: rank r runs the r-th part
// of every launch, and of an array that everybody has, the r-th copy is its own.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>
#include <utility>

#include "program/workload.h"

namespace nearfar::dnn {

struct Tensor {
  VirtAddr first{};
  std::uint64_t apart = 0;  ///< bytes from a rank's copy to the next one's; 0 where all ranks share one

  VirtAddr on(std::uint64_t rank) const { return first + apart * rank; }
  /// What begins `bytes` later.
  Tensor after(std::uint64_t bytes) const { return {first + bytes, apart}; }
};

/// A matrix in rows, one for each head where there are several.
struct Matrix {
  Tensor at;
  std::uint64_t pitch = 0;  ///< elements from a row to the next
  std::uint64_t head = 0;   ///< elements from a head's matrix to the next one's
};

/// An array cut in as many pieces as there are ranks, or chunks; the last ones may be shorter.
struct Pieces {
  std::uint64_t total = 0, ranks = 1;

  std::uint64_t longest() const { return (total + ranks - 1) / ranks; }
  std::uint64_t begin(std::uint64_t piece) const { return std::min(piece * longest(), total); }
  std::uint64_t length(std::uint64_t piece) const { return begin(piece + 1) - begin(piece); }
};

/// Ranks as a binary tree: rank 0 is the root, and ranks 2r + 1 and 2r + 2 are the children of rank r.
struct Tree {
  std::uint64_t ranks = 1;

  static std::uint64_t parent(std::uint64_t rank) { return (rank - 1) / 2; }
  /// Which of its parent's children a rank is: 0 or 1.
  static std::uint64_t side(std::uint64_t rank) { return (rank - 1) % 2; }
  static std::uint64_t level(std::uint64_t rank) { return std::bit_width(rank + 1) - std::uint64_t{1}; }
  /// Of the ranks that are farthest from the root.
  std::uint64_t depth() const { return level(ranks - 1); }
  std::uint64_t children(std::uint64_t rank) const {
    return std::clamp(ranks, 2 * rank + 1, 2 * rank + 3) - (2 * rank + 1);
  }
};

}  // namespace nearfar::dnn
