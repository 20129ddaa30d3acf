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
  FatTree,   ///< as switch, but one made of levels of switches that never block: what is farther takes longer
};

/// What packets look like (packet_format.h).
enum class LinkFormat : std::uint8_t { Plain, Pcie3, Pcie4, Pcie5, Pcie6, Nvlink };

/// PCIe: what the packets of links have.
struct PcieSpec {
  std::uint32_t header_words = 4;  // of a request: 3 with addresses of 32 bits, 4 with 64
  bool ecrc = true;
  Bytes max_payload = 4096;
  bool flit_mode = false;     // generation 6: 236 of 256 bytes carry packets
  bool exact_coding = false;  // generations 3 to 5: 128 of 130 bits are data
  bool dllp = false;          // link-layer packets take their bytes
  std::uint32_t ack_every = 4;
  std::uint32_t credit_every = 8;

  void describe(Section& section);
};

struct NvlinkSpec {
  Bytes enable_alignment = 32;
  bool address_extension = false;

  void describe(Section& section);
};

/// Credits go home in batches, so many to all that there are: fewer messages, and nearly all are always in use.
inline constexpr std::uint32_t kCreditBatches = 32;

struct LinkSpec {
  TopologyKind topology = TopologyKind::Switch;
  Cycle latency = 150;                // one way, per hop: first bit out to first bit in
  Cycle host_latency = 0;             // switch, all-to-all: to and from the host; 0: as between GPUs
  Cycle switch_latency = 100;         // pcie-tree: added in each switch; fat-tree: by each switch beyond the first
  Bandwidth bandwidth = 32_GBps;      // of one direction of one link
  bool host_port_per_gpu = false;     // switch: the host has as many ports as there are GPUs
  std::uint32_t gpus_per_switch = 4;  // pcie-tree, fat-tree
  std::uint32_t switch_radix = 16;    // fat-tree: switches of a level below one of the next
  Bytes header = 16;                  // packet overhead of a request or control message
  Bytes reply_header = 16;            // packet overhead of a reply or acknowledgement
  std::uint32_t credits = 0;          // requests one source may have in one destination's input buffer; 0: auto
  std::uint32_t queue = 0;            // requests that may wait to leave for one device; 0: auto

  std::uint32_t burst = 16;  // lines of a page in one message at most
  LinkFormat format = LinkFormat::Plain;
  PcieSpec pcie;
  NvlinkSpec nvlink;
  std::uint32_t data_credits = 0;  // units of 16 bytes of posted writes in one destination's input buffer; 0: auto
  bool track_useful = false;       // of the bytes that stores bring, which are read

  bool is_plain() const { return format == LinkFormat::Plain; }
  bool is_pcie() const { return format != LinkFormat::Plain && format != LinkFormat::Nvlink; }
  /// Bytes of packets a second that one direction of one link carries: what is left of `bandwidth`.
  Bandwidth packet_rate() const;
  /// The smallest packet that can fill a link: a store of four bytes.
  Bytes smallest_store(Bytes line) const;

  /// What credits have to cover: the way to a destination and back, and the service there.
  struct CreditLoop {
    Cycle latency = 0;  ///< there and back, over the longest route
    Cycle service = 0;  ///< until a request has left the destination's input buffer, where that is not many_partitions
    Frequency clock;
    Bytes line = 0;
  };
  /// Credits with which one source fills its link to one destination with packets of `bytes`.
  std::uint64_t credits_to_fill(const CreditLoop& loop, Bytes bytes) const;
  /// Gives numbers to what is `auto`: enough that no link is throttled by it, whatever the packets.
  void fill_in(const CreditLoop& loop);

  void describe(Section& section);
};

}  // namespace nearfar
