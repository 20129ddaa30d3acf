// A set of GPUs, for the records of pages: there are many of them, and most machines have few GPUs. The first 64 are
// bits of one word; only a set with a member beyond them has more, on the heap.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nearfar {

class GpuSet {
 public:
  GpuSet() = default;
  GpuSet(GpuSet&&) = default;
  GpuSet& operator=(GpuSet&&) = default;
  GpuSet(const GpuSet& other) : first_(other.first_), more_(copy(other)) {}
  GpuSet& operator=(const GpuSet& other) {
    first_ = other.first_;
    more_ = copy(other);
    return *this;
  }

  bool test(unsigned gpu) const { return (word(gpu / 64) >> (gpu % 64) & 1) != 0; }
  void set(unsigned gpu) {
    const std::uint64_t bit = std::uint64_t{1} << (gpu % 64);
    if (gpu < 64) {
      first_ |= bit;
      return;
    }
    if (more_ == nullptr) more_ = std::make_unique<std::vector<std::uint64_t>>();
    if (more_->size() < gpu / 64) more_->resize(gpu / 64);
    (*more_)[gpu / 64 - 1] |= bit;
  }
  void reset() {
    first_ = 0;
    more_.reset();
  }
  bool any() const { return count() != 0; }
  unsigned count() const { return count_without({}); }
  /// Members that are not in `other`.
  unsigned count_without(const GpuSet& other) const {
    unsigned sum = 0;
    for (std::size_t w = 0; w < words(); ++w) sum += static_cast<unsigned>(std::popcount(word(w) & ~other.word(w)));
    return sum;
  }

 private:
  std::size_t words() const { return 1 + (more_ == nullptr ? 0 : more_->size()); }
  std::uint64_t word(std::size_t w) const {
    if (w == 0) return first_;
    return w < words() ? (*more_)[w - 1] : 0;
  }
  static std::unique_ptr<std::vector<std::uint64_t>> copy(const GpuSet& other) {
    return other.more_ == nullptr ? nullptr : std::make_unique<std::vector<std::uint64_t>>(*other.more_);
  }

  std::uint64_t first_ = 0;                           ///< GPUs 0 to 63
  std::unique_ptr<std::vector<std::uint64_t>> more_;  ///< words of the others
};

}  // namespace nearfar
