// The parameters of links and topology.
#include "interconnect/link_spec.h"

#include <array>

#include "config/schema.h"

namespace nearfar {
namespace {

// A link of 16 lanes; of NVLink, one link of the second or third generation.
constexpr std::array kPcie3 = {Preset{"bandwidth", "16GB/s"}};
constexpr std::array kPcie4 = {Preset{"bandwidth", "32GB/s"}};
constexpr std::array kPcie5 = {Preset{"bandwidth", "64GB/s"}};
constexpr std::array kPcie6 = {Preset{"bandwidth", "128GB/s"}};
constexpr std::array kNvlink = {Preset{"bandwidth", "25GB/s"}};

/// In flit mode 236 of 256 bytes carry packets.
constexpr std::uint64_t kFlitBytes = 64;
constexpr std::uint64_t kFlitPayload = 59;

}  // namespace

void PcieSpec::describe(Section& section) {
  section.integer("header_words", header_words, Limits::one_of({3, 4}), "words",
                  "Words of 4 bytes in the header of a PCIe request: 3 with 32-bit addresses, 4 with 64-bit ones.");
  section.flag("ecrc", ecrc, "If true, each PCIe packet carries an end-to-end check of 4 bytes (ECRC).");
  section.bytes("max_payload", max_payload, Limits::powers_of_two(128, 4096),
                "Largest payload of a PCIe packet; larger writes are cut.");
  section.flag("flit_mode", flit_mode,
               "With link.format pcie6, if true, packets travel in flits: no token and no LCRC for each, but 236 of "
               "256 bytes carry packets.");
  section.flag("exact_coding", exact_coding,
               "With link.format pcie3 to pcie5, if true, the line code takes 2 of 130 bits from `bandwidth`.");
  section.flag("dllp", dllp,
               "If true, acknowledgements and credit updates of the PCIe link layer take 8 bytes each in the opposite "
               "direction.");
  section.integer("ack_every", ack_every, {1, 4096}, "packets",
                  "With link.pcie.dllp, received packets for one acknowledgement of the link layer.");
  section.integer("credit_every", credit_every, {1, 4096}, "packets",
                  "With link.pcie.dllp, received packets for one credit update of the link layer.");
}

void NvlinkSpec::describe(Section& section) {
  section.bytes("enable_alignment", enable_alignment, Limits::powers_of_two(16, 128),
                "An NVLink write whose address or size is no multiple of this has a flit of byte enables.");
  section.flag("address_extension", address_extension,
               "If true, every NVLink packet has a flit with more address bits.");
}

void LinkSpec::describe(Section& section) {
  section.choice<TopologyKind>(
      "topology", topology,
      {{"switch", TopologyKind::Switch},
       {"all-to-all", TopologyKind::AllToAll},
       {"ring", TopologyKind::Ring},
       {"pcie-tree", TopologyKind::PcieTree},
       {"fat-tree", TopologyKind::FatTree}},
      "How devices are connected: switch is a port of each device into one switch, all-to-all a link for each pair, "
      "ring links to both neighbours, pcie-tree switches under a root complex, and fat-tree levels of switches that "
      "together never block.");
  section.cycles("latency", latency, {1, 1'000'000},
                 "Latency of a link, one way and per hop, from first bit out to first bit in.");
  section.cycles(
      "host_latency", host_latency, {0, 1'000'000},
      "With topologies switch, all-to-all and fat-tree, the latency of links to and from the host; 0 is that of "
      "`latency`, with fat-tree that to the farthest GPU.");
  section.cycles("switch_latency", switch_latency, {0, 1'000'000},
                 "With topology pcie-tree, the latency that each switch adds; with fat-tree, that of each switch on "
                 "the way beyond the first one, and of the link to it.");
  section.bandwidth("bandwidth", bandwidth, {Bandwidth{1'000'000}, 100'000_GBps},
                    "Bandwidth of one direction of one link, after line coding.");
  section.flag(
      "host_port_per_gpu", host_port_per_gpu,
      "With topologies switch and fat-tree, if true, the host has a port for each GPU; if false, one for all.");
  section.integer("gpus_per_switch", gpus_per_switch, {1, kMaxGpus}, "GPUs",
                  "With topologies pcie-tree and fat-tree, the number of GPUs under one switch.");
  section.integer("switch_radix", switch_radix, {2, kMaxGpus}, "switches",
                  "With topology fat-tree, the number of switches of one level under a switch of the next.");
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
  section.choice<LinkFormat>(
      "format", format,
      {{"plain", LinkFormat::Plain},
       {"pcie3", LinkFormat::Pcie3, kPcie3},
       {"pcie4", LinkFormat::Pcie4, kPcie4},
       {"pcie5", LinkFormat::Pcie5, kPcie5},
       {"pcie6", LinkFormat::Pcie6, kPcie6},
       {"nvlink", LinkFormat::Nvlink, kNvlink}},
      "What packets look like: plain is `header` or `reply_header` and the data, and every write is acknowledged; "
      "pcie3, pcie4, pcie5 and pcie6 are transaction-layer packets at the bandwidth of 16 lanes, and nvlink is flits "
      "of 16 bytes, both with posted writes.");
  section.child("pcie", pcie, "The packets of links with link.format pcie3, pcie4, pcie5 or pcie6.");
  section.child("nvlink", nvlink, "The packets of links with link.format nvlink.");
  section.integer_or_auto("data_credits", data_credits, {1, 1'048'576}, "16 B",
                          "Units of payload of posted writes that one source can have in one destination's input "
                          "buffer; auto is enough to fill the link over the way there and back.");
  section.flag("track_useful", track_useful,
               "If true, where stores are posted, each GPU follows the bytes that they and copies bring, and counts "
               "which are read before they are overwritten.");
}

Bandwidth LinkSpec::packet_rate() const {
  if (format == LinkFormat::Pcie6 && pcie.flit_mode) {
    return Bandwidth{bandwidth.bytes_per_second * kFlitPayload / kFlitBytes};
  }
  if (is_pcie() && format != LinkFormat::Pcie6 && pcie.exact_coding) {
    return Bandwidth{bandwidth.bytes_per_second * 128 / 130};
  }
  return bandwidth;
}

}  // namespace nearfar
