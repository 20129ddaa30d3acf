// Messages over the links for a device's timeline, noted where they arrive: when they left the output of the device
// before, how long they occupied it, when they were through the input here, and what they carry. A message that is
// forwarded is noted at each hop.
//
// When it left follows from when it was announced to arrive, so a message whose arrival is perturbed (perturb.draw)
// seems to leave as much later.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "interconnect/link_port.h"
#include "interconnect/topology.h"
#include "memory/packet.h"
#include "sim/partition.h"
#include "sim/timeline.h"

namespace nearfar {

/// What a packet is called, and the lines or the page that it is about, if any.
struct PacketLabel {
  const char* name = "";  ///< a literal
  const char* type = "";
  TimelineLines lines{};
};

class LinkTimeline {
 public:
  /// Whoever knows all types of packets says what one is.
  using Label = PacketLabel (*)(const Packet& packet, const Timeline& timeline);

  LinkTimeline(Partition& partition, Timeline& timeline, const Topology& topology, const LinkPort& rate, Label label)
      : partition_(partition), timeline_(timeline), topology_(topology), rate_(rate), label_(label) {}

  /// A message has come to the device's input, with its first packet, at packet.when.
  void came(const Packet& packet) { came_[&packet] = packet.when; }
  /// It is through the input now; it has `behind` bytes behind its first packet.
  void delivered(const Packet& packet, std::uint64_t behind);

 private:
  std::uint16_t input_of(DeviceId source) const;

  Partition& partition_;
  Timeline& timeline_;
  const Topology& topology_;
  LinkPort rate_;
  Label label_;
  std::unordered_map<const Packet*, Cycle> came_;
};

}  // namespace nearfar
