// The parameters of neighborhood-aware coalescing of page walks.
#pragma once

#include <cstdint>

namespace nearfar {

class Section;

/// For which accesses in flight a request waits: those that bring it further, or all in its neighborhood.
enum class WaitRule : std::uint8_t { Useful, Literal };

/// What accesses cost, in picojoules.
struct WalkEnergySpec {
  std::uint32_t dram_access = 8000;
  std::uint32_t cam_read = 41;
  std::uint32_t cam_write = 196;

  void describe(Section& section);

  std::uint64_t of_table(std::uint64_t reads) const { return reads * dram_access; }
  std::uint64_t of_cam(std::uint64_t reads, std::uint64_t writes) const {
    return reads * cam_read + writes * cam_write;
  }
};

struct NeighborhoodSpec {
  bool leaf_only = false;
  WaitRule rule = WaitRule::Useful;
  std::uint32_t wait_limit = 8;
  bool wait_considers_pwc = false;
  bool fill_pwc_from_pa = true;
  WalkEnergySpec energy;

  /// Those of coalescing at all levels; at the leaf alone only the energies count.
  void describe(Section& section);
};

}  // namespace nearfar
