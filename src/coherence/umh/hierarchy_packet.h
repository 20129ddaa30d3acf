// A message about a block of a unified memory hierarchy on its way over the links.
#pragma once

#include <cstdint>
#include <memory>

#include "coherence/nmoesi/message.h"
#include "memory/packet.h"

namespace nearfar {

/// What it brings is the receiver's from the moment it arrives.
struct HierarchyPacket : Packet {
  nmoesi::Block block = 0;
  nmoesi::LineBytesList* bytes = nullptr;  ///< where data is followed
  nmoesi::Agent from = 0;
  nmoesi::Agent to = 0;
  nmoesi::Agent requester = 0;
  std::uint16_t changed = 0;
  nmoesi::Kind kind = nmoesi::Kind::Read;
  nmoesi::State state = nmoesi::State::I;
  nmoesi::Ack ack = nmoesi::Ack::Keep;
  bool sent = false;

  void put(nmoesi::Message&& message) {
    block = message.block;
    bytes = message.bytes.release();
    from = message.from;
    to = message.to;
    requester = message.requester;
    changed = message.changed;
    kind = message.kind;
    state = message.state;
    ack = message.ack;
    sent = message.sent;
  }
  nmoesi::Message take() {
    nmoesi::Message message;
    message.block = block;
    message.bytes.reset(bytes);
    message.from = from;
    message.to = to;
    message.requester = requester;
    message.changed = changed;
    message.kind = kind;
    message.state = state;
    message.ack = ack;
    message.sent = sent;
    return message;
  }
};
static_assert(EventType<HierarchyPacket>);

}  // namespace nearfar
