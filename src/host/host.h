// The host: its last-level cache and memory, which GPUs may reach over the links, and the command processor that
// launches the applications' kernels one after another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "gpu/control.h"
#include "gpu/gpu.h"
#include "interconnect/network_interface.h"
#include "machine/system_spec.h"
#include "memory/cache/l2_cache.h"
#include "translation/design_component.h"
#include "translation/host_mmu/host_mmu.h"
#include "translation/iommu/iommu.h"
#include "translation/iommu/page_requests.h"
#include "translation/walk/table_reader.h"

namespace nearfar {

/// One launch of an application's first execution, from its start to its last GPU's end.
struct LaunchRecord {
  std::size_t application = 0;
  std::size_t launch = 0;
  Cycle start = 0;
  Cycle end = 0;
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;
};

class Host final : public NetworkClient,
                   public L2Client,
                   public Messenger,
                   public HostCaches,
                   public IommuClient,
                   public WalkMemory {
 public:
  Host(Partition& partition, const SystemSpec& spec, const Topology& topology, const std::vector<Process>& processes,
       FrameAllocator& frames, ByteMaskPool& masks, DataWatch* watch, TranslationOracle* translation_oracle);

  /// Launches the first kernel of every application at cycle 0.
  void start();

  void lines_served(LineRequest* request) override { table_reader_.served(request); }  // only walkers read here
  void stores_ordered(unsigned, PhysPage, unsigned) override {}                        // the host has no compute units
  void answer(LineRequest* request, Cycle after) override { network_.answer(request, after); }
  Spacing reply_spacing(const LineRequest& request) const override { return network_.reply_spacing(request); }
  void requests_taken(DeviceId source, std::uint32_t count) override { network_.requests_taken(source, count); }
  void l2_has_room(Waiter) override {}
  void flushed() override {}

  void on_request(LineRequest* request, Spacing spacing) override { llc_.remote_request(request, spacing); }
  void on_reply(LineRequest*) override {}
  void on_control(Packet* packet) override;
  void on_message(Packet* packet) override;
  void network_has_room(Waiter) override {}

  void send(DeviceId to, const Message& message) override;
  bool can_write_back(PhysPage page) override;
  void write_back(PhysPage page) override;
  void page_came(PhysPage from, PhysPage to) override;
  void iommu_answers(DeviceId gpu, PageKey page, const Mapping* mapping, std::uint32_t accounted) override;
  void read_table(PhysLine line, Transaction* t, HandlerId done) override { table_reader_.read(line, t, done); }
  HostMmu* mmu() { return mmu_.get(); }
  Iommu* iommu() { return iommu_.get(); }
  PageRequests* page_requests() { return page_requests_.get(); }
  /// What the GPUs' L2 TLB misses waited for here; none where translation needs nothing of the host.
  const ServedMisses* served_misses() const {
    if (mmu_) return &mmu_->parts();
    return iommu_ ? &iommu_->parts() : nullptr;
  }
  std::size_t applications() const { return processes_.size(); }
  Partition& partition() { return partition_; }
  DesignComponents& parts() { return parts_; }
  /// The oracles watch this run.
  bool checked() const { return watch_ != nullptr; }

  /// Is told when an application's first execution ends.
  std::function<void(std::size_t)> on_first_execution;

  /// Every application has been executed once.
  bool finished() const { return running_ == 0; }
  Cycle end() const { return end_; }
  const std::vector<LaunchRecord>& records() const { return records_; }
  NetworkInterface& network() { return network_; }
  L2Cache& llc() { return llc_; }
  bool idle() const;
  std::string describe_waiting() const;

  template <class Visit>
  void for_each_stats(Visit visit) {
    visit("llc", llc_.stats());
    DramStats dram = llc_.dram().stats();
    visit("dram", dram);
    visit("link", network_.stats());
    if (mmu_) {
      visit("mmu", mmu_->stats());
      visit("mmu", mmu_->walkers().stats());
    }
    for (const auto& part : parts_) visit(part->name(), *part);
  }

 private:
  struct Progress {
    std::size_t launch = 0;
    unsigned gpus_running = 0;
    std::uint64_t next_group = 0;  ///< greedy: first workgroup not yet handed out
    LaunchRecord record;
    bool first = true;  ///< in its first execution
  };

  void on_start(Event* event);
  void launch(std::size_t application);
  void grant(std::size_t application, DeviceId gpu, std::uint64_t groups);
  void share_done(std::size_t application, const Control& control);
  void launch_done(std::size_t application);
  void execution_done(std::size_t application);
  void tell(DeviceId gpu, const Control& control);
  std::uint64_t capacity(const Launch& launch) const;

  Partition& partition_;
  const SystemSpec& spec_;
  Topology topology_;
  const std::vector<Process>& processes_;
  DataWatch* watch_;
  L2Cache llc_;
  NetworkInterface network_;
  std::vector<Progress> progress_;
  std::vector<LaunchRecord> records_;
  std::size_t running_;
  Cycle end_ = 0;
  HandlerId start_handler_;
  TableReader table_reader_;
  std::unique_ptr<HostMmu> mmu_;                 ///< mmu
  std::unique_ptr<Iommu> iommu_;                 ///< ats
  std::unique_ptr<PageRequests> page_requests_;  ///< ats, where pages move
  DesignComponents parts_;
};

}  // namespace nearfar
