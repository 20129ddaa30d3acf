// The seam "walk order": which of the requests that wait a free walker takes, and whom else a page-table line serves
// that has come for one of them. The baseline's answer is the absence of an order: first come, first served, and a line
// serves the walk that read it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "translation/walk/walk.h"

namespace nearfar {

class WalkOrder {
 public:
  /// A request and the walker that takes it; no request: the free walkers stay idle.
  struct Choice {
    Walk* walk = nullptr;
    std::uint16_t walker = 0;
  };

  virtual ~WalkOrder() = default;

  /// Requests that wait for a place in the queue do so in lanes: one that finds no room holds up its own lane alone.
  virtual std::uint32_t lanes() const { return 1; }
  virtual std::uint32_t lane(const Walk&) const { return 0; }
  /// Whether a request may have a place in the queue, which is not full.
  virtual bool has_room(const Walk&) const { return true; }
  /// A request has entered the queue, behind all others.
  virtual void entered(Walk& walk) = 0;
  /// A request has been taken back from the queue.
  virtual void withdrawn(Walk& walk) = 0;
  /// Chooses among the queued requests that may start (WalkUnit::may_start). `free` has the numbers of the free
  /// walkers, lowest first; it is not empty, and neither is the queue. The request chosen leaves the queue.
  virtual Choice choose(std::span<const std::uint16_t> free) = 0;
  /// The request chosen is with its walker and begins at `walk.level`.
  virtual void started(const Walk&) {}
  /// The line with the entry of `level` has come for a walk, which goes on at `walk.level`, or ends. Queued requests
  /// whose own walk ends with this line too are put into `served`, in order of arrival, and leave the queue; for others
  /// the order may lower `known`.
  virtual void line_arrived(const Walk& /*walk*/, unsigned /*level*/, bool /*ends*/, std::vector<Walk*>& /*served*/) {}
  /// What has been read of these pages' entries is void (WalkUnit::table_changed); `known` of queued requests is reset.
  virtual void table_changed(const PageRange& /*range*/) {}
  /// Choices are made when everything else of a cycle has happened, so that lines come before requests, not at once.
  virtual bool chooses_late() const { return false; }
};

}  // namespace nearfar
