// Page requests of GPUs without page tables (PRI). A GPU whose translation the IOMMU could not find asks the host for
// the page; the UVM driver takes the requests in batches, places the page, and answers; the GPU asks the IOMMU again.
#pragma once

#include <string>

#include "sim/pool.h"
#include "translation/host_mmu/host_mmu.h"
#include "translation/iommu/iommu.h"
#include "translation/uvm/driver.h"

namespace nearfar {

class PageRequests final : public HostTables {
 public:
  PageRequests(Partition& partition, const UvmOptions& options, FrameAllocator& frames, Iommu& iommu,
               Messenger& messenger, HostCaches& caches, TranslationOracle* oracle);

  void on_message(const Message& message);
  UvmDriver& driver() { return driver_; }
  bool idle() const { return requests_.live() == 0 && driver_.idle(); }
  std::string describe_waiting() const { return driver_.describe_waiting(); }

  void forget(PageKey page) override;
  void publish(PageKey page, const Mapping& mapping) override;
  void walk_for(PageKey page) override { driver_.host_walk_done(page); }
  void answered(Fault* request) override { requests_.release(request); }
  bool can_write_back(PhysPage page) override { return caches_.can_write_back(page); }
  void write_back(PhysPage page) override { caches_.write_back(page); }
  void page_came(PhysPage from, PhysPage to) override { caches_.page_came(from, to); }

 private:
  Partition& partition_;
  PageSize size_;
  Iommu& iommu_;
  HostCaches& caches_;
  TranslationOracle* oracle_;
  UvmDriver driver_;
  Pool<Fault, 256> requests_;  ///< not yet answered
};

}  // namespace nearfar
