// How a GPU invalidates a page, or makes it read-only, when the host says so.
//
//   arrival       a page that a fault has brought here is used once before it leaves: the message waits for that (and,
//                where a leaf table lies elsewhere, for the answer of a request to it, which may have read the old
//                mapping)
//   begins        L1 and L2 TLBs forget the page at once; what is under way for it must not bring the old mapping back:
//
//     pending miss is in   the old mapping could come back by        so
//     Walk                 what the walk reads                       its result is stale: it looks up again
//     Fault                an answer that the host has sent before   answers with an older epoch are void
//     Update               the write of such an answer               a queued one is taken back and faults again; one
//                                                                    under way is void where the entry does not wait
//     Invalidate, Lookup   -                                         nothing
//     LeafRead             -                                         it has waited for the answer
//
//   then two things, in any order (Step):
//     Entry       the local table's entry is invalid, or read-only: by a walk, at once, or when an Invalidator has it
//     Drain       no access by way of the old mapping is on its way; then the L1s forget its lines
//                 (migration.waits_for: those that have not left their compute unit may be translated again, or nobody
//                 waits for any)
//   acknowledged  when both are done, and not before the time that the TLBs take is over
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <string>

#include "sim/partition.h"
#include "translation/gmmu/gmmu_options.h"
#include "translation/gmmu/gmmu_stats.h"
#include "translation/gmmu/invalidator.h"
#include "translation/gmmu/leaf_tables.h"
#include "translation/gmmu/local_tables.h"
#include "translation/gmmu/page_access_tracker.h"
#include "translation/gmmu/page_caches.h"
#include "translation/message.h"
#include "translation/page_event.h"
#include "translation/tlb/l2_tlb.h"
#include "translation/walk/walk_unit.h"

namespace nearfar {

/// The GMMU around the engine.
class InvalidationClient {
 public:
  virtual ~InvalidationClient() = default;
  /// A miss asks the host, again.
  virtual void ask_host(PageKey page, Miss& miss) = 0;
  /// Walks that designs' components have asked for must not find the page any more.
  virtual void page_invalidated(PageKey page) = 0;
  /// A message no longer keeps its place in the ingress.
  virtual void place_freed() = 0;
};

class InvalidationEngine {
 public:
  struct Parts {
    L2Tlb& tlb;
    WalkUnit& walkers;
    LocalTables& tables;
    PageAccessTracker& tracker;
    PageCaches& caches;
    Messenger& messenger;
    GmmuStats& stats;
    TranslationOracle* oracle;
  };
  InvalidationEngine(Partition& partition, const GmmuOptions& options, const Parts& parts, InvalidationClient& client);

  void set_invalidator(Invalidator& invalidator) { invalidator_ = &invalidator; }
  void set_leaf_tables(const LeafTables& tables) { leaf_tables_ = &tables; }
  Invalidator* invalidator() { return invalidator_; }

  /// An Invalidate or Downgrade has come.
  void receive(const Message& message);
  /// What a deferred invalidation waited for has happened: the page has been used, or its miss asks the host.
  void resume(PageKey page);
  /// The walk to an entry has ended.
  void entry_walked(PageKey page) { entry_reached(page, invalidations_.at(page.value)); }
  /// An invalidation that waited for room with the invalidator has been taken.
  void invalidator_took(PageKey page);
  /// No access to a frame is on its way any more.
  void drained(PhysPage frame);

  /// Whether the entry in the local table is void, whatever it says.
  bool hides(PageKey page) const { return invalidator_ != nullptr && invalidator_->hides(page); }
  bool is_pending(PageKey page) const { return invalidations_.contains(page.value); }
  /// Whether one is pending whose entry has not been written.
  bool is_unwritten(PageKey page) const;
  /// Messages that wait here and keep their places in the ingress.
  std::size_t waiting() const {
    return deferred_.size() - with_misses_ + (invalidator_ == nullptr ? 0 : invalidator_->waiting());
  }
  bool idle() const { return invalidations_.empty() && deferred_.empty(); }
  std::string describe_waiting() const;

 private:
  /// What an invalidation needs before it is acknowledged.
  enum Step : std::uint8_t { kEntry = 1, kDrain = 2 };
  /// How the entry of the local table is written.
  enum class EntryWay : std::uint8_t { Walk, AtOnce, Invalidator };

  /// An invalidation or downgrade, from its arrival to its acknowledgement.
  struct Invalidation {
    PhysPage old;
    bool had = false;  ///< the table had a valid mapping
    Epoch epoch = 0;
    Cycle arrived = 0;
    Cycle shot_down = 0;  ///< when the TLBs' time is over
    bool downgrade = false;
    bool held = false;  ///< the L2 TLB held it
    std::uint8_t missing = kEntry | kDrain;
  };
  struct Deferred {
    Message message;
    Cycle since = 0;
  };

  bool keeps_elsewhere(PageKey page) const { return leaf_tables_ != nullptr && leaf_tables_->keeps(page); }
  bool defers(PageKey page);
  void begin(const Message& message);
  void begin_ideal(PageKey page, bool downgrade);
  Invalidation shoot_down(const Message& message);
  EntryWay entry_way(PageKey page, bool downgrade) const;
  void disturb(PageKey page, Epoch epoch, bool downgrade);
  void overtake_update(PageKey page, Miss& miss, Epoch epoch, bool downgrade);
  void entry_reached(PageKey page, Invalidation& invalidation);
  void on_shot_down(PageEvent* event);
  void step_done(PageKey page, Step step);
  void acknowledge(PageKey page);

  Partition& partition_;
  GmmuOptions options_;
  L2Tlb& tlb_;
  WalkUnit& walkers_;
  LocalTables& tables_;
  PageAccessTracker& tracker_;
  PageCaches& caches_;
  Messenger& messenger_;
  GmmuStats& stats_;
  TranslationOracle* oracle_;
  InvalidationClient& client_;
  Invalidator* invalidator_ = nullptr;
  const LeafTables* leaf_tables_ = nullptr;
  boost::unordered_flat_map<std::uint64_t, Invalidation> invalidations_;  ///< by page
  boost::unordered_flat_map<std::uint64_t, Deferred> deferred_;           ///< by page: waits for a replay
  std::size_t with_misses_ = 0;  ///< deferred ones that wait in the MSHR of their page's miss, not in the ingress
  boost::unordered_flat_map<std::uint64_t, std::uint64_t> draining_;  ///< frame → page
  HandlerId shot_handler_;
};

}  // namespace nearfar
