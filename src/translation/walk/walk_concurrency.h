// How many page-table reads fall into lines that other walks need at the same time: what coalescing could save. An
// observer of a pool of walkers, for studies.
//
// A request is resident from its place in the queue to its end; two are concurrent if they are resident together. A
// leaf read counts if a concurrent request reads the same line; an upper read counts if one reads another entry of the
// line.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/types.h"
#include "stats/stat.h"
#include "translation/walk/walk.h"

namespace nearfar {

struct WalkConcurrencyStats {
  std::uint64_t leaf_reads = 0;
  std::uint64_t leaf = 0;
  std::uint64_t avoidable = 0;
  std::uint64_t upper_reads = 0;
  std::uint64_t upper = 0;
  std::array<std::uint64_t, 4> by_level{};  ///< upper reads that count, levels 2 to 5

  void describe(StatVisitor& visitor);
};

class WalkConcurrency {
 public:
  /// A request has its place in the queue.
  void entered(const Walk& walk);
  /// A request reads the line with its entry of a level, whose name is `entry`.
  void read(const Walk& walk, unsigned level, bool leaf, PhysLine line, std::uint64_t entry);
  void ended(const Walk& walk, Cycle now);

  WalkConcurrencyStats& stats() { return stats_; }
  /// Reads and requests it remembers.
  std::size_t remembered() const { return records_ + requests_.size(); }

 private:
  struct Request {
    Cycle entered = 0;
    Cycle ended = kNever;
  };
  struct Record {
    std::uint64_t request = 0;
    std::uint64_t entry = 0;
    bool counted = false;
  };

  const Request& request(std::uint64_t number) const { return requests_[number - first_]; }
  void count(Record& record, unsigned level, bool leaf);
  void forget_requests();
  void forget_records();

  boost::unordered_flat_map<const Walk*, std::uint64_t> resident_;         ///< their numbers
  std::deque<Request> requests_;                                           ///< in order of arrival
  std::uint64_t first_ = 0;                                                ///< number of the first of them
  std::uint64_t oldest_ = 0;                                               ///< of the oldest that is resident
  boost::unordered_flat_map<std::uint64_t, std::vector<Record>> by_line_;  ///< reads that can still count
  std::size_t records_ = 0;
  std::size_t sweep_at_ = 4096;
  WalkConcurrencyStats stats_;
};

}  // namespace nearfar
