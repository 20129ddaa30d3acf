// The host: its last-level cache and memory, which GPUs may reach over the links, its part of translation, and the
// command processor that launches the applications' kernels.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "config/system_spec.h"
#include "gpu/copy_agent.h"
#include "host/command_processor.h"
#include "host/copy_engine.h"
#include "host/home_line_port.h"
#include "host/host_agent.h"
#include "interconnect/network_interface.h"
#include "interconnect/store_ingress.h"
#include "memory/cache/l2_cache.h"
#include "translation/design_component.h"
#include "translation/host_mmu/host_mmu.h"
#include "translation/iommu/iommu.h"
#include "translation/iommu/page_requests.h"
#include "translation/process.h"
#include "translation/walk/table_reader.h"

namespace nearfar {

class Host final : public NetworkClient,
                   public L2Client,
                   public Messenger,
                   public HostCaches,
                   public IommuClient,
                   public WalkMemory {
 public:
  Host(Partition& partition, const SystemSpec& spec, const Topology& topology, const std::vector<Process>& processes,
       FrameAllocator& frames, ByteMaskPool& masks, DataWatch* watch, TranslationOracle* translation_oracle);

  void lines_served(LineRequest* request) override {
    request->kind == RequestKind::TableRead ? table_reader_.served(request) : lines_.served(request);
  }
  void stores_ordered(unsigned number, PhysPage, unsigned) override { lines_.ordered(number); }
  void answer(LineRequest* request, Cycle after) override {
    if (StoreIngress::is_posted(*request)) {
      ingress_->written(request, after);
    } else {
      network_.answer(request, after);
    }
  }
  Spacing reply_spacing(const LineRequest& request) const override { return network_.reply_spacing(request); }
  void requests_taken(const LineRequest& request, std::uint32_t count) override {
    if (!StoreIngress::is_posted(request)) network_.requests_taken(request.requester(), count);
  }
  void l2_has_room(Waiter) override {}
  void flushed() override {}

  void on_request(LineRequest* request, Spacing spacing) override {
    if (ingress_) {
      ingress_->on_request(request, spacing);
    } else {
      llc_.remote_request(request, spacing);
    }
  }
  void on_hierarchy(Packet* packet) override { level_->on_message(packet); }
  void on_stores(StorePacket* packet) override { ingress_->on_stores(packet); }
  void on_reply(LineRequest* reply) override { lines_.served(reply); }
  void on_control(Packet* packet) override { commands_.on_control(packet); }
  void on_copy(Packet* packet) override { copies_.on_message(static_cast<CopyMessage*>(packet)); }
  void on_message(Packet* packet) override;
  void network_has_room(Waiter) override {}

  void send(DeviceId to, const Message& message) override;
  bool can_write_back(PhysPage page) override;
  void write_back(PhysPage page) override;
  void page_came(PhysPage from, PhysPage to) override;
  void iommu_answers(DeviceId gpu, PageKey page, const Mapping* mapping, std::uint32_t accounted) override;
  void read_table(PhysLine line, Event* event, HandlerId done, Cycle delay) override {
    table_reader_.read(line, event, done, delay);
  }
  HostMmu* mmu() { return mmu_.get(); }
  Iommu* iommu() { return iommu_.get(); }
  PageRequests* page_requests() { return page_requests_.get(); }
  /// What the GPUs' L2 TLB misses waited for here; none where translation needs nothing of the host.
  const ServedMisses* served_misses() const {
    if (mmu_) return &mmu_->parts();
    return iommu_ ? &iommu_->parts() : nullptr;
  }
  std::size_t applications() const { return applications_; }
  Partition& partition() { return partition_; }
  DesignComponents& parts() { return parts_; }
  /// Null but in a unified memory hierarchy.
  HostMemoryLevel* level() { return level_; }
  /// The oracles watch this run.
  bool checked() const { return watch_ != nullptr; }

  CommandProcessor& commands() { return commands_; }
  CopyEngine& dma() { return dma_; }
  HostAgent& core() { return core_; }
  CopyAgent& copies() { return copies_; }
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
    if (network_.has_link_layer()) visit("link_layer", network_.link_layer_stats());
    if (ingress_) visit("ingress", ingress_->stats());
    if (spec_.follows_useful_bytes()) visit("copy", copies_.stats());
    if (mmu_) {
      visit("mmu", mmu_->stats());
      visit("mmu", mmu_->walkers().stats());
    }
    for (const auto& part : parts_) visit(part->name(), *part);
  }

 private:
  Partition& partition_;
  const SystemSpec& spec_;
  std::size_t applications_;
  DataWatch* watch_;
  L2Cache llc_;
  NetworkInterface network_;
  CopyAgent copies_;
  CopyEngine dma_;
  HomeLinePort lines_;
  HostAgent core_;
  CommandProcessor commands_;
  TableReader table_reader_;
  std::unique_ptr<StoreIngress> ingress_;        ///< where GPUs post their stores
  std::unique_ptr<HostMmu> mmu_;                 ///< mmu
  std::unique_ptr<Iommu> iommu_;                 ///< ats; mig: the L3 TLB of the instances and their walkers
  std::unique_ptr<PageRequests> page_requests_;  ///< ats, where pages move
  DesignComponents parts_;
  HostMemoryLevel* level_ = nullptr;  ///< in a unified memory hierarchy, among the parts
};

}  // namespace nearfar
