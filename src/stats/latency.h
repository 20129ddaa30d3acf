// Where the time of a load goes: the stages between the load/store unit and the fill of the L1.
// Each device adds up the stages that happened in it; over the machine they sum to the total, to the last cycle.
#pragma once

#include <cstdint>

#include "stats/stat.h"

namespace nearfar {

struct LoadLatency {
  std::uint64_t count = 0;
  std::uint64_t total = 0;
  std::uint64_t l1 = 0;
  std::uint64_t request_link = 0;
  std::uint64_t home_wait = 0;
  std::uint64_t home = 0;
  std::uint64_t merge = 0;
  std::uint64_t dram = 0;
  std::uint64_t reply_link = 0;
  Histogram histogram;

  /// Adds the time that loads spent in the stages of `other`.
  void add_stages(const LoadLatency& other) {
    l1 += other.l1;
    request_link += other.request_link;
    home_wait += other.home_wait;
    home += other.home;
    merge += other.merge;
    dram += other.dram;
    reply_link += other.reply_link;
  }
  /// Adds whole loads.
  void add_loads(const LoadLatency& other) {
    add_stages(other);
    count += other.count;
    total += other.total;
    histogram.merge(other.histogram);
  }

  void describe(StatVisitor& visitor) {
    visitor.counter("count", "lines", "Lines of vector loads and atomics that missed the L1 and were asked for.",
                    count);
    visitor.counter("total_cycles", "cycles", "Time from the load/store unit to the fill of the L1, summed.", total);
    visitor.counter("l1_cycles", "cycles", "Part of it in translation, the L1's port and its lookup.", l1);
    visitor.counter("request_link_cycles", "cycles", "Part of it on the way to a remote home, queues included.",
                    request_link);
    visitor.counter("home_wait_cycles", "cycles", "Part of it waiting at the L2 cache's bank: port, queue, registers.",
                    home_wait);
    visitor.counter("home_cycles", "cycles", "Part of it in the L2 cache's tag and data lookup.", home);
    visitor.counter("merge_cycles", "cycles",
                    "Part of it waiting for a line that another request had asked memory for.", merge);
    visitor.counter("dram_cycles", "cycles", "Part of it in the home's DRAM, queues included.", dram);
    visitor.counter("reply_link_cycles", "cycles", "Part of it on the way back from a remote home, queues included.",
                    reply_link);
    visitor.histogram("histogram", "cycles", "Distribution of that time over powers of two.", histogram);
  }
};

}  // namespace nearfar
