// The parameters of links and topology.
#include "interconnect/link_spec.h"

#include "config/schema.h"

namespace nearfar {

void LinkSpec::describe(Section& section) {
  section.choice<TopologyKind>("topology", topology,
                               {{"switch", TopologyKind::Switch},
                                {"all-to-all", TopologyKind::AllToAll},
                                {"ring", TopologyKind::Ring},
                                {"pcie-tree", TopologyKind::PcieTree}},
                               "A port a device into one switch, a link for each pair, links to both neighbours, or "
                               "switches under a root complex.");
  section.cycles("latency", latency, {1, 1'000'000}, "One way, per hop: first bit out to first bit in.");
  section.cycles("host_latency", host_latency, {0, 1'000'000},
                 "switch, all-to-all: the same to and from the host; 0 is that of `latency`.");
  section.cycles("switch_latency", switch_latency, {0, 1'000'000}, "pcie-tree: added in each switch.");
  section.bandwidth("bandwidth", bandwidth, {Bandwidth{1'000'000}, 100'000_GBps},
                    "Of one direction of one link, after line coding.");
  section.flag("host_port_per_gpu", host_port_per_gpu,
               "switch: the host has as many ports as there are GPUs, and not one for all.");
  section.integer("gpus_per_switch", gpus_per_switch, {1, kMaxGpus}, "GPUs", "pcie-tree: GPUs under one switch.");
  section.bytes("header", header, {0, 4_KiB}, "Packet overhead of a request or control message.");
  section.bytes("reply_header", reply_header, {0, 4_KiB}, "Packet overhead of a reply or acknowledgement.");
  section.integer("credits", credits, {1, 65'536}, "requests",
                  "Requests that one source may have in one destination's input buffer.");
  section.integer("queue", queue, {1, 65'536}, "requests", "Requests that may wait to leave for one device.");
}

}  // namespace nearfar
