// The life of a GPU's own accesses for its timeline: page groups of loads, stores and atomics from their issue in a
// compute unit until they are complete, and the misses of the L1 caches.
//
// A page group is the lines of one 4 KiB page that an instruction touches. A load or an atomic is complete when all its
// lines are there, a store when all its lines have been ordered at their homes.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "memory/line_request.h"
#include "memory/memory_model.h"
#include "sim/partition.h"
#include "sim/timeline.h"

namespace nearfar {

class RequestTimeline {
 public:
  /// Who issued a page group: a wavefront's slot in a compute unit, and one of its load slots.
  struct Issuer {
    std::uint16_t unit = 0;
    std::uint8_t slot = 0;
    std::uint8_t load = 0;
  };

  RequestTimeline(Partition& partition, Timeline& timeline)
      : partition_(partition), timeline_(timeline), on_(timeline.wants(TimelineSubject::Data)) {}

  /// An instruction of kind Read, Write or Atomic touches these lines of a page of `process`.
  void issue(Issuer who, RequestKind kind, std::uint8_t process, VirtPage page, std::uint64_t lines);
  /// A page that is used lies in this frame.
  void translated(PhysPage frame, std::uint64_t page_and_process) { timeline_.frame_holds(frame, page_and_process); }

  /// Loads and atomics: `lines` of a page group have been looked up in the L1. Those of `missing` are to come, the
  /// others are there in cycle `ready`.
  void looked_up(Issuer who, VirtPage page, PhysPage frame, std::uint64_t lines, std::uint64_t missing, Cycle ready);
  /// Lines of a frame have come for a load or an atomic.
  void arrived(Issuer who, PhysPage frame, std::uint64_t lines);

  /// Stores: `lines` of a page group have left the compute unit.
  void sent(Issuer who, VirtPage page, std::uint64_t lines);
  /// Stores of a compute unit to lines of a frame have been ordered at their homes.
  void ordered(unsigned unit, PhysPage frame, std::uint64_t lines);

  /// An L1 asks for lines, by a load or an atomic; they come.
  void missed(LoadUnit unit, RequestKind kind, PhysPage frame, std::uint64_t lines);
  void filled(LoadUnit unit, PhysPage frame, std::uint64_t lines);

 private:
  struct Group {
    Issuer who;
    RequestKind kind = RequestKind::Read;
    TimelineLines lines;
    PhysPage frame;           ///< loads and atomics, once they have been looked up
    std::uint64_t to_do = 0;  ///< not looked up, or not sent
    std::uint64_t left = 0;   ///< not complete
    Cycle start = 0;
    Cycle ready = 0;
  };
  struct Miss {
    RequestKind kind = RequestKind::Read;
    TimelineLines lines;
    std::uint64_t left = 0;
    Cycle start = 0;
  };

  static std::uint64_t load_key(Issuer who) {
    return std::uint64_t{who.unit} << 16 | std::uint64_t{who.slot} << 8 | who.load;
  }
  static std::uint64_t store_key(unsigned unit, VirtPage page) { return page.value << 16 | unit; }
  static std::uint64_t miss_key(LoadUnit unit, PhysPage frame) { return frame.value << 16 | (unit.value & 0xffff); }
  void complete(const Group& group);

  Partition& partition_;
  Timeline& timeline_;
  bool on_;                                                       ///< else it only learns where pages are
  std::unordered_map<std::uint64_t, std::vector<Group>> loads_;   ///< by issuer
  std::unordered_map<std::uint64_t, std::vector<Group>> stores_;  ///< by compute unit and page, in order of issue
  std::unordered_map<std::uint64_t, std::vector<Miss>> misses_;   ///< by L1 and frame
};

}  // namespace nearfar
