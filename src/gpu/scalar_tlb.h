// The TLB that the scalar loads of a shader array use where it has one of its own (gpu.scalar_tlb: array), beside its
// scalar cache. What misses waits here for the GPU's L2 TLB.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "gpu/compute_unit.h"
#include "memory/cache/mshr.h"
#include "translation/tlb/l2_tlb.h"
#include "translation/tlb/tlb.h"

namespace nearfar {

class ScalarTlb {
 public:
  ScalarTlb(GpuContext& context, unsigned array);

  /// The L2 TLB knows it by this number, behind those of the compute units.
  unsigned requester() const { return context_.spec.cus() + array_; }

  /// A mapping, or null: then wait() follows.
  const Mapping* look_up(PageKey page);
  /// A scalar load of a wavefront waits for the translation of its page, or for an MSHR to ask for it with.
  void wait(unsigned cu, unsigned slot, PageKey key, VirtPage page);
  /// A translation that was asked for has come.
  template <class Units>
  void translated(PageKey key, const Mapping& mapping, Units& units);
  /// A mapping is void.
  void forget(PageKey page) { tlb_.erase(page); }

  bool idle() const { return mshrs_.used() == 0 && no_mshr_.empty(); }
  L1TlbStats& stats() { return stats_; }

 private:
  struct Waiting {
    std::uint16_t cu = 0;
    std::uint16_t slot = 0;
    VirtPage page;
  };

  GpuContext& context_;
  unsigned array_;
  Tlb tlb_;
  LookupPort port_;
  MshrFile<std::vector<Waiting>, PageKey> mshrs_;
  std::vector<Waiting> no_mshr_;  ///< in order
  L1TlbStats stats_;
};

template <class Units>
void ScalarTlb::translated(PageKey key, const Mapping& mapping, Units& units) {
  tlb_.insert(key, mapping);
  // Whoever drops what the array holds of a page goes by compute units: its first one stands for all.
  if (context_.tracker != nullptr) context_.tracker->add_user(mapping.page, array_ * context_.spec.cus_per_array);
  auto* entry = mshrs_.find(key);
  const std::vector<Waiting> waiting = std::move(entry->payload);
  mshrs_.release(*entry);
  for (const Waiting& load : waiting) units[load.cu].scalar_translated(load.slot, key, mapping, load.page);
  for (const Waiting& load : std::exchange(no_mshr_, {})) units[load.cu].look_up_scalar_again(load.slot);
}

}  // namespace nearfar
