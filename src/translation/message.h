// What the devices tell one another about translation, as messages over the links.
#pragma once

#include <cstdint>

#include "interconnect/network_interface.h"
#include "memory/packet.h"
#include "sim/partition.h"
#include "translation/message_kind.h"
#include "translation/page.h"

namespace nearfar {

/// A message on its way, or one that waits: what Message has, in the bytes behind a packet's header.
struct TranslationPacket : Packet {
  PageKey page;
  std::uint64_t frame : 48 = 0;  ///< of the mapping: a frame and its device take no more
  std::uint64_t extra : 16 = 0;
  std::uint32_t stamp = 0;
  std::uint32_t accounted = 0;
  Epoch epoch = 0;  ///< of the mapping
  std::uint16_t number = 0;
  std::uint16_t to = 0;
  MessageKind kind = MessageKind::Fault;
  bool writable : 1 = false;  ///< the mapping is
  bool write : 1 = false;
  bool tells_done : 1 = false;
  bool faulted : 1 = false;
  bool held : 1 = false;
  bool unmeasured : 1 = false;
  bool prefetch : 1 = false;
  bool brings_page : 1 = false;

  void set_frame(PhysPage mapped) { frame = mapped.value & 0xffff'ffff'ffffU; }
};
static_assert(EventType<TranslationPacket> && sizeof(TranslationPacket) == sizeof(Packet) + 32);

using TranslationPacketQueue = Fifo<TranslationPacket>;

struct Message {
  MessageKind kind = MessageKind::Fault;
  PageKey page;
  Mapping mapping;
  bool write = false;           ///< Fault: a store asks; Transfer: the page moves, it is not copied
  bool tells_done = false;      ///< Map, Transfer, Data: the host waits for Done
  bool faulted = false;         ///< Transfer, Data: a fault waits for it; AtsResponse: there is no mapping
  bool held = false;            ///< Acknowledge: the L2 TLB held it; a design's messages: their own flag
  bool unmeasured = false;      ///< AtsRequest: the IOMMU puts no time to components (Miss::unmeasured)
  bool prefetch = false;        ///< AtsRequest: the IOMMU drops it where it has no room
  bool brings_page = false;     ///< Map: the page's contents have come with it, in no time (ideal migration)
  DeviceId from{};              ///< set by the sender
  DeviceId to{};                ///< Transfer: the new owner; a design's messages: their own
  std::uint16_t number = 0;     ///< Fault and its answers: which of its GPU's faults
  std::uint16_t extra = 0;      ///< Transfer, Data: as Map's `stamp`; a design's messages: their own data
  std::uint32_t stamp = 0;      ///< requests: low bits of the cycle in which it left; Transfer, Data: the old frame;
                                ///< Map: `accounted` when another device was asked too; a design's: their own data
  std::uint32_t accounted = 0;  ///< answers to a fault: cycles since it left that the host has put to a component;
                                ///< a design's messages: their own data

  /// Cycles of `accounted` that another answer to the same fault, from another device, has too.
  std::uint32_t shared() const { return kind == MessageKind::Map ? stamp : extra; }

  static Message get(const TranslationPacket& packet);
  void put(TranslationPacket& packet) const;
};

inline void Message::put(TranslationPacket& packet) const {
  packet.traffic_class = is_response(kind) ? TrafficClass::Response : TrafficClass::Uncredited;
  packet.origin = from.value;
  packet.page = page;
  packet.set_frame(mapping.page);
  packet.extra = extra;
  packet.stamp = stamp;
  packet.accounted = accounted;
  packet.epoch = mapping.epoch;
  packet.number = number;
  packet.to = to.value;
  packet.kind = kind;
  packet.writable = mapping.writable;
  packet.write = write;
  packet.tells_done = tells_done;
  packet.faulted = faulted;
  packet.held = held;
  packet.unmeasured = unmeasured;
  packet.prefetch = prefetch;
  packet.brings_page = brings_page;
}

inline Message Message::get(const TranslationPacket& packet) {
  Message m;
  m.kind = packet.kind;
  m.page = packet.page;
  m.mapping = {PhysPage{packet.frame}, packet.writable, packet.epoch};
  m.write = packet.write;
  m.tells_done = packet.tells_done;
  m.faulted = packet.faulted;
  m.held = packet.held;
  m.unmeasured = packet.unmeasured;
  m.prefetch = packet.prefetch;
  m.brings_page = packet.brings_page;
  m.from = DeviceId{packet.origin};
  m.to = DeviceId{packet.to};
  m.number = packet.number;
  m.extra = packet.extra;
  m.stamp = packet.stamp;
  m.accounted = packet.accounted;
  return m;
}

/// How soon a page that cannot leave its memory yet is looked at again.
inline constexpr Cycle kTransferRetry = 16;

/// How a part of the translation stack reaches the other devices.
class Messenger {
 public:
  virtual ~Messenger() = default;
  /// Sends a message of the configured size, or a page.
  virtual void send(DeviceId to, const Message& message) = 0;
};

/// Puts a message on the links: of the configured size, or a page with its mapping, as so many 4 KiB pieces; none where
/// pages take a fixed time.
void send_translation_message(Partition& partition, NetworkInterface& network, std::uint64_t message_bytes,
                              std::uint64_t pieces, DeviceId to, const Message& message);

}  // namespace nearfar
