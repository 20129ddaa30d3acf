// The engine: runs the partitions in conservative windows, on one thread or several, to the same last bit.
//
// A message sent in a window arrives after it, because no link is faster than the window is long. So within a window
// the partitions need nothing of one another; between windows their mail is handed over. What a partition does then
// depends on the mail alone, never on which thread ran it when.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "sim/partition.h"
#include "sim/types.h"

namespace nearfar {

class Engine {
 public:
  struct Options {
    Cycle window = 1;  ///< at most the smallest latency of any message
    unsigned threads = 1;
    Cycle watchdog = kNever;  ///< cycles without progress after which the run is given up
    /// Called about five times a second from the first thread, with all that was done before this window.
    std::function<void(const Partition::Progress&, Cycle now)> on_progress;
    /// Called every few windows, when no partition runs and all have come equally far.
    std::function<void()> between_windows;
  };

  enum class Outcome : std::uint8_t { Drained, NoProgress };

  explicit Engine(std::size_t partitions);

  Partition& partition(std::size_t i) { return *partitions_[i]; }
  std::size_t size() const { return partitions_.size(); }

  /// Runs until no event and no message is left, or the watchdog barks. Exceptions of handlers come out here.
  Outcome run(const Options& options);

  std::uint64_t events() const;
  std::uint64_t windows() const { return windows_; }

 private:
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::uint64_t windows_ = 0;
};

}  // namespace nearfar
