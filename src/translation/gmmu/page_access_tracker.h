// What a GPU's compute units do with each frame they have mapped: accesses on their way, which an invalidation waits
// for, and remote accesses, which access counters count. Kept only where pages can move.
#pragma once

#include <algorithm>
#include <bit>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <utility>
#include <vector>

#include "sim/prefetch.h"
#include "translation/page.h"
#include "translation/translation_spec.h"

namespace nearfar {

class DrainListener {
 public:
  virtual ~DrainListener() = default;
  /// No access of `page` is on its way any more.
  virtual void drained(PhysPage page) = 0;
  /// The access counter of a page has reached its threshold.
  virtual void counted(PageKey page, Epoch epoch) = 0;
};

class PageAccessTracker {
 public:
  /// Counters with a threshold of 0 count nothing.
  PageAccessTracker(unsigned devices, PageSize size, const AccessCounterSpec& counters)
      : by_device_(devices),
        shift_(size.bits),
        threshold_(counters.threshold),
        count_at_(counters.count_at),
        region_shift_(std::max(static_cast<unsigned>(counters.granularity), size.bits) - size.bits) {}
  void set_listener(DrainListener& listener) { listener_ = &listener; }

  /// `count` accesses of a frame begin, or end.
  void enter(PhysPage page, std::uint32_t count) { at(page).outstanding += count; }
  void leave(PhysPage page, std::uint32_t count) { leave(at(page), page, count); }
  /// Whether no access is on its way; if one is, the listener is told when that is over.
  bool drain(PhysPage page) {
    Use& use = at(page);
    use.draining = use.outstanding != 0;
    return !use.draining;
  }

  /// A mapping to a frame has been written into, or removed from, the local table.
  void map(PageKey page, PhysPage frame, Epoch epoch) {
    Use& use = at(frame);
    use.page = page;
    use.epoch = epoch;
    reset_counter(frame);
  }
  /// The page that a frame is mapped for, and the epoch of that mapping.
  PageKey page(PhysPage frame) { return at(frame).page; }
  Epoch epoch(PhysPage frame) { return at(frame).epoch; }
  void reset_counter(PhysPage frame) {
    at(frame).remote = 0;
    at(frame).asked = false;
  }
  /// The mapping to a frame is being invalidated: accesses that are still on their way say nothing of the next one.
  void stop_counting(PhysPage frame) {
    at(frame).remote = 0;
    at(frame).asked = true;
  }
  /// A compute unit has been given the mapping: its L1 TLB and L1 caches may hold something of it.
  void add_user(PhysPage frame, unsigned cu) { at(frame).users |= std::uint64_t{1} << cu % 64; }
  /// Visits those of `cus` compute units that may be among them, in order where there are at most 64.
  template <class Visit>
  void for_users(PhysPage frame, std::size_t cus, Visit visit) {
    for (std::uint64_t users = at(frame).users; users != 0; users &= users - 1) {
      for (auto cu = static_cast<unsigned>(std::countr_zero(users)); cu < cus; cu += 64) visit(cu);
    }
  }
  /// Lines of a frame have come, for accesses that end with it: caches may hold them.
  void lines_came(PhysPage frame, std::uint64_t lines) {
    Use& use = at(frame);
    use.lines |= lines;
    leave(use, frame, static_cast<std::uint32_t>(std::popcount(lines)));
  }
  /// The lines, of any frame of the page, that may be held.
  std::uint64_t lines(PhysPage frame) { return at(frame).lines; }
  void clear_users(PhysPage frame) { at(frame).users = at(frame).lines = 0; }

  /// Whether there are access counters, and at this place.
  bool counts_at(CountAt place) const { return threshold_ != 0 && count_at_ == place; }
  /// Counts accesses of a frame elsewhere.
  void count_remote(PhysPage frame, std::uint32_t accesses) {
    if (threshold_ == 0) return;
    Use& use = at(frame);
    if (use.asked) return;
    const bool first = use.remote == 0;
    use.remote += accesses;
    if (region_shift_ != 0) {
      count_in_region(region_of(use.page), frame, first, accesses);
    } else if (use.remote >= threshold_) {
      ask_for(use);
    }
  }

  std::uint64_t outstanding() const {
    std::uint64_t sum = 0;
    for (const auto& frames : by_device_) {
      for (const Use& use : frames) sum += use.outstanding;
    }
    return sum;
  }

 private:
  /// A line of the host's cache.
  struct alignas(kHostLine) Use {
    std::uint32_t outstanding = 0;
    std::uint32_t remote = 0;
    std::uint64_t users = 0;  ///< compute units, by number modulo 64
    std::uint64_t lines = 0;  ///< that have come since
    PageKey page;
    Epoch epoch = 0;
    bool draining = false;
    bool asked = false;
  };

  /// What one counter has counted, and the frames in which it did.
  struct Region {
    std::uint32_t remote = 0;
    std::vector<PhysPage> touched;
  };

  void leave(Use& use, PhysPage page, std::uint32_t count) {
    use.outstanding -= count;
    if (use.outstanding == 0 && use.draining) {
      use.draining = false;
      listener_->drained(whole(page));
    }
  }
  std::uint64_t region_of(PageKey page) const { return PageKey(page.pid(), page.number() >> region_shift_).value; }
  void ask_for(Use& use) {
    use.asked = true;
    listener_->counted(use.page, use.epoch);
  }
  void count_in_region(std::uint64_t number, PhysPage frame, bool first, std::uint32_t accesses) {
    Region& region = regions_[number];
    if (first) region.touched.push_back(frame);
    region.remote += accesses;
    if (region.remote < threshold_) return;
    const std::vector<PhysPage> touched = std::move(region.touched);
    regions_.erase(number);
    for (const PhysPage& each : touched) {
      Use& use = at(each);
      // Its page may have moved meanwhile, and the frame may be another's.
      if (use.remote != 0 && !use.asked && region_of(use.page) == number) ask_for(use);
    }
  }

  Use& at(PhysPage page) {
    std::vector<Use>& frames = by_device_[page.device().value];
    const std::uint64_t index = page.frame() >> shift_;
    if (index >= frames.size()) [[unlikely]] {
      grow(frames, index);
    }
    return frames[index];
  }
  [[gnu::noinline]] static void grow(std::vector<Use>& frames, std::uint64_t index) {
    frames.resize(index + index / 2 + 64);
  }
  PhysPage whole(PhysPage page) const { return PhysPage{page.device(), page.frame() >> shift_ << shift_}; }

  std::vector<std::vector<Use>> by_device_;
  unsigned shift_;
  std::uint32_t threshold_;
  CountAt count_at_;
  unsigned region_shift_;  ///< pages of a counter's region; 0: one
  boost::unordered_flat_map<std::uint64_t, Region> regions_;
  DrainListener* listener_ = nullptr;
};

}  // namespace nearfar
