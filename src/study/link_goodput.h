// Goodput of links against the size of transfers: the closed form of the packet format, and what two GPUs measure, one
// of which stores to the other as fast as its link carries it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "config/system_spec.h"
#include "sim/types.h"

namespace nearfar {

struct LinkGoodput {
  std::uint32_t bytes = 0;       ///< of a transfer
  std::uint32_t wire_bytes = 0;  ///< of its packets
  double closed_form = 0;        ///< share of the link's bandwidth
  double measured = 0;
  Cycle cycles = 0;  ///< that `transfers` took
  std::uint64_t transfers = 0;
};

/// Up to a line a transfer is a store, beyond it a copy of the DMA, in chunks of that size.
std::vector<std::uint32_t> goodput_sizes();

/// A machine of two GPUs, as measure_goodput() wants it, with a format of its links.
SystemSpec goodput_system(const std::string& system, const std::string& format, std::span<const std::string> overrides);

LinkGoodput measure_goodput(const SystemSpec& system, std::uint32_t bytes);

}  // namespace nearfar
