// A request to walk a page table, from its submission to the client's answer to its end.
#pragma once

#include <cstdint>

#include "sim/event.h"
#include "sim/types.h"
#include "translation/page.h"
#include "translation/walk/walk_kind.h"

namespace nearfar {

/// Where a request comes from, in the order in which a place in a full queue is given away: messages on the links' two
/// channels, the older first; then the device's own misses and what a design writes back, the older first too.
enum class WalkSource : std::uint8_t { Request, Response, Demand, Writeback };
inline constexpr std::size_t kWalkSources = 4;

struct Walk {
  Walk* next = nullptr;  ///< in the queue, or in the free list
  PageKey page;
  WalkKind kind = WalkKind::Demand;
  std::uint8_t level = 0;      ///< of the access under way
  std::uint8_t hit_level = 0;  ///< where the walk cache let it begin; 0: nowhere
  std::uint8_t known = 0;      ///< lowest level whose entry the walk order found while it waited; 0: none
  bool cut_short = false;      ///< an upper entry was invalid: there is no leaf
  bool ends_above = false;     ///< the leaf table lies elsewhere: its access is not made here
  bool begins_again = false;   ///< the table has changed under it
  Cycle since = 0;             ///< of a miss, when it was known: those without a place in the queue enter in this order
                               ///< (a write-back: when it was submitted)
  Cycle submitted = 0;
  Cycle queued = 0;  ///< when it had a place in the queue
  Cycle started = 0;
  Cycle looked_up = 0;       ///< the walk cache has answered
  Cycle at_leaf = 0;         ///< the leaf's access began
  std::uint16_t walker = 0;  ///< its number, where there is a walk order or a timeline
  void* owner = nullptr;
  void* fetched = nullptr;  ///< what the walk access keeps for it
  Mapping mapping;          ///< update: what to write
  std::uint64_t note = 0;

  bool writes() const { return traits_of(kind).writes; }
};

/// An access of a walk.
using WalkEvent = PointerEvent<Walk>;

}  // namespace nearfar
