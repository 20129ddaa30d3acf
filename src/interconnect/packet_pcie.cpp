#include "interconnect/packet_pcie.h"

#include <algorithm>

namespace nearfar {
namespace {

constexpr std::uint32_t kWord = 4;
constexpr std::uint32_t kStartToken = 4;
constexpr std::uint32_t kSequenceNumber = 2;  ///< part of the start token
constexpr std::uint32_t kCheck = 4;           ///< ECRC or LCRC
constexpr std::uint32_t kCompletionWords = 3;

/// No write crosses such a boundary.
constexpr std::uint64_t kAddressBoundary = 4096;

/// Whole words that hold `bytes` from `address` on.
std::uint32_t words(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t first = address / kWord;
  const std::uint64_t end = (address + bytes + kWord - 1) / kWord;
  return static_cast<std::uint32_t>(kWord * (end - first));
}

}  // namespace

PciePacketFormat::PciePacketFormat(const PcieSpec& spec) : largest_(static_cast<std::uint32_t>(spec.max_payload)) {
  const std::uint32_t own_check = spec.ecrc ? kCheck : 0;
  const std::uint32_t link = spec.flit_mode ? 0 : kStartToken + kCheck;
  framing_ = own_check + (spec.flit_mode ? 0 : kSequenceNumber + kCheck);
  request_ = link + spec.header_words * kWord + own_check;
  completion_ = link + kCompletionWords * kWord + own_check;
}

std::uint32_t PciePacketFormat::wire_bytes(PacketRole role, std::uint32_t payload, bool /*partial*/) const {
  const bool completion =
      role == PacketRole::ReadReply || role == PacketRole::WriteReply || role == PacketRole::AtomicReply;
  const std::uint32_t overhead = completion ? completion_ : request_;
  const std::uint32_t packets = std::max(1U, (payload + largest_ - 1) / largest_);
  return packets * overhead + words(0, payload);
}

WireSize PciePacketFormat::store(const ByteMask& mask) const {
  WireSize size;
  mask.for_each_run([&](unsigned first, unsigned bytes) { size += write(first, bytes); });
  return size;
}

WireSize PciePacketFormat::write(std::uint64_t address, std::uint64_t bytes) const {
  WireSize size;
  for (const std::uint64_t end = address + bytes; address < end;) {
    const std::uint64_t boundary = (address / kAddressBoundary + 1) * kAddressBoundary;
    const std::uint64_t next = std::min({end, boundary, address + largest_});
    const std::uint32_t payload = words(address, next - address);
    size += WireSize::of_packet(request_ + payload, payload);
    address = next;
  }
  return size;
}

WireSize PciePacketFormat::packed(std::uint32_t payload) const {
  const std::uint32_t padded = words(0, payload);
  return WireSize::of_packet(request_ + padded, padded);
}

}  // namespace nearfar
