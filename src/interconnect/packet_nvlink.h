// NVLink: packets of flits of 16 bytes. A header flit, optionally one with more address bits (AE) and one with an
// enable for each byte (BE), then up to 16 flits of data; with byte enables up to 8. Byte enables are sent unless
// address and length are multiples of the memory's sectors, and they express holes: a store to part of a line is one
// packet.
#pragma once

#include <cstdint>

#include "interconnect/link_spec.h"
#include "interconnect/packet_format.h"

namespace nearfar {

class NvlinkPacketFormat final : public PacketFormat {
 public:
  explicit NvlinkPacketFormat(const NvlinkSpec& spec);

  std::uint32_t wire_bytes(PacketRole role, std::uint32_t payload, bool partial) const override;
  WireSize store(const ByteMask& mask) const override;
  WireSize write(std::uint64_t address, std::uint64_t bytes) const override;
  WireSize packed(std::uint32_t payload) const override;
  std::uint32_t largest_payload() const override;
  std::uint32_t framing() const override { return header_; }

 private:
  WireSize packet(std::uint64_t address, std::uint64_t bytes, bool enables) const;

  std::uint32_t header_;  ///< with the AE flit
  std::uint64_t sector_;
};

}  // namespace nearfar
