// How many bytes things take on a link: a format knows the overhead of each kind of packet.
#pragma once

#include <cstdint>

#include "config/quantity.h"

namespace nearfar {

/// What a packet is, as far as its size goes.
enum class PacketRole : std::uint8_t {
  ReadRequest,    ///< asks for a line
  WriteRequest,   ///< carries bytes of a line, and which they are unless it is whole
  AtomicRequest,  ///< carries the operand
  ReadReply,      ///< carries a line
  WriteReply,     ///< says that a write has been ordered
  AtomicReply,    ///< carries the old value
  Control,        ///< a launch, a workgroup, a completion
};

class PacketFormat {
 public:
  virtual ~PacketFormat() = default;
  /// The size of a packet with `payload` bytes of data. `partial`: of a line, some bytes are not written.
  virtual std::uint32_t wire_bytes(PacketRole role, std::uint32_t payload, bool partial) const = 0;
};

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
      case PacketRole::Control: return header_ + payload;
      case PacketRole::WriteRequest: return header_ + payload + (partial ? mask_bytes_ : 0);
      case PacketRole::ReadReply:
      case PacketRole::WriteReply:
      case PacketRole::AtomicReply: return reply_header_ + payload;
    }
    return header_;
  }

 private:
  std::uint32_t header_;
  std::uint32_t reply_header_;
  std::uint32_t mask_bytes_;
};

}  // namespace nearfar
