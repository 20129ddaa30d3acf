// The memory of a device: channels, banks and row buffers behind the device's cache, or a fixed latency.
// It stands at the end of the path of an access: the L2 cache misses, the DRAM answers.
#pragma once

#include <cstdint>
#include <memory>

#include "memory/dram/dram_spec.h"
#include "memory/dram/dram_timeline.h"
#include "sim/partition.h"
#include "stats/stat.h"

namespace nearfar {

struct DramStats {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t row_hits = 0;
  std::uint64_t row_closed = 0;
  std::uint64_t row_conflicts = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;
  std::uint64_t read_wait_cycles = 0;
  std::uint64_t read_service_cycles = 0;
  std::uint64_t bus_busy_cycles = 0;
  std::uint64_t write_drains = 0;
  std::uint64_t refreshes = 0;

  void describe(StatVisitor& visitor);
};

/// Told when room appears for writes that were refused.
class DramClient {
 public:
  virtual ~DramClient() = default;
  virtual void dram_has_room() = 0;
};

class Dram {
 public:
  virtual ~Dram() = default;

  /// Reads a line; `event` fires at `done`, `pipeline` cycles after the line is complete (what the caller's own
  /// pipeline adds: all reads pass through it alike, so it may stand behind the memory as well as before it).
  virtual void read(PhysLine line, Event* event, HandlerId done, Cycle pipeline) = 0;
  /// Books the read of a line where it is known at once when that will be complete, and answers with that cycle; kNever
  /// where it is not, and read() has to be called.
  virtual Cycle book_read(PhysLine line) = 0;

  /// Whether the channel of `line` takes a write now. A refusal is remembered: the client is told when there is room.
  virtual bool can_write(PhysLine line) = 0;
  /// Writes a line. Accepted even where can_write refuses, for victims of fills, whose number the MSHRs bound.
  virtual void write(PhysLine line) = 0;

  /// Requests taken and not yet served (for conservation checks and the watchdog).
  virtual std::uint64_t pending() const = 0;
  /// Collects what is kept elsewhere while running.
  virtual const DramStats& stats() = 0;
  /// From now on says what it reads and writes.
  void record(DramTimeline* timeline) { timeline_ = timeline; }

 protected:
  DramTimeline* timeline_ = nullptr;
};

std::unique_ptr<Dram> make_dram(Partition& partition, const DramSpec& spec, std::uint64_t line_bytes,
                                std::uint64_t clock_hertz, DramClient& client);

}  // namespace nearfar
