// How many bytes things take on a link: a format knows the overhead of each kind of packet.
#pragma once

#include <cstdint>
#include <memory>

#include "config/quantity.h"
#include "memory/byte_masks.h"

namespace nearfar {

/// What a packet is, as far as its size goes.
enum class PacketRole : std::uint8_t {
  ReadRequest,       ///< asks for a line
  WriteRequest,      ///< carries bytes of a line, and which they are unless it is whole
  AtomicRequest,     ///< carries the operand
  ReadReply,         ///< carries a line
  WriteReply,        ///< says that a write has been ordered
  AtomicReply,       ///< carries the old value
  Control,           ///< a launch, a workgroup, a completion
  Invalidation,      ///< names lines of which copies are to be dropped
  CoherenceControl,  ///< a marker behind invalidations, a fence, its answer
};

/// What writes take on a link: bytes, packets, and units of payload for which the receiver needs room.
struct WireSize {
  std::uint32_t bytes = 0;
  std::uint32_t packets = 0;
  std::uint32_t data_credits = 0;

  /// Room at a receiver is handed out in units of so many bytes.
  static constexpr std::uint32_t kCreditBytes = 16;
  static WireSize of_packet(std::uint32_t wire, std::uint32_t payload) {
    return {wire, 1, (payload + kCreditBytes - 1) / kCreditBytes};
  }
  WireSize& operator+=(const WireSize& other) {
    bytes += other.bytes;
    packets += other.packets;
    data_credits += other.data_credits;
    return *this;
  }
  bool operator==(const WireSize&) const = default;
};

class PacketFormat {
 public:
  virtual ~PacketFormat() = default;
  /// The size of a packet with `payload` bytes of data. `partial`: of a line, some bytes are not written.
  virtual std::uint32_t wire_bytes(PacketRole role, std::uint32_t payload, bool partial) const = 0;
  /// A store to some bytes of a line; lines begin at multiples of 64 bytes.
  virtual WireSize store(const ByteMask& mask) const = 0;
  /// A write of `bytes` from `address` on.
  virtual WireSize write(std::uint64_t address, std::uint64_t bytes) const = 0;
  /// One write whose payload is of a design's own making, at most largest_payload(). For the network it is a write.
  virtual WireSize packed(std::uint32_t payload) const = 0;
  virtual std::uint32_t largest_payload() const = 0;
  /// What a packet has beside a payload whose address and size the receiver knows already: sequence number and checks.
  virtual std::uint32_t framing() const = 0;
};

struct LinkSpec;

/// The format of a system's links.
std::unique_ptr<PacketFormat> make_packet_format(const LinkSpec& spec, std::uint64_t line_bytes);

/// A header for requests and one for replies; a write of part of a line has a bit for each of the line's bytes.
class PlainPacketFormat final : public PacketFormat {
 public:
  PlainPacketFormat(Bytes header, Bytes reply_header, std::uint64_t line_bytes)
      : header_(static_cast<std::uint32_t>(header)),
        reply_header_(static_cast<std::uint32_t>(reply_header)),
        mask_bytes_(static_cast<std::uint32_t>(line_bytes / 8)) {}

  std::uint32_t wire_bytes(PacketRole role, std::uint32_t payload, bool partial) const override {
    switch (role) {
      case PacketRole::ReadRequest:
      case PacketRole::AtomicRequest:
      case PacketRole::Invalidation:
      case PacketRole::Control: return header_ + payload;
      case PacketRole::WriteRequest: return header_ + payload + (partial ? mask_bytes_ : 0);
      case PacketRole::ReadReply:
      case PacketRole::WriteReply:
      case PacketRole::CoherenceControl:
      case PacketRole::AtomicReply: return reply_header_ + payload;
    }
    return header_;
  }
  WireSize store(const ByteMask& mask) const override {
    const std::uint32_t bytes = mask.count();
    const bool partial = bytes != mask_bytes_ * 8;
    return WireSize::of_packet(wire_bytes(PacketRole::WriteRequest, bytes, partial), bytes);
  }
  WireSize write(std::uint64_t, std::uint64_t bytes) const override {
    return packed(static_cast<std::uint32_t>(bytes));
  }
  WireSize packed(std::uint32_t payload) const override { return WireSize::of_packet(header_ + payload, payload); }
  std::uint32_t largest_payload() const override { return kPageBytes; }
  std::uint32_t framing() const override { return header_; }

 private:
  std::uint32_t header_;
  std::uint32_t reply_header_;
  std::uint32_t mask_bytes_;
};

}  // namespace nearfar
