#include "interconnect/packet_nvlink.h"

#include <algorithm>

namespace nearfar {
namespace {

constexpr std::uint32_t kFlit = 16;
constexpr std::uint32_t kLargest = 16 * kFlit;        ///< payload of a packet
constexpr std::uint32_t kLargestEnabled = 8 * kFlit;  ///< the same with byte enables: a flit has 128 of them

/// Flits of data that hold `bytes` from `address` on, in bytes.
std::uint32_t flits(std::uint64_t address, std::uint64_t bytes) {
  return static_cast<std::uint32_t>((address % kFlit + bytes + kFlit - 1) / kFlit * kFlit);
}

}  // namespace

NvlinkPacketFormat::NvlinkPacketFormat(const NvlinkSpec& spec)
    : header_(spec.address_extension ? 2 * kFlit : kFlit), sector_(spec.enable_alignment) {}

std::uint32_t NvlinkPacketFormat::largest_payload() const { return kLargest; }

std::uint32_t NvlinkPacketFormat::wire_bytes(PacketRole role, std::uint32_t payload, bool partial) const {
  if (role == PacketRole::WriteRequest) return packet(0, payload, partial || payload % sector_ != 0).bytes;
  const std::uint32_t packets = std::max(1U, (payload + kLargest - 1) / kLargest);
  return packets * header_ + flits(0, payload);
}

WireSize NvlinkPacketFormat::packet(std::uint64_t address, std::uint64_t bytes, bool enables) const {
  const std::uint32_t data = flits(address, bytes);
  return WireSize::of_packet(header_ + (enables ? kFlit : 0) + data, data);
}

WireSize NvlinkPacketFormat::store(const ByteMask& mask) const {
  unsigned first = kMaxLineBytes;
  unsigned end = 0;
  unsigned runs = 0;
  mask.for_each_run([&](unsigned begin, unsigned bytes) {
    first = std::min(first, begin);
    end = begin + bytes;
    ++runs;
  });
  if (runs <= 1) return write(first, end - first);
  return packet(first, end - first, true);
}

WireSize NvlinkPacketFormat::write(std::uint64_t address, std::uint64_t bytes) const {
  const bool enables = address % sector_ != 0 || bytes % sector_ != 0;
  const std::uint64_t largest = enables ? kLargestEnabled : kLargest;
  WireSize size;
  for (const std::uint64_t end = address + bytes; address < end;) {
    const std::uint64_t next = std::min(end, (address / largest + 1) * largest);
    size += packet(address, next - address, enables);
    address = next;
  }
  return size;
}

WireSize NvlinkPacketFormat::packed(std::uint32_t payload) const { return packet(0, payload, false); }

}  // namespace nearfar
