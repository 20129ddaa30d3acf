// A far fault at the host, from its arrival to its answer.
#pragma once

#include <cstdint>

#include "sim/fifo.h"
#include "sim/timeline.h"
#include "sim/types.h"
#include "translation/miss.h"
#include "translation/page.h"

namespace nearfar {

struct Fault {
  Fault* next = nullptr;  ///< in a queue, or in the free list
  PageKey page;
  DeviceId gpu{};
  bool write = false;
  Cycle stamp = 0;              ///< up to here its time has been put to a part
  std::uint32_t accounted = 0;  ///< cycles since it left its GPU that have been
};

/// Notes a part of a fault's time under the GPU that waits for it.
inline void note_part(Timeline* timeline, const Fault& fault, MissPart part, Cycle until) {
  if (timeline == nullptr || until == fault.stamp) return;
  timeline->note(
      {TimelineEvent::Kind::Request, fault.gpu.value, 0, name_of(part), fault.stamp, until, fault.page.value, 0},
      fault.page.number());
}

using FaultQueue = Fifo<Fault>;

}  // namespace nearfar
