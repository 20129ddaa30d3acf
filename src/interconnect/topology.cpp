#include "interconnect/topology.h"

namespace nearfar {

unsigned Topology::outputs(DeviceId device) const {
  if (is_switch(device)) return gpus_;
  switch (kind_) {
    case TopologyKind::Switch:
    case TopologyKind::FatTree: return has_port_per_gpu(device) ? gpus_ : 1;
    case TopologyKind::AllToAll: return devices();
    case TopologyKind::Ring: return 2;
    case TopologyKind::PcieTree: return device == host() ? switches() : 1;
  }
  return 0;
}

unsigned Topology::inputs(DeviceId device) const {
  if (is_switch(device) || has_port_per_gpu(device)) return gpus_;
  return kind_ == TopologyKind::PcieTree && device == host() ? switches() : 1;
}

/// Only GPUs speak with a switch.
Topology::Hop Topology::route_by_switch(DeviceId at, DeviceId to) const {
  if (is_switch(at)) return {to.value < gpus_ ? to.value : 0U, to, from_switch()};
  return {0, to, to_switch()};
}

Topology::Hop Topology::route(DeviceId at, DeviceId to) const {
  if (is_switch(at) || is_switch(to)) return route_by_switch(at, to);
  switch (kind_) {
    case TopologyKind::Switch:
    case TopologyKind::FatTree: return {has_port_per_gpu(at) ? to.value : 0U, to, direct_latency(at, to)};
    case TopologyKind::AllToAll: return {to.value, to, direct_latency(at, to)};
    case TopologyKind::Ring: {
      const unsigned clockwise = (to.value + devices() - at.value) % devices();
      const bool forward = clockwise <= devices() - clockwise;
      const unsigned next = (at.value + (forward ? 1 : devices() - 1)) % devices();
      return {forward ? 0U : 1U, DeviceId{static_cast<std::uint16_t>(next)}, spec_.latency};
    }
    case TopologyKind::PcieTree: {
      const Cycle latency = spec_.latency + spec_.switch_latency;
      if (at == host()) return {switch_of(to), to, latency};
      const bool below_one_switch = to != host() && switch_of(at) == switch_of(to);
      return {0, below_one_switch ? to : host(), latency};
    }
  }
  return {};
}

unsigned Topology::levels_between(unsigned one, unsigned other) const {
  unsigned levels = 0;
  for (; one != other; ++levels) {
    one /= spec_.switch_radix;
    other /= spec_.switch_radix;
  }
  return levels;
}

/// Each level of a fat tree is a switch up and a switch down; the host hangs above all of them.
Cycle Topology::direct_latency(DeviceId from, DeviceId to) const {
  const bool with_host = from == host() || to == host();
  if (with_host && has_host_latency()) return spec_.host_latency;
  if (kind_ != TopologyKind::FatTree) return spec_.latency;
  const unsigned levels =
      with_host ? levels_between(0, switches() - 1) : levels_between(switch_of(from), switch_of(to));
  return spec_.latency + 2 * levels * spec_.switch_latency;
}

Cycle Topology::latency(DeviceId from, DeviceId to) const {
  Cycle sum = 0;
  for (DeviceId at = from; at != to;) {
    const Hop hop = route(at, to);
    sum += hop.latency;
    if (last_hop_at_receiver()) sum += spec_.latency;
    at = hop.next;
  }
  return sum;
}

}  // namespace nearfar
