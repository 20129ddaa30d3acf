// A random program for whole machines: wavefronts that load, store, update and fence a few lines, so that all compute
// units of all GPUs quarrel over the same bytes. Each wavefront's stream is a pure function of (seed, launch,
// workgroup, wavefront).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "program/workload.h"

namespace nearfar::tester {

/// What a wavefront may do next.
enum class Action : std::uint8_t { Load, Store, Atomic, Scalar, Fence, Wait, Barrier, Compute };
inline constexpr std::array<std::string_view, 8> kActions{"loads",  "stores", "atomics",  "scalars",
                                                          "fences", "waits",  "barriers", "compute"};

struct ProgramShape {
  std::uint64_t seed = 0;
  unsigned launches = 1;
  unsigned groups = 1;      ///< workgroups of a launch
  unsigned waves = 1;       ///< wavefronts of a workgroup
  unsigned operations = 1;  ///< of a wavefront
  unsigned pages = 1;       ///< in which the lines lie
  unsigned lines = 1;       ///< that are quarrelled over
  unsigned hot = 1;         ///< of these, the first ones take half of the accesses
  unsigned line_bytes = 64;
  unsigned lanes = 64;
  bool one_buffer = true;  ///< or one buffer for each page, with placements in turn
  unsigned members = 0;    ///< pages that a page of multicast memory stands for; 0: there is none
  unsigned apart = 1;      ///< pages from one buffer to the next: far enough, and each has a page-table line of its own
  Split split = Split::RoundRobin;
  bool host = false;  ///< the host reads and writes ranges of the pages before, between and behind the launches
  std::array<std::uint8_t, kActions.size()> weights{};  ///< of each Action
};

class RandomProgram final : public Workload {
 public:
  explicit RandomProgram(const ProgramShape& shape);

  Stream wavefront(std::size_t launch, const Wave& wave) const override;

  /// How the lanes of an instruction lie.
  enum class Pattern : std::uint8_t { OneLine, Block, FewLines, Scatter, OneLane };
  struct Target {
    std::uint64_t draw = 0;
    std::uint64_t active = 0;  ///< lanes that take part
    Pattern pattern = Pattern::OneLine;
    std::uint8_t bytes = 4;
    bool aligned = true;
  };
  /// Where a lane of an instruction goes.
  VirtAddr address(const Target& target, unsigned lane) const;

 private:
  /// One of the lines, a hot one every other time.
  VirtAddr pick(std::uint64_t draw) const;
  void add_host_work(std::uint64_t seed);
  Stream roam(std::uint64_t seed) const;

  ProgramShape shape_;
  std::vector<VirtAddr> lines_;
  std::vector<VirtAddr> blocks_;  ///< from where whole lines are written
  unsigned total_weight_ = 0;
};

}  // namespace nearfar::tester
