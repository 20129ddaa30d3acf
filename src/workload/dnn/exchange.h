// The loops that exchanges between ranks have in common. The items of a rank stride through what is exchanged, so that
// a wavefront stores whole lines.
#pragma once

#include "workload/dnn/kernels.h"

namespace nearfar::dnn {

/// Where a wavefront stands in a piece.
struct At {
  std::uint64_t element = 0;  ///< of lane 0, in the piece: a word
  std::uint64_t length = 0;   ///< of the piece
  std::uint32_t lanes = 0;    ///< of the wavefront
  std::uint32_t items = 0;    ///< words from an element to the next
  std::uint32_t word = 4;     ///< bytes
  std::uint32_t copy = 0;     ///< which of several arrays

  At() = default;
  At(const Wave& wave, const Striding& by, std::uint64_t words)
      : element(wave.item(0)), length(words), lanes(wave.lanes), items(by.items), word(by.word) {}

  std::uint64_t offset() const { return word * element; }
  std::uint32_t live() const { return static_cast<std::uint32_t>(std::min<std::uint64_t>(lanes, length - element)); }
};

/// Several arrays that are added to one.
struct Addends {
  VirtAddr first{};
  std::uint64_t apart = 0;  ///< bytes
  std::uint32_t copies = 1;
  std::uint32_t average = 0;  ///< 1: the sum is divided
};

/// The grid of one rank.
Launch striding(const Striding& by);

/// Copies a piece.
Stream push(VirtAddr from, VirtAddr to, At at);
/// Adds pieces to the own.
Stream reduce(Addends received, VirtAddr own, At at);

}  // namespace nearfar::dnn
