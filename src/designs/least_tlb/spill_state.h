// What least-TLB keeps with a translation in L2 TLBs and in the IOMMU TLB: whose it is, and how often it may still be
// spilled. In a TLB entry it is the note; an L2 TLB entry that a miss has filled has note 0 and all its spills.
#pragma once

#include <cstdint>

#include "sim/types.h"
#include "translation/iommu/iommu.h"

namespace nearfar {

struct SpillState {
  DeviceId home{};         ///< the GPU of its process
  bool spilled = false;    ///< it lies, or has lain, in an L2 TLB that is not its home's
  std::uint32_t left = 0;  ///< spills

  std::uint32_t note() const { return home.value | (spilled ? kSpilled : 0) | left << 12; }
  static SpillState of(std::uint32_t note) {
    return {DeviceId{static_cast<std::uint16_t>(note & Iommu::kHomeMask)}, (note & kSpilled) != 0, note >> 12 & 15};
  }

 private:
  static constexpr std::uint32_t kSpilled = Iommu::kHomeMask + 1;
};

/// A note on its way, with the number of spills that one eviction has led to so far.
struct ChainedNote {
  std::uint32_t note = 0;
  std::uint32_t chain = 0;

  std::uint32_t pack() const { return note | chain << 16; }
  static ChainedNote of(std::uint32_t packed) { return {packed & 0xffff, packed >> 16}; }
};

}  // namespace nearfar
