// The engine: runs the partitions in conservative windows, on one thread or several, to the same last bit.
//
// A message sent in a window arrives after it, because no link is faster than the window is long. So within a window
// the partitions need nothing of one another; between windows their mail is handed over. What a partition does then
// depends on the mail alone, never on which thread ran it when.
//
// The thread that calls run() leads. A window with few events it runs alone, while the others sleep; to one that is
// worth it it calls them. Whoever has time takes the next partition, so a thread that the host has no core for holds
// nothing up unless it was stopped within a partition; where that happens the leader goes on alone for a while.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/partition.h"
#include "sim/types.h"
#include "sim/watched.h"

namespace nearfar {

class Engine {
 public:
  struct Options {
    Cycle window = 1;  ///< at most the smallest latency of any message
    unsigned threads = 1;
    Cycle watchdog = kNever;  ///< cycles without progress, and without computation, after which a run is given up
    Cycle oldest = kNever;    ///< the same for a request that waits, whatever progress there is elsewhere
    /// Events of a window from which on it is shared among the threads: fewer take less time than calling them does.
    std::uint64_t share_from = 128;
    /// Called about five times a second from the first thread, with all that was done before this window.
    std::function<void(const Partition::Progress&, Cycle now)> on_progress;
    /// Called every few windows, when no partition runs and all have come equally far.
    std::function<void()> between_windows;
  };

  enum class Outcome : std::uint8_t { Drained, NoProgress, Starved };

  explicit Engine(std::size_t partitions);

  Partition& partition(std::size_t i) { return *partitions_[i]; }
  std::size_t size() const { return partitions_.size(); }
  /// Sets the device of a partition, which is asked whether it is stuck by the thread that runs the partition.
  void watch(std::size_t i, Watched& device) { watched_[i] = &device; }

  /// Runs until no event and no message is left, or the run is given up. Exceptions of handlers come out here.
  Outcome run(const Options& options);

  std::uint64_t events() const;
  std::uint64_t windows() const { return windows_; }
  /// Windows to which the leading thread called the others.
  std::uint64_t shared_windows() const { return shared_windows_; }

 private:
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::vector<Watched*> watched_;  ///< by partition; may be null
  std::uint64_t windows_ = 0;
  std::uint64_t shared_windows_ = 0;
};

}  // namespace nearfar
