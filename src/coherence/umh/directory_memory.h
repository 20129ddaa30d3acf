// The memory behind a directory, as time: a stacked DRAM that closes the row it finds at every access, or a module of
// the host's memory. Banks are busy from the start of an access to its end; all share one data bus, which a bank takes
// when its row is open.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "coherence/umh/shared_bus.h"
#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

struct DirectoryMemoryStats {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t busy_cycles = 0;
};

class DirectoryMemory {
 public:
  /// Without banks only the bus bounds it.
  DirectoryMemory(std::uint64_t bytes_per_second, std::uint64_t clock_hertz, Cycle latency, unsigned banks,
                  std::uint64_t row_bytes)
      : bus_(bytes_per_second, clock_hertz), latency_(latency), row_bytes_(row_bytes), bank_free_(banks, 0) {}

  /// The cycle in which an access that is asked for now is complete.
  Cycle read(Cycle now, std::uint64_t address, std::uint64_t bytes) {
    ++stats_.reads;
    stats_.read_bytes += bytes;
    return pass(now, address, bytes);
  }
  void write(Cycle now, std::uint64_t address, std::uint64_t bytes) {
    ++stats_.writes;
    stats_.write_bytes += bytes;
    pass(now, address, bytes);
  }
  const DirectoryMemoryStats& stats() {
    stats_.busy_cycles = bus_.busy_cycles();
    return stats_;
  }

 private:
  Cycle pass(Cycle now, std::uint64_t address, std::uint64_t bytes) {
    if (bank_free_.empty()) return bus_.pass(now, now + latency_, bytes);
    Cycle& free = bank_free_[address / row_bytes_ % bank_free_.size()];
    free = bus_.pass(now, std::max(now, free) + latency_, bytes);
    return free;
  }

  SharedBus bus_;
  Cycle latency_;
  std::uint64_t row_bytes_;
  std::vector<Cycle> bank_free_;
  DirectoryMemoryStats stats_;
};

}  // namespace nearfar
