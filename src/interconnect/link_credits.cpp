// How many credits fill a link: what `auto` stands for, from the sizes of its packets and the way there and back.
#include <algorithm>
#include <cmath>

#include "interconnect/link_spec.h"
#include "interconnect/packet_format.h"

namespace nearfar {

Bytes LinkSpec::smallest_store(Bytes line) const {
  return make_packet_format(*this, line)->store(ByteMask::range(0, 4)).bytes;
}

std::uint64_t LinkSpec::credits_to_fill(const CreditLoop& loop, Bytes bytes) const {
  const auto bytes_per_cycle =
      static_cast<double>(packet_rate().bytes_per_second) / static_cast<double>(loop.clock.hertz);
  // The largest packet may be in the way at both ends, and a batch of credits at the destination.
  const double around = static_cast<double>(loop.latency + loop.service) * bytes_per_cycle +
                        2 * static_cast<double>(std::max(header, reply_header) + loop.line + bytes);
  return static_cast<std::uint64_t>(
      std::ceil(around / static_cast<double>(bytes) * kCreditBatches / (kCreditBatches - 1)));
}

void LinkSpec::fill_in(const CreditLoop& loop) {
  if (credits == 0) {
    const std::uint64_t enough = credits_to_fill(loop, smallest_store(loop.line));
    credits = static_cast<std::uint32_t>(std::clamp<std::uint64_t>(enough, 64, 65'536));
  }
  if (queue == 0) queue = credits;
  if (data_credits == 0) {
    const std::uint64_t around = credits_to_fill(loop, WireSize::kCreditBytes);
    const std::uint64_t largest = make_packet_format(*this, loop.line)->largest_payload() / WireSize::kCreditBytes;
    data_credits = static_cast<std::uint32_t>(std::min<std::uint64_t>(around + largest, 1'048'576));
  }
}

}  // namespace nearfar
