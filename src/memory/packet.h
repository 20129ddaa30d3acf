// What travels over links: an event with the header that ports and network interfaces look at. What it carries is a
// type of its own that derives from it.
#pragma once

#include <cstdint>

#include "sim/event.h"

namespace nearfar {

/// What a packet carries: whom it is for in its destination.
enum class PacketType : std::uint8_t {
  Lines,        ///< requests for lines of a page, or their replies: a packet a line (memory/line_request.h)
  Control,      ///< launches, workgroups, completions between host and GPUs (gpu/control.h)
  Copy,         ///< chunks of copies between launches (gpu/copy_agent.h)
  Translation,  ///< translation: requests, answers, invalidations, pages (translation/message.h)
  Coherence,    ///< invalidations of cached lines, markers and fences (coherence/coherence_message.h)
  Hierarchy,    ///< blocks of a unified memory hierarchy (coherence/umh/hierarchy_packet.h)
  Stores,       ///< posted stores (interconnect/store_batch.h); lines of them, where their home writes them
};

/// Classes take turns on a link, and each keeps its order from source to destination. Only requests need credits; the
/// others are never refused.
enum class TrafficClass : std::uint8_t {
  Request,       ///< requests for lines and posted stores, at their source: the order of both is one
  Response,      ///< replies, acknowledgements, answers, control
  Uncredited,    ///< requests of translation, and requests in transit, whose credit has been taken
  Invalidation,  ///< invalidations of cached lines and the markers behind them
};
inline constexpr unsigned kTrafficClasses = 4;

struct Packet : Event {
  std::uint16_t destination = 0;      ///< device it travels to
  std::uint16_t origin = 0;           ///< device it comes from
  std::uint32_t wire_bytes : 24 = 0;  ///< its size on the link; of a burst, of its first packet
  TrafficClass traffic_class : 4 = TrafficClass::Request;
  PacketType type : 4 = PacketType::Lines;
  std::uint32_t early_ticks = 0;  ///< by how much its (first) packet left a link before the end of the cycle

  void set_wire_bytes(std::uint32_t bytes) { wire_bytes = bytes & 0xffffffU; }
};
static_assert(sizeof(Packet) == 32);

}  // namespace nearfar
