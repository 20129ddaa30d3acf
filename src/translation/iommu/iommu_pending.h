// The IOMMU's table of pending translations: who waits for which page, and what has been asked for it. An entry is open
// while requests may join it; it is served when they have been answered; it goes when nothing asked for it is under
// way.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/types.h"
#include "translation/miss.h"
#include "translation/page.h"

namespace nearfar {

struct PendingTranslation {
  struct Waiter {
    DeviceId gpu{};
    TimeAccount time;      ///< since its miss
    bool measured = true;  ///< its time is put to parts here
  };

  std::uint32_t id = 0;  ///< its place in the table
  PageKey page;
  std::vector<Waiter> waiters;  ///< keeps its room when the entry is used again
  Walk* walk = nullptr;         ///< queued or under way
  std::uint32_t questions = 0;  ///< a design's, to others, not yet answered
  bool served = false;

  bool done() const { return served && walk == nullptr && questions == 0; }
};

class PendingTable {
 public:
  /// `capacity` 0: no limit.
  explicit PendingTable(std::uint32_t capacity) : capacity_(capacity) {}

  bool full() const { return capacity_ != 0 && used_ >= capacity_; }
  bool empty() const { return used_ == 0; }
  std::uint32_t used() const { return used_; }

  /// The open entry of a page.
  PendingTranslation* find(PageKey page) {
    const auto found = open_.find(page.value);
    return found == open_.end() ? nullptr : &entries_[found->second];
  }
  PendingTranslation& at(std::uint32_t id) { return entries_[id]; }

  PendingTranslation& open(PageKey page) {
    std::uint32_t id;
    if (free_.empty()) {
      id = static_cast<std::uint32_t>(entries_.size());
      entries_.emplace_back().id = id;
    } else {
      id = free_.back();
      free_.pop_back();
    }
    PendingTranslation& entry = entries_[id];
    entry.page = page;
    open_.emplace(page.value, id);
    ++used_;
    return entry;
  }
  /// All who wait have been answered: a request that comes now gets an entry of its own.
  void serve(PendingTranslation& entry) {
    entry.served = true;
    entry.waiters.clear();
    open_.erase(entry.page.value);
  }
  void close(PendingTranslation& entry) {
    entry.served = false;
    free_.push_back(entry.id);
    --used_;
  }

 private:
  std::uint32_t capacity_;
  std::uint32_t used_ = 0;
  std::deque<PendingTranslation> entries_;
  std::vector<std::uint32_t> free_;
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> open_;  ///< by page
};

}  // namespace nearfar
