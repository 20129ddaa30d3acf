// The parameters of links and topology.
#include "interconnect/link_spec.h"

#include <algorithm>
#include <cmath>

#include "config/schema.h"

namespace nearfar {

void LinkSpec::describe(Section& section) {
  section.choice<TopologyKind>(
      "topology", topology,
      {{"switch", TopologyKind::Switch},
       {"all-to-all", TopologyKind::AllToAll},
       {"ring", TopologyKind::Ring},
       {"pcie-tree", TopologyKind::PcieTree}},
      "How devices are connected: switch is a port of each device into one switch, all-to-all a link for each pair, "
      "ring links to both neighbours, and pcie-tree switches under a root complex.");
  section.cycles("latency", latency, {1, 1'000'000},
                 "Latency of a link, one way and per hop, from first bit out to first bit in.");
  section.cycles(
      "host_latency", host_latency, {0, 1'000'000},
      "With topologies switch and all-to-all, the latency of links to and from the host; 0 is that of `latency`.");
  section.cycles("switch_latency", switch_latency, {0, 1'000'000},
                 "With topology pcie-tree, the latency that each switch adds.");
  section.bandwidth("bandwidth", bandwidth, {Bandwidth{1'000'000}, 100'000_GBps},
                    "Bandwidth of one direction of one link, after line coding.");
  section.flag("host_port_per_gpu", host_port_per_gpu,
               "With topology switch, if true, the host has a port for each GPU; if false, one for all.");
  section.integer("gpus_per_switch", gpus_per_switch, {1, kMaxGpus}, "GPUs",
                  "With topology pcie-tree, the number of GPUs under one switch.");
  section.bytes("header", header, {0, 4_KiB}, "Packet overhead of a request or control message.");
  section.bytes("reply_header", reply_header, {0, 4_KiB}, "Packet overhead of a reply or acknowledgement.");
  section.integer_or_auto("credits", credits, {1, 65'536}, "requests",
                          "Requests that one source can have in one destination's input buffer; auto is enough to fill "
                          "the link over the way there and back.");
  section.integer_or_auto(
      "queue", queue, {1, 65'536}, "requests",
      "Requests that can wait in the per-destination queue of a sender; auto is as many as credits.");
  section.integer("burst", burst, {1, 64}, "lines",
                  "Largest burst: lines of a page that travel as one message and take one turn at each port; 1 is "
                  "packet by packet.");
}

std::uint64_t LinkSpec::credits_to_fill(const CreditLoop& loop, Bytes bytes) const {
  const auto bytes_per_cycle = static_cast<double>(bandwidth.bytes_per_second) / static_cast<double>(loop.clock.hertz);
  // The largest packet may be in the way at both ends, and a batch of credits at the destination.
  const double around = static_cast<double>(loop.latency + loop.service) * bytes_per_cycle +
                        2 * static_cast<double>(std::max(header, reply_header) + loop.line + bytes);
  return static_cast<std::uint64_t>(
      std::ceil(around / static_cast<double>(bytes) * kCreditBatches / (kCreditBatches - 1)));
}

void LinkSpec::fill_in(const CreditLoop& loop) {
  // The smallest packet that can fill a link: a store of four bytes, and which of its line they are.
  if (credits == 0) {
    const Bytes smallest = header + 4 + loop.line / 8;
    credits = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(credits_to_fill(loop, smallest), 64, 65'536));
  }
  if (queue == 0) queue = credits;
}

}  // namespace nearfar
