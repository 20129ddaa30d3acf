// least-TLB in the IOMMU: its TLB holds what L2 TLBs gave up, and nothing that one of them is known to hold.
//
//   hit          the entry leaves for the GPU that asked
//   miss         a walk starts, and beside it a GPU is asked whose L2 TLB may hold the page; the first answer counts
//   walk         fills nothing here
//   L2 victim    enters; what leaves for it is dropped (single) or spilled to the L2 TLB of another GPU (multi)
//
// What can race: a victim on the link is in neither TLB, so a request that comes then walks. A walk's answer and a
// GPU's answer: the pending table takes the first and counts the second. A question sent after a spill finds it, for
// both go the same way in order; so do a victim and the next request of its GPU. A reply carries the number of the
// entry that asked, which stays until all its questions are answered.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "designs/least_tlb/eviction_counters.h"
#include "designs/least_tlb/least_tlb_spec.h"
#include "designs/least_tlb/spill_state.h"
#include "designs/least_tlb/tlb_tracker.h"
#include "sim/partition.h"
#include "stats/stat.h"
#include "translation/design_component.h"
#include "translation/iommu/iommu.h"

namespace nearfar {

struct LeastTlbProcessStats {
  std::uint64_t remote_forwards = 0;
  std::uint64_t remote_hits = 0;
  std::uint64_t remote_misses = 0;
  std::uint64_t spills = 0;

  /// Names end in `suffix`: nothing for the sum over all processes, .pid<p> for one.
  void describe(StatVisitor& visitor, const std::string& suffix);
};

struct LeastTlbIommuStats {
  LeastTlbProcessStats all;
  std::vector<LeastTlbProcessStats> by_process;  ///< multi
  std::uint64_t remote_late = 0;
  std::uint64_t victims = 0;
  std::uint64_t discards = 0;
  Histogram chain_length;

  void describe(StatVisitor& visitor);
};

class LeastTlbIommu final : public DesignComponent, public IommuContent {
 public:
  LeastTlbIommu(Partition& partition, Iommu& iommu, Messenger& messenger, const LeastTlbSpec& spec, bool multi,
                unsigned gpus);

  void hit(const Tlb::Entry& entry, DeviceId gpu) override;
  bool missed(PendingTranslation& pending) override;
  void walked(const PendingTranslation& pending, const Mapping& mapping) override;

  const char* name() const override { return "least_tlb"; }
  void describe(StatVisitor& visitor) override;
  bool on_message(const Message& message) override;
  void check() const override;

  TlbTracker& tracker() { return tracker_; }
  const EvictionCounters& counters() const { return counters_; }
  LeastTlbIommuStats& stats() { return stats_; }

 private:
  void ask(PendingTranslation& pending, DeviceId gpu);
  void reply_came(const Message& message);
  void on_late_reply(TranslationPacket* waiting);
  void take_reply(const Message& message);
  void take_victim(const Message& message);
  bool spill(const Tlb::Entry& entry, std::uint32_t chain);
  void note_held(const PendingTranslation& pending);
  template <class Update>
  void count(PageKey page, Update update);

  Partition& partition_;
  Iommu& iommu_;
  Messenger& messenger_;
  LeastTlbSpec spec_;
  bool multi_;
  unsigned gpus_;
  TlbTracker tracker_;
  EvictionCounters counters_;
  std::vector<Cycle> asked_;  ///< by pending translation: when its GPUs were asked
  HandlerId late_handler_;
  LeastTlbIommuStats stats_;
};

}  // namespace nearfar
