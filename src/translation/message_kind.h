// The kinds of messages about translation: the baseline's, and those that designs add to them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nearfar {

enum class MessageKind : std::uint8_t {
  AtsRequest,     ///< GPU → IOMMU: translate `page`
  AtsResponse,    ///< IOMMU → GPU: `mapping`, or, if `faulted`, that there is none
  Fault,          ///< GPU → host: no sufficient mapping of `page`
  Map,            ///< host → GPU: answer to a fault without a migration: `mapping`
  MoveRequest,    ///< GPU → host: the access counter of `page` has reached its threshold
  MoveRefused,    ///< host → GPU: the request was dropped
  Invalidate,     ///< host → GPU: forget `page`; `mapping.epoch` is the new one
  Downgrade,      ///< host → GPU: `page` becomes read-only
  Acknowledge,    ///< GPU → host: `page` is forgotten or read-only
  Transfer,       ///< host → GPU: send `page` to device `to`, which will map it at `mapping`
  Data,           ///< any → GPU or host: the page itself, with its new mapping
  Part,           ///< any → any: a piece of a large page, before its last
  Done,           ///< GPU → host: the page has come and is mapped
  FirstOfDesigns  ///< from here on: what add_message_kind() has handed out
};

/// What the baseline has to know of a kind, whoever sends it.
struct MessageTraits {
  const char* name = "";
  bool response = false;    ///< answers and data never wait behind requests
  bool needs_walk = false;  ///< a GMMU walks for it, so that it waits for a place in the queue of its walkers
  bool table_page = false;  ///< a page of a page table, 4 KiB, goes with it
};

inline constexpr std::size_t kMostMessageKinds = 128;

namespace detail {
struct MessageKindTable {
  std::array<MessageTraits, kMostMessageKinds> traits;
  std::size_t used;
};
extern constinit MessageKindTable message_kinds;
}  // namespace detail

inline const MessageTraits& traits_of(MessageKind kind) {
  return detail::message_kinds.traits[static_cast<std::size_t>(kind)];
}
inline bool is_response(MessageKind kind) { return traits_of(kind).response; }

/// A new kind, for a design's own messages. It is to be added before the first cycle of a run, in a constant that the
/// design's sources share: `inline const MessageKind kProbe = add_message_kind({.name = "my-design.probe"});`
MessageKind add_message_kind(const MessageTraits& traits);

}  // namespace nearfar
