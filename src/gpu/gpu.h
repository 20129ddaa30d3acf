// A GPU: shader arrays of compute units and their dispatcher over a banked L2, memory and a port to the interconnect.
// What leaves an L1, and what comes back to it, passes here.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coherence/coherence_controller.h"
#include "config/system_spec.h"
#include "gpu/compute_unit.h"
#include "gpu/copy_agent.h"
#include "gpu/dispatcher.h"
#include "gpu/gpu_context.h"
#include "gpu/remote_home.h"
#include "gpu/scalar_cache.h"
#include "gpu/scalar_tlb.h"
#include "interconnect/egress.h"
#include "interconnect/network_interface.h"
#include "interconnect/store_ingress.h"
#include "interconnect/useful_bytes.h"
#include "memory/cache/l2_cache.h"
#include "sim/watched.h"
#include "translation/design_component.h"
#include "translation/gmmu/gmmu.h"
#include "translation/iommu/iommu_ports.h"
#include "translation/process.h"
#include "translation/walk/table_reader.h"

namespace nearfar {

class Gpu final : public NetworkClient,
                  public L2Client,
                  public EgressClient,
                  public TranslationClient,
                  public Messenger,
                  public PageCaches,
                  public CoherenceClient,
                  public WalkMemory,
                  public Watched {
 public:
  Gpu(Partition& partition, const SystemSpec& spec, const Topology& topology, const std::vector<Process>& processes,
      ByteMaskPool& masks, DataWatch* watch, TranslationOracle* translation_oracle);

  // The path of an access: what leaves an L1, and what comes back to it.
  void lines_served(LineRequest* request) override;
  void stores_ordered(unsigned cu, PhysPage page, unsigned lines) override {
    cus_[cu].load_store().stores_ordered(page, lines);
  }
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
  void l2_has_room(Waiter waiter) override { wake_load_store(waiter); }
  void flushed() override { dispatcher_.flushed(); }
  void remote_lines_released(Waiter waiter) override { released(waiter); }

  void on_request(LineRequest* request, Spacing spacing) override {
    if (ingress_) {
      ingress_->on_request(request, spacing);
    } else {
      l2_.remote_request(request, spacing);
    }
  }
  void on_reply(LineRequest* reply) override;
  void on_control(Packet* packet) override { dispatcher_.on_control(packet); }
  void on_copy(Packet* packet) override { copies_.on_message(static_cast<CopyMessage*>(packet)); }
  void on_message(Packet* packet) override;
  void prepare(const Packet& packet) const override;
  void on_coherence(Packet* packet) override { coherence_->on_message(static_cast<CoherenceMessage*>(packet)); }
  void boundary_settled(std::uint8_t application) override { dispatcher_.boundary_settled(application); }
  void fence_settled(unsigned cu) override { cus_[cu].fence_settled(); }
  void on_hierarchy(Packet* packet) override { context_.level->on_message(packet); }
  void on_stores(StorePacket* packet) override { ingress_->on_stores(packet); }
  void stores_drained(DeviceId from, std::uint32_t count) override { egress_->drained(from, count); }
  void store_credits_came(DeviceId from) override { egress_->credits_came(from); }
  void stores_accepted(unsigned unit, PhysPage page, unsigned lines) override { stores_ordered(unit, page, lines); }
  void released(Waiter waiter) override;
  void network_has_room(Waiter waiter) override {
    if (L2Cache::is_bank(waiter)) {
      l2_.remote_has_room(waiter);
    } else {
      wake_load_store(waiter);
    }
  }

  // Translation: answers to the compute units, messages, and what the migration of a page asks of the caches.
  void translated(unsigned cu, PageKey page, const Mapping& mapping) override;
  void forget(PageKey page, PhysPage frame) override;
  void translate_again(PageKey page, PhysPage frame) override;
  void send(DeviceId to, const Message& message) override;
  void drop_copies(PhysPage page) override;
  void drop_lines(PhysPage page) override;
  bool can_write_back(PhysPage page) override;
  void write_back(PhysPage page, bool moves) override;
  void page_came(PhysPage from, PhysPage to) override;
  void frame_reused(PhysPage page) override;
  void read_table(PhysLine line, Event* event, HandlerId done, Cycle delay) override;
  const PageTouches& touches() const { return touches_; }
  DeviceId device() const { return partition_.device(); }
  L2Tlb* l2_tlb() { return l2_tlb_.get(); }
  Gmmu* gmmu() { return gmmu_.get(); }
  AtsPort* ats() { return ats_.get(); }
  SvmPort* svm() { return svm_.get(); }
  Partition& partition() { return partition_; }
  std::size_t applications() const { return applications_; }
  Dispatcher& dispatcher() { return dispatcher_; }
  DesignComponents& parts() { return parts_; }
  /// Null but in a unified memory hierarchy.
  MemoryLevel* level() { return context_.level; }
  /// None where remote lines in L2 caches are dropped at boundaries, or there are none.
  CoherenceController* coherence() { return coherence_.get(); }
  // The seams of cache replacement, for a design's plug-in: each L1, and each bank of the L2, gets a policy of its own.
  void set_l1v_replacement(const MakeCacheReplacement& make);
  void set_l1s_replacement(const MakeCacheReplacement& make);
  void set_l2_replacement(const MakeCacheReplacement& make) { l2_.set_replacement(make); }
  /// Its caches count which events meet which states of a line.
  void cover(ProtocolCoverage& coverage);
  /// Its compute units say what they access.
  void record(RequestTimeline* timeline) {
    context_.timeline = timeline;
    if (context_.level != nullptr) context_.level->record(timeline);
  }
  /// The oracles watch this run.
  bool checked() const { return watch_ != nullptr; }

  /// Visits the statistics of every component with its place in the GPU ("l2", "cu3.l1v"; "" for the GPU itself).
  template <class Visit>
  void for_each_stats(Visit visit);

  /// Adds what this GPU knows of where loads spent their time: its own loads, and the stages it was the home of.
  void add_latency(LoadLatency& sum) const {
    sum.add_loads(context_.latency);
    sum.add_stages(l2_.latency());
  }
  NetworkInterface& network() { return network_; }
  L2Cache& l2() { return l2_; }
  Egress* egress() { return egress_.get(); }
  StoreIngress* ingress() { return ingress_.get(); }
  const UsefulBytes* useful() const { return useful_.get(); }
  CopyAgent& copies() { return copies_; }
  bool idle();
  std::string describe_waiting();
  bool computes() const override;
  bool starves() override;

 private:
  void on_leave(LineRequest* request);
  void wake_load_store(Waiter waiter) { cus_[LoadStoreUnit::unit_of(waiter)].load_store().wake(waiter); }
  void make_coherence(const SystemSpec& spec, const std::vector<Process>& processes);
  void make_translation(const SystemSpec& spec, TranslationOracle* oracle);
  void post_stores(const SystemSpec& spec, ByteMaskPool& masks);
  void follow_useful_bytes(const std::vector<Process>& processes);

  Partition& partition_;
  GpuSpec spec_;
  std::size_t applications_;
  Topology topology_;
  DataWatch* watch_;
  GpuContext context_;
  L2Cache l2_;
  NetworkInterface network_;
  RemoteHome remote_home_;
  std::unique_ptr<CoherenceController> coherence_;
  std::unique_ptr<Egress> egress_;  ///< where stores are posted
  std::unique_ptr<StoreIngress> ingress_;
  std::unique_ptr<UsefulBytes> useful_;
  Dispatcher dispatcher_;
  CopyAgent copies_;
  std::vector<ScalarCache> scalars_;
  std::vector<ScalarTlb> scalar_tlbs_;  ///< by shader array, where they have TLBs of their own
  std::vector<ComputeUnit> cus_;

  TranslationSpec translation_;
  PageTouches touches_;
  PageSize page_size_;
  std::uint64_t page_pieces_;  ///< of 4 KiB, that a page goes over the links as
  Cycle memory_hop_;
  bool replicates_;
  std::unique_ptr<L2Tlb> l2_tlb_;               ///< none: translation is ideal
  std::unique_ptr<PageAccessTracker> tracker_;  ///< where pages can move
  std::unique_ptr<Gmmu> gmmu_;                  ///< mmu
  std::unique_ptr<AtsPort> ats_;                ///< ats
  std::unique_ptr<SvmPort> svm_;                ///< svm
  DesignComponents parts_;
  TableReader table_reader_;
};

template <class Visit>
void Gpu::for_each_stats(Visit visit) {
  for (ComputeUnit& cu : cus_) {
    const std::string name = "cu" + std::to_string(cu.index());
    visit(name, "cu", cu.stats());
    visit(name + ".l1v", "l1v", cu.load_store().l1().stats());
    if (l2_tlb_) visit(name + ".l1_tlb", "l1_tlb", cu.load_store().tlb_stats());
  }
  for (std::size_t i = 0; i < scalars_.size(); ++i) {
    visit("array" + std::to_string(i) + ".l1s", "l1s", scalars_[i].l1().stats());
  }
  for (std::size_t i = 0; i < scalar_tlbs_.size(); ++i) {
    visit("array" + std::to_string(i) + ".scalar_tlb", "scalar_tlb", scalar_tlbs_[i].stats());
  }
  visit("", "l2", l2_.stats());
  if (l2_.caches_remote_lines()) {
    visit("", "l2.remote", l2_.remote_stats());
    if (l2_.keeps_stores()) visit("", "l2.remote.write_back", l2_.write_back_stats());
    visit("", "l2.lookup", l2_.lookup_stats());
  }
  if (coherence_) {
    visit("", "directory", coherence_->directory().stats());
    visit("", "invalidation", coherence_->stats());
    visit("", "invalidation", l2_.invalidation_stats());
  }
  DramStats dram = l2_.dram().stats();
  visit("", "dram", dram);
  visit("", "link", network_.stats());
  if (network_.has_link_layer()) visit("", "link_layer", network_.link_layer_stats());
  if (egress_) {
    visit("", "egress", egress_->stats());
    visit("", "ingress", ingress_->stats());
  }
  if (useful_) {
    UsefulStats useful = useful_->stats();
    visit("", "egress", useful);
    UsefulCopyStats copied = useful_->copy_stats();
    visit("", "copy", copied);
    visit("", "copy", copies_.stats());
  }
  if (l2_tlb_) {
    visit("", "l2_tlb", l2_tlb_->stats());
    if (l2_tlb_->sub_entry_use() != nullptr) visit("", "l2_tlb", *l2_tlb_->sub_entry_use());
    visit("", "l2_miss", l2_tlb_->miss_stats());
  }
  if (svm_) {
    MissStats beside = svm_->iommu().parts().of(partition_.device());
    visit("", "l2_miss", beside);
  }
  if (gmmu_) {
    visit("", "gmmu", gmmu_->stats());
    visit("", "gmmu", gmmu_->walkers().stats());
  }
  for (const auto& part : parts_) visit("", part->name(), *part);
}

}  // namespace nearfar
