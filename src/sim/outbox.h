// What one partition sends to the others within a window: all in one place in the order of sending, chained by
// destination, so that a window with few messages touches little memory however many partitions there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "sim/event.h"
#include "sim/types.h"

namespace nearfar {

class Outbox {
 public:
  explicit Outbox(std::size_t partitions) : chains_(partitions) {}

  /// Adds a copy of a message, which lies in a block of a pool.
  void add(DeviceId to, const Event& message) {
    const auto index = static_cast<std::uint32_t>(messages_.size());
    std::memcpy(&messages_.emplace_back(), &message, sizeof(EventBlock));
    following_.push_back(kEnd);
    Chain& chain = chains_[to.value];
    if (chain.first == kEnd) {
      chain.first = index;
      destinations_.push_back(to);
    } else {
      following_[chain.last] = index;
    }
    chain.last = index;
  }

  /// Who gets something.
  const std::vector<DeviceId>& destinations() const { return destinations_; }

  /// Visits the messages for one partition in the order of sending.
  template <class Visit>
  void for_each(std::size_t to, Visit visit) const {
    for (std::uint32_t i = chains_[to].first; i != kEnd; i = following_[i]) visit(messages_[i]);
  }

  void clear() {
    for (const DeviceId to : destinations_) chains_[to.value] = {};
    destinations_.clear();
    messages_.clear();
    following_.clear();
  }

 private:
  static constexpr std::uint32_t kEnd = ~std::uint32_t{0};

  struct Chain {
    std::uint32_t first = kEnd;
    std::uint32_t last = kEnd;
  };

  std::vector<EventBlock> messages_;
  std::vector<std::uint32_t> following_;  ///< by message: the next one to the same partition
  std::vector<Chain> chains_;
  std::vector<DeviceId> destinations_;
};

}  // namespace nearfar
