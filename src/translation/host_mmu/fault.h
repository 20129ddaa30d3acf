// A far fault at the host, from its arrival to its answer.
#pragma once

#include <cstdint>

#include "sim/fifo.h"
#include "sim/types.h"
#include "translation/miss.h"
#include "translation/page.h"

namespace nearfar {

struct Fault {
  Fault* next = nullptr;  ///< in a queue, or in the free list
  PageKey page;
  DeviceId gpu{};
  bool write = false;
  std::uint16_t number = 0;  ///< its name in its GPU
  TimeAccount time;          ///< since it left its GPU
  Walk* walk = nullptr;      ///< the walk it waits for
  Cycle handed_over = 0;     ///< when the driver had it

  // A fault whose translation is also asked for elsewhere (Forwarder).
  bool answered = false;  ///< its GPU has been sent a mapping of `epoch` from there
  Epoch epoch = 0;
  std::uint64_t shared = 0;       ///< of its cycles in components: what that answer has too
  std::uint32_t design_data = 0;  ///< the forwarder's own; 0: it has none
};

using FaultQueue = Fifo<Fault>;

}  // namespace nearfar
