// Who waits for a bounded resource, in order of arrival. The resource owns the list; every release wakes one.
#pragma once

#include <cstdint>
#include <vector>

namespace nearfar {

class WaitList {
 public:
  bool empty() const { return head_ == waiters_.size(); }
  /// Not inlined, so that who finds room does not pay for who has to wait.
  [[gnu::noinline]] void push(std::uint16_t waiter) { waiters_.push_back(waiter); }

  std::uint16_t pop() {
    const std::uint16_t waiter = waiters_[head_++];
    if (empty()) {
      waiters_.clear();
      head_ = 0;
    }
    return waiter;
  }

 private:
  std::vector<std::uint16_t> waiters_;
  std::size_t head_ = 0;
};

}  // namespace nearfar
