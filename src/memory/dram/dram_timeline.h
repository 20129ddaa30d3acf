// Reads and writes of a device's memory for its timeline, by channel: a read from when it reaches the controller until
// its data is complete, a write, for which nobody waits, while it has the channel's bus.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>

#include "sim/event.h"
#include "sim/partition.h"
#include "sim/timeline.h"

namespace nearfar {

class DramTimeline {
 public:
  DramTimeline(Partition& partition, Timeline& timeline) : partition_(partition), timeline_(timeline) {}

  /// The next read comes out of a pipeline that takes so long from now; the model adds that time behind the memory.
  void delay_next(Cycle cycles) { delay_ = cycles; }

  /// A read that reaches memory now, or later by what delay_next() said, and takes until `complete`, later by as much.
  void read(std::uint32_t channel, PhysLine line, Cycle complete, const char* name = "read") {
    const Cycle delay = std::exchange(delay_, 0);
    note(channel, line, name, partition_.now() + delay, complete + delay);
  }
  /// The same where it is not known yet when it will be complete: then `read_ends` follows.
  void read_begins(const Event* read, PhysLine line, Cycle pipeline);
  void read_ends(const Event* read, std::uint32_t channel, Cycle complete, const char* name);
  /// A write that is transferred from `start` to `end`.
  void write(std::uint32_t channel, PhysLine line, Cycle start, Cycle end, const char* name = "write") {
    note(channel, line, name, start, end);
  }

 private:
  struct Read {
    PhysLine line;
    Cycle start = 0;
    Cycle delay = 0;
  };

  void note(std::uint32_t channel, PhysLine line, const char* name, Cycle start, Cycle end);

  Partition& partition_;
  Timeline& timeline_;
  Cycle delay_ = 0;
  std::unordered_map<const Event*, Read> reads_;  ///< that are not committed yet
};

}  // namespace nearfar
