// The UVM driver: takes far faults in batches, decides where pages go, and moves them. It owns the host's record of
// every page; a page that moves is locked, and faults for it park until it has arrived.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "sim/partition.h"
#include "stats/stat.h"
#include "translation/address_space.h"
#include "translation/host_mmu/fault.h"
#include "translation/host_mmu/host_seams.h"
#include "translation/message.h"
#include "translation/miss.h"
#include "translation/translation_oracle.h"
#include "translation/translation_spec.h"
#include "translation/uvm/placement.h"

namespace nearfar {

struct UvmStats {
  std::uint64_t faults = 0;
  std::uint64_t batches = 0;
  std::uint64_t parked = 0;
  Histogram batch_size;
  std::uint64_t migrations = 0;
  std::uint64_t first_touches = 0;
  std::uint64_t evictions = 0;
  std::uint64_t remote_mappings = 0;
  std::uint64_t replications = 0;
  std::uint64_t write_upgrades = 0;
  std::uint64_t requests_dropped = 0;
  std::uint64_t invalidations_sent = 0;
  std::uint64_t wait = 0;
  std::uint64_t total = 0;
  Histogram wait_histogram;
  Histogram total_histogram;

  void describe(StatVisitor& visitor);
};

/// The host's MMU around the driver: its TLB, table and walkers.
class HostTables {
 public:
  virtual ~HostTables() = default;
  /// A page is about to move: the host's TLB and table forget it.
  virtual void forget(PageKey page) = 0;
  /// A page has an owner again.
  virtual void publish(PageKey page, const Mapping& mapping) = 0;
  /// Walks the host's table for a migration that no fault began; UvmDriver::host_walk_done() follows.
  virtual void walk_for(PageKey page) = 0;
  /// The fault has been answered.
  virtual void answered(Fault* fault) = 0;
  /// Whether no line of a page of the host's memory is still on its way from there.
  virtual bool can_write_back(PhysPage page) = 0;
  /// A page of the host's memory is copied to a GPU, or comes from one.
  virtual void write_back(PhysPage page) = 0;
  virtual void page_came(PhysPage from, PhysPage to) = 0;
};

struct UvmOptions {
  unsigned gpus = 1;
  DeviceId host;
  UvmSpec uvm;
  MigrationSpec migration;
  InvalidateSpec invalidate;
  PagePolicy policy = PagePolicy::OnTouch;
  HostFirstTouch host_first_touch = HostFirstTouch::Move;
  PageSize size;
  std::uint64_t gpu_pages = 0;  ///< that fit into a GPU's memory
};

class UvmDriver {
 public:
  UvmDriver(Partition& partition, const UvmOptions& options, FrameAllocator& frames, HostTables& tables,
            Messenger& messenger, ServedMisses& parts, TranslationOracle* oracle);

  PageRecord& record(PageKey page);
  /// The record of a page that the machine fills before the first cycle.
  PageRecord& new_record(PageKey page) {
    return records_[page.pid()].pages[page.number() - records_[page.pid()].first];
  }
  /// A frame that is in use then, for good, or for a page that may leave it.
  void note_resident(PhysPage frame);
  void note_resident(PageKey page, PhysPage frame);
  void add_process(Pid pid, std::uint64_t first, std::uint64_t pages);

  // The seams.
  void set_directory(MappingDirectory& directory) { directory_ = &directory; }
  void set_residency_observer(ResidencyObserver& watch) { watch_ = &watch; }
  void set_forwarder(Forwarder& forwarder) { forwarder_ = &forwarder; }
  /// Tells them of a page as it is before the first cycle.
  void tell_at_start(PageKey page);

  /// A fault whose translation has been looked up.
  void take(Fault* fault);
  void host_walk_done(PageKey page);
  void on_message(const Message& message);
  /// Whether a fault would be answered with a mapping of its page where that lies. The page must not be moving.
  bool would_map(const Fault& fault);
  /// A GPU may be sent a mapping by another.
  void note_holder(PageKey page, DeviceId gpu);
  /// Puts a fault's time since its stamp to a part.
  void charge(Fault& fault, LatencyComponent part) { charge(fault, part, partition_.now()); }
  void charge(Fault& fault, LatencyComponent part, Cycle until);
  /// The directory's answer for a page that moves.
  void targets_known(PageKey page, const std::bitset<kMaxGpus>& gpus);

  UvmStats& stats() { return stats_; }
  /// A batch that is not complete has a migration.
  bool idle() const {
    return migrations_.empty() && input_.empty() && waiting_.empty() && !busy_ && handed_on_.empty();
  }
  std::string describe_waiting() const;

 private:
  /// A migration of a page, from its lock to its end.
  struct Migration {
    PlacementAction action = PlacementAction::Move;
    PhysPage from;
    PhysPage to;
    unsigned pending = 0;  ///< acknowledgements and walks not yet there
    Fault* fault = nullptr;
    bool evicts = false;
    bool directory_waits = false;  ///< for the host's walk
    std::uint32_t batch = kNoBatch;
    Cycle requested = 0;
    FaultQueue parked;
  };
  struct Records {
    std::uint64_t first = 0;
    std::vector<PageRecord> pages;
  };
  static constexpr std::uint32_t kNoBatch = ~std::uint32_t{0};
  /// A message that begins the last step of a fault's answer: to a GPU, or, as Data, from the host's own memory.
  struct Outgoing {
    DeviceId to;
    Message message;
  };
  /// per-batch: what is ready of a batch until all of it is. Faults that must wait for another migration leave it.
  struct Batch {
    std::uint32_t open = 0;  ///< not ready
    std::vector<Outgoing> ready;
  };
  /// An eviction made room, or will: what waits for it.
  struct FramePool {
    std::deque<PageKey> residents;  ///< where pages are evicted: those that can be, in order of arrival
    std::uint64_t used = 0;
    FaultQueue waiting;
    PageKey evicting;  ///< the page that is on its way out, if there is one
  };

  PlacementAction action_of(const PageRecord& record, const Fault& fault) const;
  static const char* name_of(const Migration& migration);
  void take_batch();
  void fetch_at(Cycle when);
  void on_fetch(Transaction* t);
  void on_batch(Transaction* t);
  void on_act(Transaction* t);
  void decide(Fault* fault);
  void map(Fault* fault, PageRecord& record);
  void move_requested(const Message& message);
  bool make_room(DeviceId gpu, Fault* fault);
  void evict_one(DeviceId gpu);
  void retry_room(DeviceId gpu);
  void start(PageKey page, PlacementAction action, DeviceId to, Fault* fault);
  void invalidate_all(PageKey page, PageRecord& record, Migration& migration);
  void ask_directory(PageKey page, const Migration& migration);
  DeviceId kept_by(const Migration& migration) const;
  void downgrade(PageKey page, PageRecord& record, Migration& migration);
  void send_invalidation(PageKey page, const PageRecord& record, Migration& migration, MessageKind kind, DeviceId gpu);
  void one_less(PageKey page);
  void ready(PageKey page, Migration& migration);
  void hand_out(std::uint32_t batch, const Outgoing& outgoing);
  void dispatch(const Outgoing& outgoing);
  std::uint32_t open_batch();
  void one_less_open(std::uint32_t batch);
  void on_transfer(Transaction* t);
  void arrive_on_host(PageKey page, PhysPage frame);
  void on_arrival(Transaction* t);
  void done(PageKey page);
  void settle(PageKey page, PageRecord& record, const Migration& migration);
  void tell_of_move(PageKey page, const PageRecord& record, const Migration& migration);

  Partition& partition_;
  UvmOptions options_;
  FrameAllocator& frames_;
  HostTables& tables_;
  Messenger& messenger_;
  ServedMisses& parts_;
  TranslationOracle* oracle_;
  std::unique_ptr<PlacementRule> placement_;
  MappingDirectory* directory_ = nullptr;
  ResidencyObserver* watch_ = nullptr;
  Forwarder* forwarder_ = nullptr;
  std::vector<Records> records_;        ///< by process
  std::vector<FramePool> frame_pools_;  ///< by GPU, when memory is limited
  FaultQueue input_;
  std::vector<Fault*> batch_;                  ///< being fetched
  std::deque<std::vector<Fault*>> handed_on_;  ///< fetched, in software
  bool busy_ = false;
  bool collects_ = false;       ///< waits for a fuller batch
  std::uint32_t fetches_ = 0;   ///< that have been scheduled: the last one counts
  std::vector<Batch> batches_;  ///< per-batch
  std::vector<std::uint32_t> free_batches_;
  std::uint32_t deciding_ = kNoBatch;  ///< whose faults are being decided
  FaultQueue waiting_;                 ///< decided when fewer migrations are under way
  boost::unordered_flat_map<std::uint64_t, Migration> migrations_;
  HandlerId fetch_handler_;
  HandlerId batch_handler_;
  HandlerId act_handler_;
  HandlerId transfer_handler_;
  HandlerId arrival_handler_;
  UvmStats stats_;
};

}  // namespace nearfar
