// What travels over links, as a timeline calls it. Who adds a type of packets adds it here.
#include <array>

#include "coherence/coherence_message.h"
#include "coherence/umh/hierarchy_packet.h"
#include "gpu/control.h"
#include "gpu/copy_agent.h"
#include "machine/device_timeline.h"
#include "memory/line_request.h"
#include "translation/message.h"

namespace nearfar {
namespace {

PacketLabel label_of_lines(const LineRequest& lines, const Timeline& timeline) {
  static constexpr std::array kRequests{"read request",     "scalar read request",     "write request",
                                        "atomic request",   "page table read request", "fetch request",
                                        "host read request"};
  static constexpr std::array kReplies{"read reply",     "scalar read reply",     "write acknowledgement",
                                       "atomic reply",   "page table read reply", "fetch reply",
                                       "host read reply"};
  const auto kind = static_cast<std::size_t>(lines.kind);
  return {lines.reply() ? kReplies[kind] : kRequests[kind], "lines", timeline.lines_of(lines.line.page(), lines.mask)};
}

PacketLabel label_of_control(const ControlMessage& message) {
  static constexpr std::array kNames{"launch",      "workgroups", "no more workgroups", "stop",   "workgroups done",
                                     "launch done", "release",    "released",           "settle", "settled"};
  return {kNames[static_cast<std::size_t>(message.control.kind)], "control", {}};
}

/// A chunk is known by where it goes, or, where that is outside the address space, by where it comes from.
PacketLabel label_of_copy(const CopyMessage& message, const Timeline& timeline) {
  static constexpr std::array kNames{"copy: read", "copy: data", "copy: done"};
  const CopyChunk chunk = chunk_of(message);
  const PhysLine line = chunk.to ? *chunk.to : *chunk.from;
  return {kNames[static_cast<std::size_t>(message.kind)], "copy",
          timeline.lines_of(line.page(), lines_of_chunk(line, chunk.lines))};
}

PacketLabel label_of_translation(const TranslationPacket& packet, const Timeline& timeline) {
  return {traits_of(packet.kind).name, "translation", timeline.page(packet.page.value)};
}

PacketLabel label_of_coherence(const CoherenceMessage& message, const Timeline& timeline) {
  static constexpr std::array kNames{"invalidation", "boundary marker", "fence request", "fence marker",
                                     "fence acknowledgement"};
  const bool lines = message.kind == CoherenceKind::Invalidation;
  return {kNames[static_cast<std::size_t>(message.kind)], "coherence",
          lines ? timeline.lines_of(message.page, message.lines) : decltype(timeline.lines_of(message.page, 0)){}};
}

PacketLabel label_of_hierarchy(const HierarchyPacket& packet) {
  static constexpr std::array kNames{"read",
                                     "read for stores",
                                     "write",
                                     "put",
                                     "publish",
                                     "probe to read",
                                     "probe to drop",
                                     "forwarded read",
                                     "shared block",
                                     "exclusive block",
                                     "written block",
                                     "peer's block",
                                     "probe answer",
                                     "directory update",
                                     "put acknowledgement",
                                     "listen",
                                     "done"};
  static_assert(kNames.size() == nmoesi::kKinds);
  return {kNames[static_cast<std::size_t>(packet.kind)], "coherence", {}};
}

}  // namespace

PacketLabel packet_label(const Packet& packet, const Timeline& timeline) {
  switch (packet.type) {
    case PacketType::Lines: return label_of_lines(static_cast<const LineRequest&>(packet), timeline);
    case PacketType::Control: return label_of_control(static_cast<const ControlMessage&>(packet));
    case PacketType::Copy: return label_of_copy(static_cast<const CopyMessage&>(packet), timeline);
    case PacketType::Translation: return label_of_translation(static_cast<const TranslationPacket&>(packet), timeline);
    case PacketType::Coherence: return label_of_coherence(static_cast<const CoherenceMessage&>(packet), timeline);
    case PacketType::Hierarchy: return label_of_hierarchy(static_cast<const HierarchyPacket&>(packet));
    case PacketType::Stores: return {"posted stores", "stores", {}};
  }
  return {};
}

}  // namespace nearfar
