// One GPU cut into instances (MIG): how it is cut, and what the instances share, an L3 TLB and walkers.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>

#include "translation/translation_spec.h"

namespace nearfar {

/// The sizes of the instances, in compute slices: 3g:2g:2g is one of three and two of two.
struct InstanceLayout {
  static constexpr unsigned kComputeSlices = 7;
  static constexpr unsigned kMemorySlices = 8;

  std::array<std::uint8_t, kComputeSlices> sizes{kComputeSlices};  ///< 0 behind the last one

  unsigned count() const;
  unsigned compute_slices(unsigned instance) const { return sizes[instance]; }
  /// An instance of three compute slices has half of the memory, as one of four has.
  unsigned memory_slices(unsigned instance) const;
  std::string text() const;
  /// The size of one instance, as a layout that has nothing else.
  InstanceLayout alone(unsigned instance) const { return {{sizes[instance]}}; }

  bool operator==(const InstanceLayout&) const = default;

  /// Every way to cut a GPU, larger instances first, with its name.
  struct Named;
  static std::span<const Named> all();
};

struct InstanceLayout::Named {
  std::string name;
  InstanceLayout layout;
};

struct MigSpec : WalkersSpec {
  InstanceLayout instances;
  std::uint32_t sub_entries = 16;  // of an entry of the L2 TLBs and of the L3 TLB
  PortedTlbSpec l3_tlb{{1024, 8, 10}, 1};

  void describe(Section& section);
};

}  // namespace nearfar
