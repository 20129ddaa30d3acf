// The banks of a DRAM channel whose rows are being opened, in the order in which they become ready for a column
// command. So the scheduler learns of each bank once, instead of asking all of them at every decision.
#pragma once

#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "sim/types.h"

namespace nearfar {

class DramOpenings {
 public:
  explicit DramOpenings(std::uint32_t banks) : ring_(std::bit_ceil(banks)) { assert(banks <= 1U << kBankBits); }

  bool empty() const { return count_ == 0; }
  std::uint32_t size() const { return count_; }
  std::uint32_t bank(std::uint32_t i = 0) const { return static_cast<std::uint32_t>(at(i) & ((1U << kBankBits) - 1)); }
  Cycle ready(std::uint32_t i = 0) const { return at(i) >> kBankBits; }
  void pop() {
    ++first_;
    --count_;
  }

  /// A bank is in at most once.
  void add(std::uint32_t bank, Cycle ready) {
    const std::uint64_t entry = ready << kBankBits | bank;
    std::uint32_t i = count_++;
    for (; i > 0 && at(i - 1) > entry; --i) at(i) = at(i - 1);
    at(i) = entry;
  }

  void remove(std::uint32_t which) {
    std::uint32_t i = 0;
    while (bank(i) != which) ++i;
    for (--count_; i < count_; ++i) at(i) = at(i + 1);
  }

 private:
  static constexpr unsigned kBankBits = 16;

  std::uint64_t& at(std::uint32_t i) { return ring_[(first_ + i) & (ring_.size() - 1)]; }
  std::uint64_t at(std::uint32_t i) const { return ring_[(first_ + i) & (ring_.size() - 1)]; }

  std::uint32_t first_ = 0;
  std::uint32_t count_ = 0;
  std::vector<std::uint64_t> ring_;
};

}  // namespace nearfar
