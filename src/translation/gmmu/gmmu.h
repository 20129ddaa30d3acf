// A GPU's memory management unit: walks its local page tables for misses of the L2 TLB, sends far faults to the host,
// writes the mappings that come back, and carries out invalidations.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/partition.h"
#include "stats/stat.h"
#include "translation/design_component.h"
#include "translation/gmmu/invalidator.h"
#include "translation/gmmu/page_access_tracker.h"
#include "translation/message.h"
#include "translation/tlb/l2_tlb.h"
#include "translation/translation_oracle.h"
#include "translation/translation_spec.h"
#include "translation/walk/page_table.h"
#include "translation/walk/walk_filter.h"
#include "translation/walk/walk_unit.h"

namespace nearfar {

struct GmmuStats {
  std::uint64_t far_faults = 0;
  std::uint64_t protection_faults = 0;
  std::uint64_t reissues = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t invalidations = 0;
  std::uint64_t necessary = 0;
  std::uint64_t unnecessary = 0;
  std::uint64_t invalidation_cycles = 0;
  std::uint64_t downgrades = 0;
  std::uint64_t updates_cancelled = 0;
  std::uint64_t stopped = 0;
  std::uint64_t stopped_cycles = 0;
  std::uint64_t move_requests = 0;

  void describe(StatVisitor& visitor);
};

/// The GPU around a GMMU: its caches.
class PageCaches {
 public:
  virtual ~PageCaches() = default;
  /// A mapping of `page` to `frame` is void: the L1 TLBs forget it.
  virtual void forget(PageKey page, PhysPage frame) = 0;
  /// No access to a page by way of an old mapping is left: the L1s forget its lines.
  virtual void drop_copies(PhysPage page) = 0;
  /// Whether no line of a page of this GPU's memory is still on its way from there.
  virtual bool can_write_back(PhysPage page) = 0;
  /// A page of this GPU's memory is copied elsewhere: what the L2 has of it goes to memory, and is dropped if the page
  /// `moves`.
  virtual void write_back(PhysPage page, bool moves) = 0;
  /// The contents of a page have come.
  virtual void page_came(PhysPage from, PhysPage to) = 0;
  /// A frame of this GPU's memory has new contents: what the L2 still has of the old ones is dropped.
  virtual void frame_reused(PhysPage page) = 0;
};

/// What a GMMU did, for studies: a walk has ended, or a fault has left.
struct GmmuEvent {
  Cycle when = 0;
  PageKey page;
  bool fault = false;
};

/// Whoever has the GMMU's walkers make a walk for it.
class WalkOwner {
 public:
  virtual ~WalkOwner() = default;
  /// Such a walk, of a kind that the GMMU itself has no use for, has ended.
  virtual void walked(Walk& walk) = 0;
  /// An invalidation of the page has come before a walker took such a request: it may be taken back.
  virtual void overtaken(Walk&) {}

  /// In Walk::note: an invalidation of the page has come since the walk was asked for.
  static constexpr std::uint64_t kInvalidated = 1;
};

struct GmmuOptions {
  DeviceId host;
  GmmuSpec gmmu;
  WalkSpec walk;
  PageTableSpec table;
  PageSize size;
  InvalidateHow how = InvalidateHow::Walk;
  Cycle shootdown = 10;
  Cycle setup = 0;
  bool ideal_migration = false;  ///< an invalidation takes no time and is not acknowledged
};

class Gmmu final : public MissHandler, public WalkClient, public DrainListener {
 public:
  Gmmu(Partition& partition, const GmmuOptions& options, L2Tlb& tlb, Messenger& messenger, PageCaches& caches,
       PageAccessTracker& frames, WalkMemory* memory, TranslationOracle* oracle);

  /// The local page table of a process, which the machine fills before the first cycle.
  void set_table(Pid pid, std::unique_ptr<PageTable> table);
  PageTable& local_table(Pid pid) { return *tables_[pid]; }
  /// Puts a mapping into the local table: before the first cycle, or at the end of an update's walk.
  void write_mapping(PageKey page, const Mapping& mapping);

  // The seams.
  /// Adds a gate to the chain before the walk; lower places are asked first.
  void add_filter(WalkFilter& gate, unsigned place);
  void set_watch(PteObserver& watch) { watch_ = &watch; }
  void set_invalidator(Invalidator& invalidator) { invalidator_ = &invalidator; }

  /// A message has come over a link, for the GMMU or one of the designs' `parts` beside it. While the buffer of its
  /// channel is full it waits on the link, and so do those behind it.
  void receive(const Message& message);
  void set_parts(DesignComponents& parts) { parts_ = &parts; }

  // What a design's part may ask of it.
  /// A request to walk for `owner`, to be submitted to walkers().
  Walk& walk_for(WalkOwner& owner, WalkKind kind, PageKey page);
  /// Takes back such a request; false when a walker has it.
  bool withdraw(Walk& walk);
  /// The mapping of the local table, as it may be used; invalid where none may.
  Pte usable(PageKey page) const;
  Epoch epoch(PhysPage frame) { return tracker_.epoch(frame); }
  /// Makes the entry of an invalidation invalid.
  void invalidate_entry(PageKey page);
  /// An invalidation that waited for room with the invalidator has been taken.
  void invalidation_taken(PageKey page);
  /// The miss whose fault a message answers; null, and counted as a duplicate, if another answer came before.
  Miss* answered_miss(const Message& message);
  /// Writes the mapping of a message into the local table, for the miss it answers, if any, whose time up to now has
  /// been charged. An answer older than an invalidation is void: the miss faults again.
  void write_answer(const Message& message, Miss* miss);

  void missed(PageKey page, Miss& miss) override;
  void answered(PageKey page) override { take_deferred(page); }
  bool has_prefetch_room() const override { return !walkers_.full() && walkers_.all_waiting() == walkers_.waiting(); }
  const PageTable& table(Pid pid) const override { return *tables_[pid]; }
  void started(Walk& walk) override;
  void walked(Walk& walk) override;
  void queue_has_room() override {
    if (invalidator_ != nullptr) invalidator_->walkers_have_room();
  }
  void message_entered() override { let_stopped_go_on(); }
  void drained(PhysPage page) override;
  void counted(PageKey page, Epoch epoch) override;

  WalkUnit& walkers() { return walkers_; }
  GmmuStats& stats() { return stats_; }
  Partition& partition() { return partition_; }
  /// Keeps all its events; else there are none.
  void observe() { observed_ = true; }
  const std::vector<GmmuEvent>& events() const { return events_; }
  bool idle() const { return walkers_.idle() && invalidations_.empty() && deferred_.empty() && stopped() == 0; }
  std::string describe_waiting() const;

 private:
  /// An invalidation or downgrade, from its arrival to its acknowledgement.
  struct Invalidation {
    PhysPage old;
    bool had = false;  ///< the table had a valid mapping
    Epoch epoch = 0;
    Cycle arrived = 0;
    Cycle shot_down = 0;  ///< when the TLBs' time is over
    bool downgrade = false;
    bool written = false;  ///< the table's entry
    bool drained = false;
    bool held = false;  ///< the L2 TLB held it
  };
  struct Deferred {
    Message message;
    Cycle since = 0;
  };
  // What a walk is for, beside its kind.
  static constexpr std::uint64_t kAnswersFault = 1;
  static constexpr std::uint64_t kTellsHost = 2;
  static constexpr std::uint64_t kDowngrades = 4;
  static constexpr std::uint64_t kCancels = 8;     ///< an invalidation that had not been written is void by it
  static constexpr std::uint64_t kOvertaken = 16;  ///< an invalidation came while it was walking
  static constexpr std::uint64_t kAnnounced = 32;  ///< the watch knows of it

  /// A gate and its place in the chain.
  struct PlacedFilter {
    WalkFilter* gate;
    unsigned place;
  };

  bool has_place(const Message& message) const;
  void take(const Message& message);
  void take_mapping(const Message& message);
  void let_stopped_go_on();
  void on_room(Transaction* t);
  std::uint32_t stopped() const { return stopped_[0].size() + stopped_[1].size(); }
  void pass_filters(PageKey page, Miss& miss, std::size_t from);
  void on_filter(Transaction* t);
  void walk_ended(Walk& walk);
  void update_ended(Walk& walk);
  void write_update(Walk& walk);
  void write_ended(Walk& walk);
  void fault(PageKey page, Miss& miss);
  void ask_host(PageKey page, Miss& miss);
  void announce(Walk& walk);
  void grant(PageKey page, const Mapping& mapping);
  void invalidate(const Message& message);
  void invalidate_at_once(PageKey page, bool downgrade);
  bool hides(PageKey page) const { return invalidator_ != nullptr && invalidator_->hides(page); }
  bool defers(PageKey page);
  void take_deferred(PageKey page);
  void entry_written(PageKey page, Invalidation& invalidation);
  void on_shot_down(Transaction* t);
  void acknowledge_when_done(PageKey page);
  void transfer(const Message& message);
  void on_transfer(Transaction* t);
  void disturb(PageKey page, Epoch epoch, bool downgrade);
  void disturb_owned(PageKey page);

  Partition& partition_;
  GmmuOptions options_;
  L2Tlb& tlb_;
  Messenger& messenger_;
  PageCaches& caches_;
  PageAccessTracker& tracker_;
  TranslationOracle* oracle_;
  WalkUnit walkers_;
  std::vector<std::unique_ptr<PageTable>> tables_;  ///< by process
  boost::unordered_flat_map<std::uint64_t, Invalidation> invalidations_;
  boost::unordered_flat_map<std::uint64_t, Deferred> deferred_;       ///< invalidations that wait for a replay
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> draining_;  ///< frame → page
  std::array<TransactionQueue, 2> stopped_;  ///< messages that wait on the link: requests, responses
  bool going_on_ = false;                    ///< they will be looked at in this cycle
  DesignComponents* parts_ = nullptr;
  std::vector<PlacedFilter> filters_;
  PteObserver* watch_ = nullptr;
  Invalidator* invalidator_ = nullptr;
  std::uint32_t foreign_walks_ = 0;  ///< of parts, not ended
  std::uint16_t faults_sent_ = 0;
  bool observed_ = false;
  std::vector<GmmuEvent> events_;
  HandlerId room_handler_;
  HandlerId filter_handler_;
  HandlerId shot_handler_;
  HandlerId transfer_handler_;
  GmmuStats stats_;
};

}  // namespace nearfar
