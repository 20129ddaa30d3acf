// How the L2 TLB of a GPU without page tables reaches the IOMMU: over the link to the host, or, where GPU and host
// share memory, over a hop of its own.
#pragma once

#include <cstdint>

#include "sim/partition.h"
#include "translation/gmmu/gmmu.h"
#include "translation/iommu/iommu.h"
#include "translation/message.h"
#include "translation/page_event.h"
#include "translation/tlb/l2_tlb.h"

namespace nearfar {

class AtsPort final : public MissHandler {
 public:
  AtsPort(Partition& partition, DeviceId host, L2Tlb& tlb, Messenger& messenger, PageCaches& caches)
      : partition_(partition), host_(host), tlb_(tlb), messenger_(messenger), caches_(caches) {
    tlb.set_handler(*this);
  }

  void missed(PageKey page, Miss& miss) override;
  void on_message(const Message& message);

 private:
  void response_came(const Message& message);
  void page_placed(const Message& message);

  Partition& partition_;
  DeviceId host_;
  L2Tlb& tlb_;
  Messenger& messenger_;
  PageCaches& caches_;
};

class SvmPort final : public MissHandler, public IommuClient {
 public:
  SvmPort(Partition& partition, const IommuSpec& iommu, const WalkSpec& walk, const PageTableSpec& table, L2Tlb& tlb,
          WalkMemory& memory);

  void missed(PageKey page, Miss& miss) override;
  void iommu_answers(DeviceId gpu, PageKey page, const Mapping* mapping, std::uint32_t accounted) override;

  Iommu& iommu() { return iommu_; }

 private:
  /// On its way back.
  struct Answer : PageEvent {
    Mapping mapping;
    std::uint32_t accounted = 0;
    bool found = false;  ///< there is a mapping
  };

  void on_request(PageEvent* request);
  void on_answer(Answer* answer);

  Partition& partition_;
  Cycle hop_;
  L2Tlb& tlb_;
  LookupPort out_{1};
  LookupPort back_{1};
  HandlerId request_handler_;
  HandlerId answer_handler_;
  Iommu iommu_;
};

}  // namespace nearfar
