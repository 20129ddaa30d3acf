// PCIe: transaction-layer packets (TLPs) of generations 3 to 6.
//
// A TLP has a header of three or four words of 4 bytes and a payload of whole words; optionally a check of its own
// (ECRC). Up to generation 5 the link adds a token at its start, which holds the sequence number, and a check at its
// end (LCRC). In flit mode (generation 6) it adds neither: 236 of every 256 bytes carry TLPs, which slows the link and
// not the packet (LinkSpec::packet_rate). A write names its first and last bytes only, so a store with holes takes a
// packet for each run of bytes. Masks are never sent.
#pragma once

#include <cstdint>

#include "interconnect/link_spec.h"
#include "interconnect/packet_format.h"

namespace nearfar {

class PciePacketFormat final : public PacketFormat {
 public:
  explicit PciePacketFormat(const PcieSpec& spec);

  std::uint32_t wire_bytes(PacketRole role, std::uint32_t payload, bool partial) const override;
  WireSize store(const ByteMask& mask) const override;
  WireSize write(std::uint64_t address, std::uint64_t bytes) const override;
  WireSize packed(std::uint32_t payload) const override;
  std::uint32_t largest_payload() const override { return largest_; }
  std::uint32_t framing() const override { return framing_; }

  /// Beside its payload, a request has so many bytes; a completion, whose header always has three words, fewer.
  std::uint32_t request_overhead() const { return request_; }
  std::uint32_t completion_overhead() const { return completion_; }

 private:
  std::uint32_t largest_;
  std::uint32_t framing_;
  std::uint32_t request_;
  std::uint32_t completion_;
};

}  // namespace nearfar
