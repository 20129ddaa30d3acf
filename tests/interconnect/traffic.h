// Synthetic traffic for networks under test: every device has agents that send requests to other devices, each with a
// bounded number of lines outstanding. Who asks whom is a pure function of the agent and its count, so that two models
// of a network face the same traffic.
#pragma once

#include <cstdint>
#include <vector>

#include "interconnect/link_spec.h"
#include "sim/types.h"

namespace nearfar::network_test {

inline constexpr std::uint64_t kLine = 64;
inline constexpr std::uint64_t kClock = 1'000'000'000;

struct Traffic {
  unsigned devices = 4;
  unsigned agents = 16;       ///< on each device
  unsigned outstanding = 16;  ///< lines that an agent may wait for
  unsigned group = 1;         ///< lines of one page that an agent asks for together
  unsigned hot = 0;           ///< per mille of the requests that go to device 0, beside its share of the others
  bool writes = false;        ///< whole lines with an acknowledgement each, instead of loads
  Cycle service = 150;        ///< of a request at its home
  Cycle warm = 3'000;         ///< counting begins
  Cycle end = 15'000;         ///< and ends

  std::uint64_t request_bytes(const LinkSpec& link) const { return link.header + (writes ? kLine : 0); }
  std::uint64_t reply_bytes(const LinkSpec& link) const { return link.reply_header + (writes ? 0 : kLine); }

  /// The device that request `count` of an agent goes to.
  unsigned destination(unsigned device, unsigned agent, std::uint64_t count) const {
    const std::uint64_t random = mix((std::uint64_t{device} << 48) ^ (std::uint64_t{agent} << 32) ^ count);
    if (device != 0 && random % 1000 < hot) return 0;
    const auto other = static_cast<unsigned>((random >> 20) % (devices - 1));
    return other < device ? other : other + 1;
  }

 private:
  static std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
  }
};

/// Lines served between the ends of the counted time.
struct Served {
  explicit Served(unsigned devices) : lines(devices, std::vector<std::uint64_t>(devices, 0)) {}

  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const auto& source : lines) {
      for (const std::uint64_t count : source) sum += count;
    }
    return sum;
  }

  std::vector<std::vector<std::uint64_t>> lines;  ///< by source and home
};

}  // namespace nearfar::network_test
