// The reorder buffer of a compute unit (gpu.cu.reorder_buffer): how many lines its vector memory instructions may have
// under way, and the order in which they end. An instruction takes a place for each of its lines when it enters the
// load/store unit, and leaves when it and all older ones are done; only then does its wavefront have its data. Of
// stores it is known how many have been ordered, not which: the oldest count as ordered first.
#pragma once

#include <algorithm>
#include <cstdint>

#include "gpu/wavefront.h"
#include "sim/ring.h"
#include "sim/types.h"

namespace nearfar {

class ReorderBuffer {
 public:
  /// 0: there is none.
  explicit ReorderBuffer(std::uint32_t lines) : limit_(lines) {}

  bool exists() const { return limit_ != 0; }
  bool empty() const { return entries_.empty(); }
  /// An instruction of more lines than there are places enters when it is alone.
  bool has_room(std::uint64_t lines) const { return entries_.empty() || used_ + lines <= limit_; }
  /// A load or atomic enters. It is done when nothing of its slot is left but its entry here, which counts as a line.
  void enter_load(Wavefront& wave, unsigned load, std::uint64_t lines) {
    ++wave.lines_left[load];
    enter({&wave, load, lines, 0});
  }
  void enter_store(std::uint64_t lines) {
    stores_entered_ += lines;
    enter({nullptr, 0, lines, stores_entered_});
  }
  void stores_ordered(std::uint64_t lines) { stores_ordered_ += lines; }

  /// The oldest instruction leaves, if it is done. `leave` is called with the wavefront and the slot of a load, and
  /// with the cycle before which its data is not there, since that of an older one is not.
  template <class Leave>
  bool retire(Cycle now, Leave leave) {
    if (entries_.empty()) return false;
    const Entry oldest = entries_.front();
    if (oldest.wave == nullptr ? stores_ordered_ < oldest.stores : oldest.wave->lines_left[oldest.load] != 1) {
      return false;
    }
    entries_.pop();
    used_ -= oldest.lines;
    if (oldest.wave == nullptr) return true;
    oldest.wave->lines_left[oldest.load] = 0;
    const auto ahead = static_cast<std::int32_t>(oldest.wave->ready[oldest.load] - static_cast<std::uint32_t>(now));
    ready_ = std::max(ready_, now + static_cast<Cycle>(std::max(ahead, 0)));
    leave(*oldest.wave, oldest.load, ready_);
    return true;
  }

 private:
  struct Entry {
    Wavefront* wave = nullptr;  ///< none: a store
    unsigned load = 0;
    std::uint64_t lines = 0;
    std::uint64_t stores = 0;  ///< of a store: lines that have entered up to it
  };

  void enter(const Entry& entry) {
    entries_.push(entry);
    used_ += entry.lines;
  }

  std::uint32_t limit_;
  std::uint64_t used_ = 0;
  std::uint64_t stores_entered_ = 0;
  std::uint64_t stores_ordered_ = 0;
  Cycle ready_ = 0;  ///< when the data of all that have left is there
  Ring<Entry> entries_;
};

}  // namespace nearfar
