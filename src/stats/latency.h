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
    visitor.counter("count", "lines",
                    "Lines of vector loads and atomics that missed the L1 and were requested from the L2.", count);
    visitor.counter(
        "total_cycles", "cycles",
        "Time of a line that missed the L1 from the load/store unit to the fill of the L1, summed over lines.", total);
    visitor.counter("l1_cycles", "cycles",
                    "Latency component of lines that missed the L1: time in translation, in the L1's port and in its "
                    "lookup, summed over lines.",
                    l1);
    visitor.counter("request_link_cycles", "cycles",
                    "Latency component of lines that missed the L1: time on the way to a remote home, queues included, "
                    "summed over lines.",
                    request_link);
    visitor.counter("home_wait_cycles", "cycles",
                    "Latency component of lines that missed the L1: time of waiting at the L2 bank of the home for its "
                    "port, queue and MSHRs, summed over lines.",
                    home_wait);
    visitor.counter("home_cycles", "cycles",
                    "Latency component of lines that missed the L1: time in the tag and data lookup of the home's L2, "
                    "summed over lines.",
                    home);
    visitor.counter("merge_cycles", "cycles",
                    "Latency component of lines that missed the L1: time of waiting for a line that another request "
                    "was already reading from memory, summed over lines.",
                    merge);
    visitor.counter("dram_cycles", "cycles",
                    "Latency component of lines that missed the L1: time in the DRAM of the home, queues included, "
                    "summed over lines.",
                    dram);
    visitor.counter("reply_link_cycles", "cycles",
                    "Latency component of lines that missed the L1: time on the way back from a remote home, queues "
                    "included, summed over lines.",
                    reply_link);
    visitor.histogram("histogram", "cycles",
                      "Time of a line that missed the L1 from the load/store unit to the fill of the L1.", histogram);
  }
};

}  // namespace nearfar
