// A first-in first-out list of things that are linked through their own `next`: no allocation, and a thing is in one
// list at a time. Where `next` is inherited and knows only a base type, the list knows the type of what is in it.
#pragma once

#include <cstdint>

namespace nearfar {

template <class T>
class Fifo {
 public:
  bool empty() const { return head_ == nullptr; }
  std::uint32_t size() const { return size_; }
  T* front() const { return head_; }
  T* back() const { return head_ == nullptr ? nullptr : tail_; }
  /// What stands behind an item; null for the last.
  static T* behind(const T* item) { return static_cast<T*>(item->next); }

  void push(T* item) {
    item->next = nullptr;
    if (head_ == nullptr) {
      head_ = item;
    } else {
      tail_->next = item;
    }
    tail_ = item;
    ++size_;
  }

  /// Puts an item behind `before`; null is in front of all.
  void insert(T* item, T* before) {
    if (before == back()) {
      push(item);
      return;
    }
    if (before == nullptr) {
      item->next = head_;
      head_ = item;
    } else {
      item->next = before->next;
      before->next = item;
    }
    ++size_;
  }

  T* pop() {
    T* item = head_;
    head_ = behind(item);
    --size_;
    return item;
  }

  /// Takes an item out; `before` is the one in front of it, null for the first.
  void remove(T* item, T* before) {
    if (before == nullptr) {
      head_ = behind(item);
    } else {
      before->next = item->next;
    }
    if (tail_ == item) tail_ = before;
    --size_;
  }

  /// Drops the front, whose own link may be in use elsewhere by now: `following` was its successor.
  void replace_front(T* following) {
    head_ = following;
    --size_;
  }

 private:
  T* head_ = nullptr;
  T* tail_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace nearfar
