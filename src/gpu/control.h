// What the host and the GPUs tell one another about launches, as control messages over the links.
#pragma once

#include <cstdint>

#include "interconnect/network_interface.h"
#include "memory/packet.h"
#include "sim/partition.h"

namespace nearfar {

enum class ControlKind : std::uint32_t {
  Launch,      ///< host → GPU: run your share of launch `value`
  Groups,      ///< host → GPU, greedy: run `count` workgroups from number `value` on
  NoMore,      ///< host → GPU, greedy: no workgroups will follow
  Stop,        ///< host → GPU: start no more workgroups (all first executions have ended)
  GroupsDone,  ///< GPU → host, greedy: `value` workgroups have ended
  LaunchDone,  ///< GPU → host: the share is done, its stores are ordered; instructions in `value`, accesses in
               ///< `count`, low bits of the cycle at which its last workgroup ended in `ended`
  Release,     ///< host → GPU: all shares are done; dirty lines go to memory, and invalidations must have arrived; in
               ///< a unified memory hierarchy `value` says who is to see what was stored
  Released,    ///< GPU → host: they have; lines that went to memory in `value`
  Settle,      ///< host → GPU: copies have overwritten lines; invalidations must have arrived
  Settled,     ///< GPU → host: they have
};

/// Release, in a unified memory hierarchy.
inline constexpr std::uint64_t kReleaseToAll = 0;    ///< the other GPUs
inline constexpr std::uint64_t kReleaseToHost = 1;   ///< the host: all that has changed goes there
inline constexpr std::uint64_t kReleaseNothing = 2;  ///< nobody yet

struct Control {
  ControlKind kind = ControlKind::Launch;
  std::uint64_t value = 0;
  std::uint64_t count = 0;
  std::uint8_t application = 0;
  bool last_of_first = false;  ///< Launch: the last launch of an application's first execution
  std::uint32_t ended = 0;
};

struct ControlMessage : Packet {
  Control control;
};
static_assert(EventType<ControlMessage>);

inline void send_control(Partition& partition, NetworkInterface& network, DeviceId to, const Control& control) {
  auto* message = partition.pool().allocate<ControlMessage>();
  message->control = control;
  message->destination = to.value;
  network.send_control(message);
}

}  // namespace nearfar
