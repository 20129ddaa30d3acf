// What bounds a run: its busiest resource, or the latency that its loads wait for. The rule, in this order:
//
//   1. Copies or work of the host between launches take at least half of the run: these.
//   2. The busiest resource is in use at least kSaturated of the time: its bandwidth.
//   3. A compute unit that has a workgroup at all has, on average, fewer than kFewAccesses accesses waiting, and few of
//      its memory instructions stall: issue. Wavefronts wait for their own instructions, barriers or launches, not for
//      memory.
//   4. Otherwise latency: what accesses wait for longest. The time that loads spend on links, in L2s and in DRAM, and
//      that all accesses spend at ports of L1s and L2 TLBs and in L2 TLB misses, is counted once for each page that an
//      instruction touches: lines of one page are under way together.
//
// The utilization of a resource is that of its busiest device, since a hot home or a full link of one GPU holds up all
// others; over the links, channels or walkers of that device it is the mean.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "study/experiment.h"

namespace nearfar {

enum class Bound : std::uint8_t {
  Issue,
  L1Ports,
  L2Banks,
  Links,
  Dram,
  TlbPorts,
  Walkers,
  Iommu,
  Migration,
  Hierarchy,
  Copies,
  HostWork,
};

inline constexpr double kSaturated = 0.75;
inline constexpr double kFewAccesses = 0.5;
inline constexpr double kFewStalls = 0.1;

/// How much of the time a resource is in use, in the device where it is most.
struct Utilization {
  Bound resource = Bound::Issue;
  std::string what;   ///< "egress"
  std::string where;  ///< "GPU 2"
  double share = 0;   ///< 0 to 1
};

struct Bottleneck {
  Bound bound = Bound::Issue;
  bool latency = false;  ///< not the bandwidth of the resource, but the time that accesses wait for it
  std::string reason;    ///< "egress of GPU 2 busy 91.0 % of the time"
};

/// "links", "page walks": as one says that a run is bound by it.
const char* bound_name(Bound bound);
/// "egress of GPU 2".
std::string utilization_name(const Utilization& utilization);
/// "links: egress of GPU 2 busy 91.0 % of the time".
std::string bottleneck_text(const Bottleneck& bottleneck);

/// Resources by how busy they are, the busiest first; those that the result says nothing of are left out.
std::vector<Utilization> utilizations(const Report& report);
/// The same of one GPU's own resources, while its application runs for the first time.
std::vector<Utilization> utilizations(const Report& report, std::size_t gpu);

/// Nothing where a result has not even its cycles, and of several applications: each has bounds of its own.
std::optional<Bottleneck> bottleneck(const Report& report);

}  // namespace nearfar
