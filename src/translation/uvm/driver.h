// The UVM driver: takes far faults in batches and decides what each leads to: a mapping where the page lies, or a
// migration. What it knows of pages is in records.h, how pages move in migration.h, when answers leave in answers.h.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "sim/partition.h"
#include "translation/address_space.h"
#include "translation/host_mmu/fault.h"
#include "translation/host_mmu/host_seams.h"
#include "translation/message.h"
#include "translation/miss.h"
#include "translation/translation_oracle.h"
#include "translation/uvm/answers.h"
#include "translation/uvm/host_tables.h"
#include "translation/uvm/migration.h"
#include "translation/uvm/placement.h"
#include "translation/uvm/records.h"
#include "translation/uvm/tree_prefetcher.h"
#include "translation/uvm/uvm_stats.h"

namespace nearfar {

class UvmDriver final : public MigrationClient {
 public:
  UvmDriver(Partition& partition, const UvmOptions& options, FrameAllocator& frames, HostTables& tables,
            Messenger& messenger, LatencyLedger& parts, TranslationOracle* oracle);

  PageRecord& record(PageKey page) { return records_.of(page); }
  /// The record of a page that the machine fills before the first cycle.
  PageRecord& new_record(PageKey page) { return records_.fresh(page); }
  /// A frame that is in use then, for good, or for a page that may leave it.
  void note_resident(PhysPage frame) { records_.note_resident(frame); }
  void note_resident(PageKey page, PhysPage frame) { records_.note_resident(page, frame); }
  void add_process(Pid pid, std::uint64_t first, std::uint64_t pages) { records_.add_process(pid, first, pages); }

  // The seams.
  void set_directory(MappingDirectory& directory) { migrations_.set_directory(directory); }
  void set_residency_observer(ResidencyObserver& observer) { migrations_.set_residency_observer(observer); }
  void set_forwarder(Forwarder& forwarder) { forwarder_ = &forwarder; }
  /// Tells them of a page as it is before the first cycle.
  void tell_at_start(PageKey page) { migrations_.tell_at_start(page); }

  /// A fault whose translation has been looked up.
  void take(Fault* fault);
  void host_walk_done(PageKey page) { migrations_.host_walk_done(page); }
  void on_message(const Message& message);
  /// Whether a fault would be answered with a mapping of its page where that lies. The page must not be moving.
  bool would_map(const Fault& fault);
  /// A GPU may be sent a mapping by another.
  void note_holder(PageKey page, DeviceId gpu) { migrations_.note_holder(page, gpu); }
  /// Puts a fault's time since its stamp to a component.
  void charge(Fault& fault, LatencyComponent part) { parts_.charge(fault.time, fault.gpu, fault.page, part); }
  void charge(Fault& fault, LatencyComponent part, Cycle until) {
    parts_.charge(fault.time, fault.gpu, fault.page, part, until);
  }
  /// The directory's answer for a page that moves.
  void targets_known(PageKey page, const GpuSet& gpus) { migrations_.targets_known(page, gpus); }

  void migration_ended(std::span<const DeviceId> places, FaultQueue parked) override;

  UvmStats& stats() { return stats_; }
  /// None where nothing is fetched ahead.
  TreePrefetcher* prefetcher() { return prefetcher_.get(); }
  /// A batch that is not complete has a migration.
  bool idle() const {
    return migrations_.idle() && input_.empty() && waiting_.empty() && !busy_ && handed_on_.empty() && retained_ == 0;
  }
  std::string describe_waiting() const;

 private:
  PlacementAction action_of(const PageRecord& record, const Fault& fault) const;
  void take_batch();
  void fetch_at(Cycle when);
  void on_fetch(IndexEvent* fetch);
  void on_batch(Event* event);
  void on_act(Event* event);
  void decide(Fault* fault);
  bool is_retained(const PageRecord& record) const;
  void retain(Fault* fault, Cycle until);
  void on_retained(PointerEvent<Fault>* event);
  void decide_all(FaultQueue faults, LatencyComponent waited);
  bool close_answered(Fault* fault, const PageRecord& record);
  void prefetch(PageKey page, DeviceId gpu);
  void map(Fault* fault, PageRecord& record);
  void move_requested(const Message& message);
  bool make_room(DeviceId gpu, Fault* fault);
  void retry_room(DeviceId gpu);

  Partition& partition_;
  UvmOptions options_;
  HostTables& tables_;
  Messenger& messenger_;
  LatencyLedger& parts_;
  UvmStats stats_;
  std::unique_ptr<PlacementRule> placement_;
  PageRecords records_;
  AnswerSender answers_;
  Migrations migrations_;
  std::unique_ptr<TreePrefetcher> prefetcher_;
  Forwarder* forwarder_ = nullptr;
  FaultQueue input_;
  std::vector<Fault*> batch_;                  ///< being fetched
  std::deque<std::vector<Fault*>> handed_on_;  ///< fetched, in software
  bool busy_ = false;
  bool collects_ = false;                            ///< waits for a fuller batch
  std::uint32_t fetches_ = 0;                        ///< that have been scheduled: the last one counts
  std::uint32_t deciding_ = AnswerSender::kNoBatch;  ///< per-batch: whose faults are being decided
  FaultQueue waiting_;                               ///< decided when fewer migrations are under way
  std::uint32_t retained_ = 0;                       ///< faults that wait until a page may leave the GPU it came to
  HandlerId fetch_handler_;
  HandlerId batch_handler_;
  HandlerId act_handler_;
  HandlerId retained_handler_;
};

}  // namespace nearfar
