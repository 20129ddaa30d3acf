// least-TLB in a GPU: tells the IOMMU what leaves the L2 TLB, answers its questions, and keeps what it spills.
#pragma once

#include <cstdint>

#include "designs/least_tlb/least_tlb_spec.h"
#include "designs/least_tlb/spill_state.h"
#include "sim/partition.h"
#include "stats/stat.h"
#include "translation/design_component.h"
#include "translation/tlb/l2_tlb.h"

namespace nearfar {

struct LeastTlbGpuStats {
  std::uint64_t remote_lookups = 0;
  std::uint64_t remote_lookup_hits = 0;
  std::uint64_t spill_fills = 0;
  std::uint64_t spills_refused = 0;
  std::uint64_t spill_drops = 0;
  Histogram chain_length;

  void describe(StatVisitor& visitor);
};

class LeastTlbGpu final : public DesignComponent, public L2TlbVictims {
 public:
  LeastTlbGpu(Partition& partition, L2Tlb& tlb, Messenger& messenger, DeviceId host, const LeastTlbSpec& spec,
              bool multi);

  void evicted(const Tlb::Entry& victim) override;

  const char* name() const override { return "least_tlb"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }
  bool on_message(const Message& message) override;
  void check() const override;

  LeastTlbGpuStats& stats() { return stats_; }

 private:
  void on_lookup(TranslationPacket* lookup);
  void take_spill(const Message& message);
  void spill_gone(PageKey page);
  void end_chain();

  Partition& partition_;
  L2Tlb& tlb_;
  Messenger& messenger_;
  DeviceId host_;
  LeastTlbSpec spec_;
  bool multi_;
  std::uint32_t chain_ = 0;  ///< while a spill is being taken: spills that led to it
  HandlerId lookup_handler_;
  LeastTlbGpuStats stats_;
};

}  // namespace nearfar
