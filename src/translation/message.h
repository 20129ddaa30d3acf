// What the devices tell one another about translation, as messages over the links.
#pragma once

#include <cstdint>

#include "interconnect/network_interface.h"
#include "sim/partition.h"
#include "sim/transaction.h"
#include "translation/page.h"

namespace nearfar {

enum class MessageKind : std::uint8_t {
  AtsRequest,   ///< GPU → IOMMU: translate `page`
  AtsResponse,  ///< IOMMU → GPU: `mapping`, or, if `faulted`, that there is none
  Fault,        ///< GPU → host: no sufficient mapping of `page`
  Map,          ///< host → GPU: answer to a fault without a migration: `mapping`
  MoveRequest,  ///< GPU → host: the access counter of `page` has reached its threshold
  MoveRefused,  ///< host → GPU: the request was dropped
  Invalidate,   ///< host → GPU: forget `page`; `mapping.epoch` is the new one
  Downgrade,    ///< host → GPU: `page` becomes read-only
  Acknowledge,  ///< GPU → host: `page` is forgotten or read-only
  Transfer,     ///< host → GPU: send `page` to device `to`, which will map it at `mapping`
  Data,         ///< any → GPU or host: the page itself, with its new mapping
  Part,         ///< any → any: a piece of a large page, before its last
  Done,         ///< GPU → host: the page has come and is mapped
  Forward,      ///< host → GPU: look `page` up for GPU `to`, whose fault has the host's name `stamp`
  Direct,       ///< GPU → GPU: `mapping`, found for a fault of the receiver
  Notice,       ///< GPU → host: what became of a Forward: `held` if it was found
  TlbQuery,     ///< IOMMU or GPU → GPU: does your L2 TLB hold `page`? `stamp` names the question
  TlbReply,     ///< GPU → who asked: `held`, with `mapping`; `accounted` cycles went to the lookup
  TlbVictim,    ///< GPU → IOMMU: `page` has left the L2 TLB; `stamp` is what a design kept with it
  TlbSpill,     ///< IOMMU → GPU: keep `page` in the L2 TLB, with `stamp`
  SpillGone,    ///< GPU → IOMMU: a spilled `page` is no longer in the L2 TLB
};

/// Answers and data never wait behind requests.
constexpr bool is_response(MessageKind kind) {
  switch (kind) {
    case MessageKind::AtsRequest:
    case MessageKind::TlbQuery:
    case MessageKind::TlbVictim:
    case MessageKind::TlbSpill:
    case MessageKind::SpillGone:
    case MessageKind::Fault:
    case MessageKind::MoveRequest:
    case MessageKind::Invalidate:
    case MessageKind::Downgrade:
    case MessageKind::Forward:
    case MessageKind::Transfer: return false;
    default: return true;
  }
}

struct Message {
  MessageKind kind = MessageKind::Fault;
  PageKey page;
  Mapping mapping;
  bool write = false;           ///< Fault: a store asks; Transfer: the page moves, it is not copied
  bool tells_done = false;      ///< Map, Transfer, Data: the host waits for Done
  bool faulted = false;         ///< Transfer, Data: a fault waits for it; AtsResponse: there is no mapping
  bool held = false;            ///< Acknowledge, TlbReply: the L2 TLB held it; Notice: found; Forward, Direct: it is
                                ///< the answer
  bool raced = false;           ///< AtsRequest: others are asked too (Miss::raced)
  bool brings_page = false;     ///< Map: the page's contents have come with it, in no time (ideal migration)
  DeviceId from{};              ///< set by the sender
  DeviceId to{};                ///< Transfer: the new owner
  std::uint16_t number = 0;     ///< Fault and its answers: which of its GPU's faults
  std::uint16_t walk = 0;       ///< Direct, Notice: cycles in the walk; Transfer, Data: as Map's `stamp`
  std::uint32_t stamp = 0;      ///< requests: low bits of the cycle in which it left; Transfer, Data: the old frame;
                                ///< Direct, Notice: cycles in the queue; Map: `accounted` when a GPU was asked too
  std::uint32_t accounted = 0;  ///< answers to a fault: cycles since it left that the host has put to a component;
                                ///< Notice: the host's name of the fault

  /// Cycles of `accounted` that another answer to the same fault, from another GPU, has too.
  std::uint32_t shared() const { return kind == MessageKind::Map ? stamp : walk; }

  static constexpr unsigned kWalkShift = 48;  ///< a page's device and frame take 48 bits

  static Message get(const Transaction& t);
  void put(Transaction& t) const;
};

inline void Message::put(Transaction& t) const {
  t.traffic_class = is_response(kind) ? TrafficClass::Response : TrafficClass::Uncredited;
  t.mask = page.value;
  t.line = PhysLine{mapping.page.value | std::uint64_t{walk} << kWalkShift};
  t.user = static_cast<std::uint32_t>(kind) | (write ? 1U << 8 : 0U) | (faulted ? 1U << 9 : 0U) |
           (held ? 1U << 10 : 0U) | (tells_done ? 1U << 12 : 0U) | (raced ? 1U << 13 : 0U) |
           (brings_page ? 1U << 14 : 0U) | (mapping.writable ? 1U << 11 : 0U) | std::uint32_t{to.value} << 16;
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
  m.mapping = {PhysPage{t.line.value & ((std::uint64_t{1} << kWalkShift) - 1)}, (t.user >> 11 & 1) != 0, t.data_bytes};
  m.walk = static_cast<std::uint16_t>(t.line.value >> kWalkShift);
  m.number = t.cu;
  m.write = (t.user >> 8 & 1) != 0;
  m.faulted = (t.user >> 9 & 1) != 0;
  m.tells_done = (t.user >> 12 & 1) != 0;
  m.held = (t.user >> 10 & 1) != 0;
  m.raced = (t.user >> 13 & 1) != 0;
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
