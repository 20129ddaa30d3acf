// A first-in first-out queue of values in one piece of memory, which grows and is kept: no allocation once it is warm.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

namespace nearfar {

template <class T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  T& front() { return items_[head_]; }
  const T& front() const { return items_[head_]; }

  void push(T item) {
    if (size_ == items_.size()) grow();
    items_[(head_ + size_) & (items_.size() - 1)] = std::move(item);
    ++size_;
  }
  T pop() {
    T item = std::move(items_[head_]);
    head_ = (head_ + 1) & (items_.size() - 1);
    --size_;
    return item;
  }

 private:
  void grow() {
    std::vector<T> larger(items_.empty() ? 8 : 2 * items_.size());
    for (std::size_t i = 0; i < size_; ++i) larger[i] = std::move(items_[(head_ + i) & (items_.size() - 1)]);
    items_ = std::move(larger);
    head_ = 0;
  }

  std::vector<T> items_;  ///< as many as a power of two, or none
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace nearfar
