// What the host and the GPUs tell one another about launches, as control messages over the links.
#pragma once

#include <cstdint>

#include "interconnect/network_interface.h"
#include "sim/partition.h"
#include "sim/transaction.h"

namespace nearfar {

enum class ControlKind : std::uint32_t {
  Launch,      ///< host → GPU: run your share of launch `value`
  Groups,      ///< host → GPU, greedy: run `count` workgroups from number `value` on
  NoMore,      ///< host → GPU, greedy: no workgroups will follow
  Stop,        ///< host → GPU: start no more workgroups (all first executions have ended)
  GroupsDone,  ///< GPU → host, greedy: `value` workgroups have ended
  LaunchDone,  ///< GPU → host: the share is done, its stores are ordered; instructions in `value`, accesses in `count`
  WriteBack,   ///< host → GPU: all shares are done; dirty lines go to memory
  WrittenBack,  ///< GPU → host: they have
  CopyRead,     ///< host → device: read a chunk of a copy and send it (copy_agent.h)
  CopyData,     ///< device → device: its data
  CopyDone,     ///< device → host: it has been written
};

struct Control {
  ControlKind kind = ControlKind::Launch;
  std::uint64_t value = 0;
  std::uint64_t count = 0;
  std::uint8_t application = 0;
  bool last_of_first = false;  ///< Launch: the last launch of an application's first execution
};

/// The message is about a chunk of a copy.
inline bool is_copy(const Transaction& t) { return static_cast<ControlKind>(t.user) >= ControlKind::CopyRead; }

inline void put(Transaction& t, const Control& control) {
  t.user = static_cast<std::uint32_t>(control.kind);
  t.mask = control.value;
  t.line = PhysLine{control.count};
  t.application = control.application;
  t.cu = control.last_of_first ? 1 : 0;
}

inline Control get(const Transaction& t) {
  return {static_cast<ControlKind>(t.user), t.mask, t.line.value, t.application, t.cu != 0};
}

inline void send_control(Partition& partition, NetworkInterface& network, DeviceId to, const Control& control,
                         std::uint64_t bytes) {
  Transaction* t = partition.pool().allocate();
  put(*t, control);
  t->requester = partition.device().value;
  t->destination = to.value;
  t->wire_bytes = static_cast<std::uint16_t>(bytes);
  network.send_control(t);
}

}  // namespace nearfar
