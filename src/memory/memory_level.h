// The seam "memory level": what answers the L1s of a GPU where that is not the L2 cache over memory of its own and the
// remote homes of lines; and its counterpart in the host.
#pragma once

#include <cstdint>
#include <functional>

#include "memory/lower_level.h"
#include "memory/packet.h"
#include "memory/request_timeline.h"
#include "program/scope.h"

namespace nearfar {

/// Lines come back by L2Client::lines_served() and stores_ordered().
class MemoryLevel : public LowerLevel {
 public:
  /// A message of this level in another device.
  virtual void on_message(Packet* packet) = 0;
  /// All workgroups of a launch have ended, on every GPU: others are to see what this GPU has stored; or, if `flush`,
  /// all of it goes to the host. L2Client::flushed() follows.
  virtual void start_boundary(bool flush) = 0;
  /// Whether a fence of this scope orders stores: others in it see what has been performed before. Where
  /// non-coherent stores stay in a cache until a kernel ends, wider fences do not.
  virtual bool orders(Scope scope) const = 0;
  /// Lines that boundaries have written back so far.
  virtual std::uint64_t flushed_lines() const = 0;
  /// Bytes of changed blocks that flushes have sent to the host so far.
  virtual std::uint64_t flushed_home_bytes() const = 0;
  /// Stores that have been performed are noted for a timeline.
  virtual void record(RequestTimeline* timeline) = 0;
};

class HostMemoryLevel {
 public:
  virtual ~HostMemoryLevel() = default;
  virtual void on_message(Packet* packet) = 0;
  /// Every GPU has passed the boundary of a launch: settles what only the host can, and calls `done`.
  virtual void finish_boundary(std::function<void()> done) = 0;
  /// Bytes of lines that GPUs had changed and that came home because the host's core asked for them.
  virtual std::uint64_t synchronized_bytes() const = 0;
};

}  // namespace nearfar
