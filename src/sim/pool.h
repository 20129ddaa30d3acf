// Slabs of things and a stack of those that are free: no allocation once a run is warm. What is taken is as it was
// given back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "sim/prefetch.h"

namespace nearfar {

template <class T, std::size_t kSlab>
class Pool {
 public:
  T* allocate() {
    if (count_ == 0) [[unlikely]] {
      grow();
    }
    T* item = free_[--count_];
    // What was given back long ago has left the host's caches.
    if (count_ >= kAhead) prefetch_line(free_[count_ - kAhead]);
    return item;
  }

  void release(T* item) { free_[count_++] = item; }

  /// Taken and not given back.
  std::uint64_t live() const { return free_.size() - count_; }

 private:
  static constexpr std::size_t kAhead = 4;

  [[gnu::noinline]] void grow() {
    slabs_.push_back(std::make_unique<T[]>(kSlab));
    free_.resize(free_.size() + kSlab);
    for (std::size_t i = kSlab; i-- > 0;) free_[count_++] = &slabs_.back()[i];
  }

  std::vector<std::unique_ptr<T[]>> slabs_;
  std::vector<T*> free_;  ///< as long as there are things; the first `count_` are free
  std::size_t count_ = 0;
};

}  // namespace nearfar
