// TLB probing on a ring, in one GPU: a miss of the L2 TLB asks the L2 TLBs of its neighbours before the IOMMU.
//
// A miss has one probe at a time, with a number; answers to an older one are late and dropped. Where the IOMMU is asked
// at once too, the answers that come after a neighbour's are counted and dropped in order: the IOMMU answers the
// requests of one GPU for one page in the order in which they came.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <vector>

#include "sim/partition.h"
#include "stats/stat.h"
#include "translation/design_component.h"
#include "translation/tlb/l2_tlb.h"

namespace nearfar {

class Section;

struct TlbProbingSpec {
  std::uint32_t hops = 1;
  bool overlap = false;

  void describe(Section& section);
};

struct TlbProberStats {
  std::uint64_t probes = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t late = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t remote_lookups = 0;
  std::uint64_t remote_lookup_hits = 0;

  void describe(StatVisitor& visitor);
};

class TlbProber final : public DesignComponent, public MissHandler {
 public:
  /// Takes the place of the L2 TLB's handler, which it asks when its neighbours know nothing.
  TlbProber(Partition& partition, L2Tlb& tlb, Messenger& messenger, const TlbProbingSpec& spec, unsigned gpus);

  void missed(PageKey page, Miss& miss) override;
  void answered(PageKey page) override { below_.answered(page); }
  bool has_prefetch_room() const override { return below_.has_prefetch_room(); }

  const char* name() const override { return "tlb_probing"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }
  bool on_message(const Message& message) override;
  bool idle() const override { return probes_.empty() && to_drop_.empty(); }

  const std::vector<DeviceId>& neighbours() const { return neighbours_; }
  TlbProberStats& stats() { return stats_; }

 private:
  struct Probe {
    std::uint32_t number = 0;
    std::uint32_t left = 0;  ///< neighbours that have not answered
  };

  void on_lookup(TranslationPacket* lookup);
  void take_reply(const Message& reply);
  void charge(Miss& miss, const Message& reply);
  bool take_response(PageKey page);

  Partition& partition_;
  L2Tlb& tlb_;
  MissHandler& below_;
  Messenger& messenger_;
  TlbProbingSpec spec_;
  std::vector<DeviceId> neighbours_;
  boost::unordered_flat_map<std::uint64_t, Probe> probes_;  ///< by page
  boost::unordered_flat_map<std::uint64_t, std::uint32_t>
      to_drop_;  ///< by page: answers of the IOMMU that are too late
  std::uint32_t next_number_ = 0;
  HandlerId lookup_handler_;
  TlbProberStats stats_;
};

}  // namespace nearfar
