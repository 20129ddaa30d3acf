#include "interconnect/link_timeline.h"

#include <algorithm>
#include <array>
#include <utility>

namespace nearfar {
namespace {

const char* name_of_class(TrafficClass traffic) {
  static constexpr std::array<const char*, kTrafficClasses> kNames{"request", "response", "uncredited", "invalidation"};
  return kNames[static_cast<std::size_t>(traffic)];
}

}  // namespace

void LinkTimeline::delivered(const Packet& packet, std::uint64_t behind) {
  const auto found = came_.find(&packet);
  const Cycle came = found->second;
  came_.erase(found);
  const PacketLabel label = label_(packet, timeline_);
  if (!timeline_.selects(label.lines)) return;
  const DeviceId source{packet.source};
  const Topology::Hop hop = topology_.route(source, DeviceId{packet.destination});
  const Cycle first = rate_.duration(packet.wire_bytes);
  const Cycle sent = came - hop.latency;  // the first packet has left the output
  TimelineEvent event;
  event.kind = TimelineEvent::Kind::Message;
  event.device = partition_.device().value;
  event.track = input_of(source);
  event.name = label.name;
  event.start = sent - std::min(sent, first);
  event.end = partition_.now();
  event.unit = TimelineUnit::LinkInput;
  event.peer = source.value;
  event.lines = label.lines;
  event.hop.origin = packet.origin;
  event.hop.destination = packet.destination;
  event.hop.output = static_cast<std::uint16_t>(hop.output);
  event.hop.bytes = static_cast<std::uint32_t>(packet.wire_bytes + behind);
  event.hop.sending = static_cast<std::uint32_t>(sent + rate_.duration(behind) - event.start);
  // Where the last link stores and forwards, it begins when all of the packet has come.
  const Cycle begins = topology_.last_hop_at_receiver() ? came : came - first;
  event.hop.receiving = static_cast<std::uint32_t>(event.end - begins);
  event.hop.traffic_class = name_of_class(packet.traffic_class);
  event.hop.type = label.type;
  timeline_.note(event);
}

/// The port of this device that a message of `source` passes.
std::uint16_t LinkTimeline::input_of(DeviceId source) const {
  const DeviceId here = partition_.device();
  if (topology_.shared_input()) return topology_.has_port_per_gpu(here) ? source.value : std::uint16_t{0};
  if (!topology_.last_hop_at_receiver()) return source.value;  // a link for each neighbour
  return static_cast<std::uint16_t>(here == topology_.host() ? topology_.switch_of(source) : 0);
}

}  // namespace nearfar
