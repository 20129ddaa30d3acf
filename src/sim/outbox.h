// What one partition sends to the others within a window: all in one place in the order of sending, chained by
// destination, so that a window with few messages touches little memory however many partitions there are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/prefetch.h"
#include "sim/transaction.h"
#include "sim/types.h"

namespace nearfar {

class Outbox {
 public:
  explicit Outbox(std::size_t partitions) : chains_(partitions) {}

  void add(DeviceId to, const Transaction& message) {
    const auto index = static_cast<std::uint32_t>(messages_.size());
    messages_.push_back(message);
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

  /// Brings the first message for a partition that gets something into the host's cache.
  void prefetch(std::size_t to, PrefetchStep step) const {
    const Chain& chain = chains_[to];
    if (step == PrefetchStep::First) {
      prefetch_line(&chain);
    } else {
      prefetch_line(&messages_[chain.first]);
      prefetch_line(&following_[chain.first]);
    }
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

  std::vector<Transaction> messages_;
  std::vector<std::uint32_t> following_;  ///< by message: the next one to the same partition
  std::vector<Chain> chains_;
  std::vector<DeviceId> destinations_;
};

}  // namespace nearfar
