// A GPU: shader arrays of compute units over a banked L2, memory and a port to the interconnect; and its dispatcher,
// which starts the workgroups of a launch and carries out the release and acquire at its ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gpu/compute_unit.h"
#include "gpu/control.h"
#include "gpu/remote_home.h"
#include "gpu/scalar_cache.h"
#include "interconnect/network_interface.h"
#include "machine/system_spec.h"
#include "memory/cache/l2_cache.h"
#include "program/split.h"
#include "sim/watched.h"
#include "translation/design_component.h"
#include "translation/gmmu/gmmu.h"
#include "translation/iommu/iommu_ports.h"
#include "translation/walk/table_reader.h"

namespace nearfar {

/// A running application, as every device sees it.
struct Process {
  std::shared_ptr<const Workload> workload;
  std::unique_ptr<AddressSpace> space;
  unsigned first_gpu = 0;
  unsigned gpus = 1;
};

class Gpu final : public NetworkClient,
                  public L2Client,
                  public GroupListener,
                  public TranslationClient,
                  public Messenger,
                  public PageCaches,
                  public WalkMemory,
                  public Watched {
 public:
  Gpu(Partition& partition, const SystemSpec& spec, const Topology& topology, const std::vector<Process>& processes,
      ByteMaskPool& masks, DataWatch* watch, TranslationOracle* translation_oracle);

  // The path of an access: what leaves an L1, and what comes back to it.
  void lines_served(LineRequest* request) override;
  void stores_ordered(unsigned cu, PhysPage page, unsigned lines) override { cus_[cu].stores_ordered(page, lines); }
  void answer(LineRequest* request, Cycle after) override { network_.answer(request, after); }
  Spacing reply_spacing(const LineRequest& request) const override { return network_.reply_spacing(request); }
  void requests_taken(DeviceId source, std::uint32_t count) override { network_.requests_taken(source, count); }
  void l2_has_room(Waiter waiter) override { ComputeUnit::room_freed(cus_, waiter); }
  void flushed() override;

  void on_request(LineRequest* request, Spacing spacing) override { l2_.remote_request(request, spacing); }
  void on_reply(LineRequest* reply) override;
  void on_control(Packet* packet) override;
  void on_message(Packet* packet) override;
  void network_has_room(Waiter waiter) override {
    if (L2Cache::is_bank(waiter)) {
      l2_.remote_has_room(waiter);
    } else {
      ComputeUnit::room_freed(cus_, waiter);
    }
  }

  void group_done(unsigned cu) override;
  void stores_settled() override { try_release(); }

  // Translation: answers to the compute units, messages, and what the migration of a page asks of the caches.
  void translated(unsigned cu, PageKey page, const Mapping& mapping) override { cus_[cu].translated(page, mapping); }
  void forget(PageKey page, PhysPage frame) override;
  void send(DeviceId to, const Message& message) override;
  void drop_copies(PhysPage page) override;
  bool can_write_back(PhysPage page) override;
  void write_back(PhysPage page, bool moves) override;
  void page_came(PhysPage from, PhysPage to) override;
  void frame_reused(PhysPage page) override;
  void read_table(PhysLine line, Transaction* t, HandlerId done) override;
  const PageTouches& touches() const { return touches_; }
  DeviceId device() const { return partition_.device(); }
  L2Tlb* l2_tlb() { return l2_tlb_.get(); }
  Gmmu* gmmu() { return gmmu_.get(); }
  AtsPort* ats() { return ats_.get(); }
  SvmPort* svm() { return svm_.get(); }
  Partition& partition() { return partition_; }
  std::size_t applications() const { return processes_.size(); }
  DesignComponents& parts() { return parts_; }
  /// Its caches count which events meet which states of a line.
  void cover(ProtocolCoverage& coverage);
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
  std::uint64_t instructions() const;
  std::uint64_t accesses() const;
  NetworkInterface& network() { return network_; }
  L2Cache& l2() { return l2_; }
  bool idle();
  std::string describe_waiting();
  bool computes() const override;
  bool starves() override;
  /// Called when an application's first execution has ended on this GPU.
  std::function<void(Gpu&)> on_first_execution;

 private:
  void on_leave(LineRequest* request);
  void start_launch(const Control& control);
  void start_groups();
  bool start_one(unsigned cu);
  std::optional<std::uint64_t> next_group();
  void try_release();
  void execution_ends();
  void tell_host(const Control& control);
  void drop_lines(PhysPage page);
  void make_translation(const SystemSpec& spec, TranslationOracle* oracle);

  Partition& partition_;
  GpuSpec spec_;
  LinkSpec link_;
  const std::vector<Process>& processes_;
  Topology topology_;
  DispatchPolicy dispatch_;
  StartJitter start_jitter_;
  bool write_back_;
  DataWatch* watch_;
  GpuContext context_;
  L2Cache l2_;
  NetworkInterface network_;
  RemoteHome remote_home_;
  std::vector<ScalarCache> scalars_;
  std::vector<ComputeUnit> cus_;

  TranslationSpec translation_;
  PageTouches touches_;
  PageSize page_size_;
  Cycle memory_hop_;
  bool replicates_;
  std::unique_ptr<L2Tlb> l2_tlb_;               ///< none: translation is ideal
  std::unique_ptr<PageAccessTracker> tracker_;  ///< where pages can move
  std::unique_ptr<Gmmu> gmmu_;                  ///< mmu
  std::unique_ptr<AtsPort> ats_;                ///< ats
  std::unique_ptr<SvmPort> svm_;                ///< svm
  DesignComponents parts_;
  TableReader table_reader_;

  bool running_ = false;  ///< from a launch to the end of its stores
  Control launch_;
  bool greedy_ = false;
  bool more_may_come_ = false;
  std::optional<Share> share_;
  std::uint64_t next_in_share_ = 0;
  std::vector<Control> granted_;  ///< greedy: runs of workgroups the host has sent, not yet started
  std::size_t next_granted_ = 0;
  std::uint64_t running_groups_ = 0;
  unsigned next_cu_ = 0;
  Cycle dispatch_free_ = 0;
  std::uint64_t instructions_before_ = 0;
  std::uint64_t accesses_before_ = 0;
};

template <class Visit>
void Gpu::for_each_stats(Visit visit) {
  for (ComputeUnit& cu : cus_) {
    const std::string name = "cu" + std::to_string(cu.index());
    visit(name, "cu", cu.stats());
    visit(name + ".l1v", "l1v", cu.l1_stats());
    if (l2_tlb_) visit(name + ".l1_tlb", "l1_tlb", cu.tlb_stats());
  }
  for (std::size_t i = 0; i < scalars_.size(); ++i) {
    visit("array" + std::to_string(i) + ".l1s", "l1s", scalars_[i].stats());
  }
  visit("", "l2", l2_.stats());
  if (l2_.caches_remote_lines()) visit("", "l2.remote", l2_.remote_stats());
  DramStats dram = l2_.dram().stats();
  visit("", "dram", dram);
  visit("", "link", network_.stats());
  if (l2_tlb_) {
    visit("", "l2_tlb", l2_tlb_->stats());
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
