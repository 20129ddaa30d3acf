// Where a line lies in the memory of its device: from high to low bits row : rank : bank : column : channel.
// Neighbouring lines are in neighbouring channels, and a channel walks through a row before it changes bank.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>

#include "memory/dram/dram_spec.h"
#include "sim/divider.h"
#include "sim/types.h"

namespace nearfar {

class DramMap {
 public:
  struct Place {
    std::uint32_t channel;
    std::uint32_t rank;
    std::uint32_t bank;  ///< counted through the ranks of the channel: rank × banks + bank
    std::uint32_t row;
  };

  DramMap(const DramSpec& spec, std::uint64_t line_bytes)
      : page_shift_(static_cast<unsigned>(std::countr_zero(kPageBytes / line_bytes))),
        channels_(spec.channels),
        columns_(spec.row / line_bytes),
        banks_(spec.banks),
        channel_banks_(std::uint64_t{spec.ranks} * spec.banks),
        power_of_two_(std::has_single_bit(spec.channels)) {
    const auto bits = static_cast<unsigned>(std::bit_width(spec.channels - 1U));
    if (spec.channel_index == IndexHash::Modulo || bits == 0) return;
    fold_mask_ = (std::uint64_t{1} << bits) - 1;
    fold_last_ = fold_first_ = bits;
    while (2 * fold_first_ < kLineNumberBits) fold_first_ *= 2;
  }

  std::uint32_t channel(PhysLine line) const { return split(line).channel; }

  Place place(PhysLine line) const {
    const auto [channel, rest] = split(line);
    const auto [row, bank] = channel_banks_.divide(columns_.quotient(rest));
    assert(row < ~std::uint32_t{0});
    return {channel, static_cast<std::uint32_t>(banks_.quotient(bank)), static_cast<std::uint32_t>(bank),
            static_cast<std::uint32_t>(row)};
  }

 private:
  static constexpr unsigned kLineNumberBits = 40;

  struct Split {
    std::uint32_t channel;
    std::uint64_t rest;
  };

  /// For each value of the rest the channels are a permutation, whatever their number: every line has a place of its
  /// own, and any aligned run of as many lines as channels meets each channel once.
  Split split(PhysLine line) const {
    const auto [rest, lower] = channels_.divide(line.page().frame() << page_shift_ | line.index());
    if (fold_mask_ == 0) return {static_cast<std::uint32_t>(lower), rest};
    if (power_of_two_) return {static_cast<std::uint32_t>(lower ^ fold(rest)), rest};
    return {static_cast<std::uint32_t>(channels_.divide(lower + fold(rest)).remainder), rest};
  }

  /// Exclusive or of all groups of as many bits as a channel number has, by halves.
  std::uint64_t fold(std::uint64_t n) const {
    for (unsigned shift = fold_first_; shift >= fold_last_; shift /= 2) n ^= n >> shift;
    return n & fold_mask_;
  }

  unsigned page_shift_;      ///< log2 of the lines in a page
  unsigned fold_first_ = 0;  ///< shifts of the halvings
  unsigned fold_last_ = 0;
  std::uint64_t fold_mask_ = 0;  ///< 0 for the plain remainder
  Divider channels_;
  Divider columns_;
  Divider banks_;
  Divider channel_banks_;
  bool power_of_two_;
};

}  // namespace nearfar
