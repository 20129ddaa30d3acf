// How the host's core reaches one line of a program's data. Which way that is depends on the machine: host_agent.h
// streams through whatever port it is given.
#pragma once

#include <cstdint>

#include "memory/memory_model.h"
#include "sim/event.h"
#include "sim/partition.h"
#include "sim/types.h"

namespace nearfar {

/// The host reads a line, or writes all of it.
struct HostLineAccess {
  PhysLine line;
  Location page;  ///< line 0 of its page, as programs know it
  std::uint8_t application = 0;
  bool writes = false;
};

class HostLinePort {
 public:
  virtual ~HostLinePort() = default;

  /// Starts an access. `event` fires at `done` when the line has come, or its home has ordered the write; accesses may
  /// end in another order than that in which they were started.
  virtual void access(const HostLineAccess& access, Event* event, HandlerId done) = 0;

  virtual bool idle() const = 0;
};

}  // namespace nearfar
