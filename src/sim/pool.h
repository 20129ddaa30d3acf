// Slabs of things with a free list, linked through their own `next`: no allocation once a run is warm. What is taken is
// as it was given back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nearfar {

template <class T, std::size_t kSlab>
class Pool {
 public:
  T* take() {
    if (free_ == nullptr) grow();
    T* item = free_;
    free_ = item->next;
    ++live_;
    return item;
  }

  void give(T* item) {
    item->next = free_;
    free_ = item;
    --live_;
  }

  /// Taken and not given back.
  std::uint64_t live() const { return live_; }

 private:
  void grow() {
    slabs_.push_back(std::make_unique<T[]>(kSlab));
    for (std::size_t i = kSlab; i-- > 0;) {
      slabs_.back()[i].next = free_;
      free_ = &slabs_.back()[i];
    }
  }

  std::vector<std::unique_ptr<T[]>> slabs_;
  T* free_ = nullptr;
  std::uint64_t live_ = 0;
};

}  // namespace nearfar
