// Shapes of the interconnect as routes: from the device a message is at, over which of its outputs, to which device
// next. Every output belongs to one device, so a link has one owner; the links between PCIe switches and the root
// complex belong to the host. A switch that has state of its own is a device, half way between any two GPUs; what only
// passes it does not stop there.
#pragma once

#include <algorithm>
#include <cstdint>

#include "interconnect/link_spec.h"
#include "sim/types.h"

namespace nearfar {

class Topology {
 public:
  /// `switch_device`: the switch of topology switch is a device too.
  Topology(const LinkSpec& spec, unsigned gpus, bool switch_device = false)
      : kind_(spec.topology), spec_(spec), gpus_(gpus), switch_device_(switch_device) {}

  struct Hop {
    unsigned output = 0;  ///< which of the device's serializers the message passes
    DeviceId next;        ///< where it arrives
    Cycle latency = 0;
  };

  unsigned gpus() const { return gpus_; }
  unsigned devices() const { return gpus_ + (switch_device_ ? 2 : 1); }
  DeviceId host() const { return DeviceId{static_cast<std::uint16_t>(gpus_)}; }
  /// Whether a device is the switch.
  bool is_switch(DeviceId device) const { return device.value > gpus_; }

  /// How many outputs a device owns.
  unsigned outputs(DeviceId device) const;
  /// How many inputs it has that several senders share.
  unsigned inputs(DeviceId device) const;
  Hop route(DeviceId at, DeviceId to) const;

  /// Whether a device has a port for each GPU, all as fast as a GPU's own (the host under a switch).
  bool has_port_per_gpu(DeviceId device) const { return shared_input() && spec_.host_port_per_gpu && device == host(); }
  /// Whether a device's input is a port of its own that cut-through bursts occupy (switch, fat tree).
  bool shared_input() const { return kind_ == TopologyKind::Switch || kind_ == TopologyKind::FatTree; }
  /// Whether the last link into a GPU stores and forwards, and belongs to that GPU (tree).
  bool last_hop_at_receiver() const { return kind_ == TopologyKind::PcieTree; }
  /// The switch a GPU hangs under (PCIe tree, fat tree).
  unsigned switch_of(DeviceId gpu) const { return gpu.value / spec_.gpus_per_switch; }
  unsigned switches() const { return (gpus_ + spec_.gpus_per_switch - 1) / spec_.gpus_per_switch; }

  /// One-way latency without any serialization.
  Cycle latency(DeviceId from, DeviceId to) const;
  /// No message is faster: the length of the engine's window.
  Cycle lookahead() const {
    const Cycle between_gpus = switch_device_ ? from_switch() : spec_.latency;
    return has_host_latency() ? std::min(between_gpus, spec_.host_latency) : between_gpus;
  }

 private:
  bool has_host_latency() const {
    return spec_.host_latency != 0 && (shared_input() || kind_ == TopologyKind::AllToAll);
  }
  Cycle direct_latency(DeviceId from, DeviceId to) const;
  /// How many levels of switches above its own a message from one of the lowest switches to another has to climb.
  unsigned levels_between(unsigned one, unsigned other) const;

  // The two halves of the way from a GPU to another.
  Cycle from_switch() const { return spec_.latency / 2; }
  Cycle to_switch() const { return spec_.latency - from_switch(); }
  Hop route_by_switch(DeviceId at, DeviceId to) const;

  TopologyKind kind_;
  LinkSpec spec_;
  unsigned gpus_;
  bool switch_device_;
};

}  // namespace nearfar
