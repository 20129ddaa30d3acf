#include "interconnect/packet_format.h"

#include "interconnect/link_spec.h"
#include "interconnect/packet_nvlink.h"
#include "interconnect/packet_pcie.h"

namespace nearfar {

std::unique_ptr<PacketFormat> make_packet_format(const LinkSpec& spec, std::uint64_t line_bytes) {
  switch (spec.format) {
    case LinkFormat::Plain: break;
    case LinkFormat::Pcie3:
    case LinkFormat::Pcie4:
    case LinkFormat::Pcie5:
    case LinkFormat::Pcie6: return std::make_unique<PciePacketFormat>(spec.pcie);
    case LinkFormat::Nvlink: return std::make_unique<NvlinkPacketFormat>(spec.nvlink);
  }
  return std::make_unique<PlainPacketFormat>(spec.header, spec.reply_header, line_bytes);
}

}  // namespace nearfar
