// What the lines of an L2 (or of the host's last-level cache) do, for its device's timeline: lookups, misses until
// their fill, what merges and what stalls; and, as instants, lines that come and leave.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "memory/dram/dram_timeline.h"
#include "memory/line_request.h"
#include "memory/request_timeline.h"
#include "sim/partition.h"
#include "sim/timeline.h"

namespace nearfar {

class L2Timeline {
 public:
  /// `requests` hears of stores that have been ordered here, `memory` how late a miss reaches it; both may be null.
  L2Timeline(Partition& partition, Timeline& timeline, RequestTimeline* requests, DramTimeline* memory)
      : partition_(partition),
        timeline_(timeline),
        requests_(requests),
        memory_(memory),
        on_(timeline.wants(TimelineSubject::Data)) {}

  /// A request has looked its line up from `start` on and is served at `end`. It came when its present stage began:
  /// what lies between is a stall.
  void served(unsigned bank, const LineRequest& request, const char* name, Cycle start, Cycle end);
  /// It waits for the line, by the name of its fill.
  void waits(unsigned bank, const LineRequest& request, const char* name, Cycle start, std::uint8_t fill);
  /// The line has come. One that is poisoned is not kept.
  void filled(unsigned bank, PhysLine line, std::uint8_t fill, bool poisoned);
  /// Memory is asked next, by a request that reaches it `delay` cycles from now.
  void ask_memory(Cycle delay) {
    if (memory_ != nullptr) memory_->delay_next(delay);
  }
  void stores_ordered(const LineRequest& request, std::uint64_t lines) {
    if (requests_ != nullptr) requests_->ordered(request.unit, request.line.page(), lines);
  }

  // Lines that leave, one or several of a page.
  void evicted(PhysLine line, bool dirty) { instant(dirty ? "dirty eviction" : "eviction", line); }
  void written_back(PhysLine line) { instant("write-back", line); }
  void dropped(PhysLine line) { instant("copy dropped", line); }
  /// Their home `from` has sent an invalidation of these lines.
  void invalidated(PhysPage page, std::uint64_t lines, DeviceId from) { instant("invalidation", page, lines, from); }
  /// The directory of this device gives up the entry of these lines.
  void directory_evicted(PhysPage page, std::uint64_t lines) {
    instant("directory eviction", page, lines, partition_.device());
  }
  /// Anything else of this sort; `name` is a literal.
  void instant(const char* name, PhysPage page, std::uint64_t lines, DeviceId from) {
    note_instant(name, timeline_.lines_of(page, lines), from);
  }

 private:
  struct Lookup {
    const char* name = nullptr;
    Cycle start = 0;
    std::uint16_t requester = 0;
    TimelineLines line;  ///< as its address was then
  };

  static std::uint64_t key(PhysLine line, std::uint8_t fill) { return line.value << 1 | fill; }
  void instant(const char* name, PhysLine line) {
    instant(name, line.page(), std::uint64_t{1} << line.index(), partition_.device());
  }
  bool begin(unsigned bank, const LineRequest& request, Lookup& lookup);
  void note_span(unsigned bank, const Lookup& lookup, Cycle end);
  void note_instant(const char* name, const TimelineLines& lines, DeviceId from);

  Partition& partition_;
  Timeline& timeline_;
  RequestTimeline* requests_;
  DramTimeline* memory_;
  bool on_;  ///< else it only passes on what the others have to know
  std::unordered_map<std::uint64_t, std::vector<Lookup>> waiting_;  ///< by line and the name of its fill
};

}  // namespace nearfar
