// A GPU's memory management unit: walks its local page tables for misses of the L2 TLB, sends far faults to the host,
// and writes the mappings that come back. Messages reach it through its ingress (ingress.h); what an invalidation does
// is in invalidation.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/partition.h"
#include "translation/design_component.h"
#include "translation/gmmu/gmmu_options.h"
#include "translation/gmmu/gmmu_stats.h"
#include "translation/gmmu/ingress.h"
#include "translation/gmmu/invalidation.h"
#include "translation/gmmu/leaf_tables.h"
#include "translation/gmmu/local_tables.h"
#include "translation/gmmu/page_access_tracker.h"
#include "translation/gmmu/page_caches.h"
#include "translation/message.h"
#include "translation/page_event.h"
#include "translation/tlb/l2_tlb.h"
#include "translation/translation_oracle.h"
#include "translation/walk/page_table.h"
#include "translation/walk/walk_filter.h"
#include "translation/walk/walk_unit.h"

namespace nearfar {

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

class Gmmu final : public MissHandler,
                   public WalkClient,
                   public DrainListener,
                   public IngressClient,
                   public InvalidationClient {
 public:
  Gmmu(Partition& partition, const GmmuOptions& options, L2Tlb& tlb, Messenger& messenger, PageCaches& caches,
       PageAccessTracker& frames, WalkMemory* memory, TranslationOracle* oracle);

  /// The local page table of a process, which the machine fills before the first cycle.
  void set_table(Pid pid, std::unique_ptr<PageTable> table) { tables_.set(pid, std::move(table)); }
  PageTable& local_table(Pid pid) { return tables_.of(pid); }
  /// Puts a mapping into the local table before the first cycle.
  void write_mapping(PageKey page, const Mapping& mapping) { tables_.map(page, mapping); }

  // The seams.
  /// Adds a filter to the chain before the walk; lower places are asked first.
  void add_filter(WalkFilter& filter, unsigned place);
  void set_watch(PteObserver& observer) { tables_.set_observer(observer); }
  void set_invalidator(Invalidator& invalidator) { invalidations_.set_invalidator(invalidator); }
  void set_leaf_tables(LeafTables& tables) {
    leaf_tables_ = &tables;
    invalidations_.set_leaf_tables(tables);
  }

  /// A message has come over a link, for the GMMU or one of the designs' `parts` beside it. While the buffer of its
  /// channel is full it waits on the link, and so do those behind it.
  void receive(const Message& message) { ingress_.receive(message); }
  void set_parts(DesignComponents& parts) { parts_ = &parts; }

  // What a design's part may ask of it.
  /// A request to walk for `owner`, to be submitted to walkers().
  Walk& walk_for(WalkOwner& owner, WalkKind kind, PageKey page);
  /// Takes back such a request; false when a walker has it.
  bool withdraw(Walk& walk);
  /// The mapping of the local table, as it may be used; invalid where none may.
  Pte usable(PageKey page) const { return invalidations_.hides(page) ? Pte{} : tables_.read(page); }
  Epoch epoch(PhysPage frame) { return tracker_.epoch(frame); }
  /// Makes the entry of an invalidation invalid.
  void invalidate_entry(PageKey page) { tables_.invalidate(page); }
  /// An invalidation that waited for room with the invalidator has been taken.
  void invalidation_taken(PageKey page) { invalidations_.invalidator_took(page); }
  /// The miss whose fault a message answers; null, and counted as a duplicate, if another answer came before.
  Miss* answered_miss(const Message& message);
  /// Writes the mapping of a message into the local table, for the miss it answers, if any, whose time up to now has
  /// been charged. An answer older than an invalidation is void: the miss faults again.
  void write_answer(const Message& message, Miss* miss);
  /// Answers a miss with a mapping that was read, or written, in a leaf table elsewhere; all its time has been charged.
  void give(PageKey page, const Mapping& mapping);
  /// There is no mapping that may be used: the host is asked, if someone waits for it.
  void fault(PageKey page, Miss& miss);
  /// The mapping that the host sent for a miss was void before it was written: the miss faults again.
  void fault_again(PageKey page, Miss& miss);

  void missed(PageKey page, Miss& miss) override;
  void answered(PageKey page) override { invalidations_.resume(page); }
  bool has_prefetch_room() const override { return !walkers_.full() && walkers_.all_waiting() == walkers_.waiting(); }
  const PageTable& table(Pid pid) const override { return tables_.of(pid); }
  void started(Walk& walk) override;
  bool reads_leaf(const Walk& walk) const override;
  void walked(Walk& walk) override;
  void queue_has_room() override {
    if (Invalidator* invalidator = invalidations_.invalidator()) invalidator->walkers_have_room();
  }
  void message_entered() override { ingress_.place_freed(); }
  void drained(PhysPage frame) override { invalidations_.drained(frame); }
  void counted(PageKey page, Epoch epoch) override;
  bool has_place(const Message& message) const override;
  void accept(const Message& message) override;
  void ask_host(PageKey page, Miss& miss) override;
  void page_invalidated(PageKey page) override;
  void place_freed() override { ingress_.place_freed(); }

  WalkUnit& walkers() { return walkers_; }
  GmmuStats& stats() { return stats_; }
  Partition& partition() { return partition_; }
  /// Keeps all its events; else there are none.
  void observe() { observed_ = true; }
  const std::vector<GmmuEvent>& events() const { return events_; }
  bool idle() const { return walkers_.idle() && invalidations_.idle() && ingress_.stopped() == 0; }
  std::string describe_waiting() const;

 private:
  /// A filter and its place in the chain.
  struct PlacedFilter {
    WalkFilter* filter;
    unsigned place;
  };
  /// A filter's latency has passed for a page.
  struct FilterEvent : PageEvent {
    std::uint32_t filter = 0;  ///< in the chain
  };

  void pass_filters(PageKey page, Miss& miss, std::size_t from);
  void on_filter(FilterEvent* event);
  void walk_ended(Walk& walk);
  void walk_was_stale(PageKey page, Miss& miss);
  void take_mapping(const Message& message);
  bool may_update_at_once(PageKey page);
  void update_at_once(PageKey page, const Mapping& mapping, std::uint64_t note);
  void update_ended(Walk& walk);
  void write_update(Walk& walk);
  void move_refused(PageKey page);
  void transfer(const Message& message);
  void on_transfer(TranslationPacket* waiting);

  Partition& partition_;
  GmmuOptions options_;
  L2Tlb& tlb_;
  Messenger& messenger_;
  PageCaches& caches_;
  PageAccessTracker& tracker_;
  TranslationOracle* oracle_;
  GmmuStats stats_;
  LocalTables tables_;
  WalkUnit walkers_;
  MessageIngress ingress_;
  InvalidationEngine invalidations_;
  DesignComponents* parts_ = nullptr;
  LeafTables* leaf_tables_ = nullptr;
  std::vector<PlacedFilter> filters_;
  std::uint32_t foreign_walks_ = 0;  ///< of parts, not ended
  std::uint16_t faults_sent_ = 0;
  bool observed_ = false;
  std::vector<GmmuEvent> events_;
  HandlerId filter_handler_;
  HandlerId transfer_handler_;
};

}  // namespace nearfar
