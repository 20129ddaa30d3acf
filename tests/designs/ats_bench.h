// Machines with an IOMMU and a design in it, for tests: GPUs with one compute unit, links without limits, L2 TLBs as
// small as asked for.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "designs/dws/walk_stealer.h"
#include "designs/least_tlb/least_tlb_gpu.h"
#include "designs/least_tlb/least_tlb_iommu.h"
#include "designs/tlb_probing/tlb_prober.h"
#include "translation/rig.h"

namespace nearfar {

inline DeviceId gpu_id(unsigned g) { return DeviceId{static_cast<std::uint16_t>(g)}; }

/// L2 TLBs and the IOMMU TLB of so many fully associative entries.
inline RigOptions small_tlbs(unsigned gpus, std::uint32_t l2, std::uint32_t iommu) {
  RigOptions options = RigOptions::with_iommu(gpus);
  options.l2_tlb.entries = options.l2_tlb.ways = l2;
  options.iommu.tlb.entries = options.iommu.tlb.ways = iommu;
  return options;
}

struct LeastTlbRig {
  LeastTlbRig(const RigOptions& options, bool spills, const LeastTlbSpec& spec = {}, unsigned processes = 1)
      : rig(options, 0, 1 << 12, processes),
        iommu(rig.parts(options.gpus)
                  .add(std::make_unique<LeastTlbIommu>(rig.partition(options.gpus), rig.iommu(), rig.wire(options.gpus),
                                                       spec, spills, options.gpus))) {
    for (unsigned g = 0; g < options.gpus; ++g) {
      gpus.push_back(&rig.parts(g).add(
          std::make_unique<LeastTlbGpu>(rig.partition(g), rig.l2(g), rig.wire(g), rig.host_device(), spec, spills)));
    }
  }

  /// The pages of a TLB, in order.
  static std::vector<std::uint64_t> pages(const Tlb& tlb) {
    std::vector<std::uint64_t> out;
    tlb.for_each([&](const Tlb::Entry& entry) { out.push_back(entry.page.number()); });
    std::ranges::sort(out);
    return out;
  }
  std::vector<std::uint64_t> l2(unsigned g) { return pages(rig.l2(g).array()); }
  std::vector<std::uint64_t> in_iommu() { return pages(rig.iommu().tlb()); }
  bool tracked(unsigned g, std::uint64_t number, Pid pid = 0) const {
    return iommu.tracker().told(gpu_id(g)).look_up(filter_key(PageKey{pid, number})) != CuckooFilter::Match::None;
  }
  std::vector<std::uint32_t> counters() const {
    std::vector<std::uint32_t> out;
    for (std::size_t g = 0; g < iommu.counters().size(); ++g) out.push_back(iommu.counters()[g]);
    return out;
  }
  std::uint64_t walks() { return rig.iommu().walkers().stats().walks[static_cast<std::size_t>(WalkKind::Demand)]; }

  Rig rig;
  LeastTlbIommu& iommu;
  std::vector<LeastTlbGpu*> gpus;
};

}  // namespace nearfar
