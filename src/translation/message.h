// What the devices tell one another about translation, as messages over the links.
#pragma once

#include <cstdint>

#include "interconnect/network_interface.h"
#include "sim/partition.h"
#include "sim/transaction.h"
#include "translation/message_kind.h"
#include "translation/page.h"

namespace nearfar {

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

  static constexpr unsigned kExtraShift = 48;  ///< a page's device and frame take 40 bits

  static Message get(const Transaction& t);
  void put(Transaction& t) const;
};

inline void Message::put(Transaction& t) const {
  t.traffic_class = is_response(kind) ? TrafficClass::Response : TrafficClass::Uncredited;
  t.mask = page.value;
  t.line = PhysLine{mapping.page.value | std::uint64_t{extra} << kExtraShift};
  t.user = static_cast<std::uint32_t>(kind) | (write ? 1U << 8 : 0U) | (faulted ? 1U << 9 : 0U) |
           (held ? 1U << 10 : 0U) | (tells_done ? 1U << 12 : 0U) | (unmeasured ? 1U << 13 : 0U) |
           (brings_page ? 1U << 14 : 0U) | (prefetch ? 1U << 15 : 0U) | (mapping.writable ? 1U << 11 : 0U) |
           std::uint32_t{to.value} << 16;
  t.data_bytes = mapping.epoch;
  t.origin = from.value;
  t.cu = number;
  t.stage_start = stamp;
  t.accounted = accounted;
}

inline Message Message::get(const Transaction& t) {
  Message m;
  m.kind = static_cast<MessageKind>(t.user & 0xff);
  m.page = PageKey{t.mask};
  m.mapping = {PhysPage{t.line.value & ((std::uint64_t{1} << kExtraShift) - 1)}, (t.user >> 11 & 1) != 0, t.data_bytes};
  m.extra = static_cast<std::uint16_t>(t.line.value >> kExtraShift);
  m.number = t.cu;
  m.write = (t.user >> 8 & 1) != 0;
  m.faulted = (t.user >> 9 & 1) != 0;
  m.tells_done = (t.user >> 12 & 1) != 0;
  m.held = (t.user >> 10 & 1) != 0;
  m.unmeasured = (t.user >> 13 & 1) != 0;
  m.prefetch = (t.user >> 15 & 1) != 0;
  m.brings_page = (t.user >> 14 & 1) != 0;
  m.to = DeviceId{static_cast<std::uint16_t>(t.user >> 16)};
  m.from = DeviceId{t.origin};
  m.stamp = t.stage_start;
  m.accounted = t.accounted;
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

/// Puts a message on the links: of the configured size, a page with its mapping as so many bytes more.
void send_translation_message(Partition& partition, NetworkInterface& network, std::uint64_t message_bytes,
                              PageSize size, DeviceId to, const Message& message);

}  // namespace nearfar
