// What joins the devices: the part of a system's YAML that describes links and topology.
#pragma once

#include <cstdint>

#include "config/quantity.h"

namespace nearfar {

class Section;

enum class TopologyKind : std::uint8_t {
  Switch,    ///< one port a device into a switch that never blocks; both ports are occupied, no store and forward
  AllToAll,  ///< one link for each pair of devices
  Ring,      ///< neighbour links both ways, host included; the shorter way, ties clockwise
  PcieTree,  ///< GPUs under switches, switches under the root complex; store and forward at each hop
};

struct LinkSpec {
  TopologyKind topology = TopologyKind::Switch;
  Cycle latency = 150;                // one way, per hop: first bit out to first bit in
  Cycle host_latency = 0;             // switch, all-to-all: to and from the host; 0: as between GPUs
  Cycle switch_latency = 100;         // pcie-tree: added in each switch
  Bandwidth bandwidth = 32_GBps;      // of one direction of one link
  bool host_port_per_gpu = false;     // switch: the host has as many ports as there are GPUs
  std::uint32_t gpus_per_switch = 4;  // pcie-tree
  Bytes header = 16;                  // packet overhead of a request or control message
  Bytes reply_header = 16;            // packet overhead of a reply or acknowledgement
  std::uint32_t credits = 128;        // requests one source may have in one destination's input buffer
  std::uint32_t queue = 256;          // requests that may wait to leave for one device

  void describe(Section& section);
};

}  // namespace nearfar
