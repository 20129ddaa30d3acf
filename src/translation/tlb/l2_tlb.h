// The L2 TLB that all compute units of a GPU share, with its port and MSHRs. What it misses, a handler below
// it resolves: the GMMU, or the way to the IOMMU.
#pragma once

#include <boost/unordered/unordered_flat_set.hpp>
#include <cstdint>
#include <string>
#include <vector>

#include "memory/cache/mshr.h"
#include "sim/fifo.h"
#include "sim/partition.h"
#include "stats/stat.h"
#include "translation/miss.h"
#include "translation/page_event.h"
#include "translation/tlb/sub_entry_use.h"
#include "translation/tlb/tlb.h"
#include "translation/tlb/tlb_prefetcher.h"
#include "translation/translation_spec.h"

namespace nearfar {

struct L2TlbStats {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t merges = 0;
  std::uint64_t evictions = 0;
  std::uint64_t permission_misses = 0;
  std::uint64_t stale_results = 0;
  std::uint64_t port_wait_cycles = 0;
  std::uint64_t blocked_lookups = 0;

  void describe(StatVisitor& visitor);
};

/// The compute units above the L2 TLB.
class TranslationClient {
 public:
  virtual ~TranslationClient() = default;
  /// The answer to a request of `cu`.
  virtual void translated(unsigned cu, PageKey page, const Mapping& mapping) = 0;
};

/// What is below the L2 TLB.
class MissHandler {
 public:
  virtual ~MissHandler() = default;
  /// A new miss; its register stays until L2Tlb::answer().
  virtual void missed(PageKey page, Miss& miss) = 0;
  /// A miss has been answered and its register is free.
  virtual void answered(PageKey) {}
  /// Whether a page that nobody waits for has a place below. It is asked before such a miss.
  virtual bool has_prefetch_room() const { return true; }
};

/// Seam "IOMMU TLB content", its part in a GPU: who is told of what leaves the L2 TLB to make room. Nobody is, in the
/// baseline: the levels are mostly inclusive.
class L2TlbVictims {
 public:
  virtual ~L2TlbVictims() = default;
  virtual void evicted(const Tlb::Entry& victim) = 0;
};

/// Turns of a port that starts at most `width` lookups a cycle (0: any number).
class LookupPort {
 public:
  explicit LookupPort(std::uint32_t width) : width_(width) {}

  /// The cycle in which a lookup that comes at `arrival` starts.
  Cycle take(Cycle arrival) {
    if (width_ == 0) return arrival;
    if (arrival > cycle_) {
      cycle_ = arrival;
      used_ = 0;
    }
    if (used_ == width_) {
      ++cycle_;
      used_ = 0;
    }
    ++used_;
    return cycle_;
  }

 private:
  std::uint32_t width_;
  std::uint32_t used_ = 0;
  Cycle cycle_ = 0;
};

class L2Tlb {
 public:
  using Mshrs = MshrFile<Miss, PageKey>;

  L2Tlb(Partition& partition, const TlbSpec& spec, TranslationClient& client);
  void set_handler(MissHandler& handler) { handler_ = &handler; }
  MissHandler& handler() { return *handler_; }
  void set_victims(L2TlbVictims& victims) { victims_ = &victims; }
  void set_prefetcher(TlbPrefetcher& prefetcher) { prefetcher_ = &prefetcher; }
  TlbPrefetchStats& prefetch_stats() { return prefetch_stats_; }
  /// Null where entries have no sub-entries.
  SubEntryUse* sub_entry_use() { return spec_.sub_entries == 1 ? nullptr : &sub_entry_use_; }

  /// A miss of an L1 TLB that reaches this one at `arrival`.
  void request(unsigned cu, PageKey page, bool write, Cycle arrival);

  /// The mapping a miss waited for: fills, answers all who wait, and frees the register.
  void answer(PageKey page, const Mapping& mapping);
  /// There is no mapping of a pending page. True: nobody waits for it, and it is pending no more. False: someone does.
  bool drop_prefetch(PageKey page);
  /// A pending miss looks up again, which takes a lookup's time, and then is handed to the handler again.
  void look_up_again(PageKey page);

  /// A lookup for another device takes its turn at the port: the cycle in which its result is known. It needs no miss
  /// register, so it passes those that wait for one.
  Cycle start_foreign_lookup() { return port_.take(partition_.now()) + spec_.latency; }
  /// Holds a mapping; whatever leaves for it goes to the victims' taker.
  void fill(PageKey page, const Mapping& mapping, std::uint32_t note = 0);
  /// Removes a page; whether it was held.
  bool shoot_down(PageKey page);
  Miss* pending(PageKey page) {
    Mshrs::Entry* entry = mshrs_.find(page);
    return entry == nullptr ? nullptr : &entry->payload;
  }
  Tlb& array() { return tlb_; }
  Cycle latency() const { return spec_.latency; }

  /// Puts a miss's time since its last stamp to a part.
  void charge(Miss& miss, LatencyComponent part) { charge(miss, part, partition_.now()); }
  void charge(Miss& miss, LatencyComponent part, Cycle until);

  L2TlbStats& stats() { return stats_; }
  MissStats& miss_stats() { return ledger_.sums(partition_.device()); }
  bool idle() const { return mshrs_.used() == 0 && blocked_.empty(); }
  std::string describe_waiting();

  /// What was held at each multiple of `every` cycles, for studies of redundancy.
  void take_snapshots(Cycle every) { next_snapshot_ = snapshot_every_ = every; }
  struct Snapshot {
    Cycle when;
    std::vector<PageKey> pages;
  };
  const std::vector<Snapshot>& snapshots() const { return snapshots_; }

 private:
  /// Of a request of a compute unit.
  struct Lookup : PageEvent {
    std::uint16_t cu = 0;
    bool write = false;
  };

  void on_lookup(Lookup* lookup);
  bool look_up(const Lookup& lookup);
  void on_second_lookup(PageEvent* lookup);
  void measure(PageKey page, const Miss& miss);
  void merge(Miss& miss, unsigned cu, bool write);
  void unblock();
  void look_at_contents();
  void ask_prefetcher(void (TlbPrefetcher::*event)(PageKey, PrefetchPages&), PageKey page);
  void prefetch(PageKey page);
  void note_gone(PageKey page) {
    if (prefetcher_ != nullptr && unused_.erase(page.value) != 0) ++prefetch_stats_.unused;
  }

  Partition& partition_;
  TlbSpec spec_;
  TranslationClient& client_;
  MissHandler* handler_ = nullptr;
  L2TlbVictims* victims_ = nullptr;
  TlbPrefetcher* prefetcher_ = nullptr;
  std::uint32_t prefetching_ = 0;                    ///< pending misses that nobody waits for
  boost::unordered_flat_set<std::uint64_t> unused_;  ///< pages held that were fetched ahead and not asked for since
  TlbPrefetchStats prefetch_stats_;
  Tlb tlb_;
  LookupPort port_;
  Mshrs mshrs_;
  Fifo<Lookup> blocked_;  ///< lookups behind one that found no register, that one first
  bool unblocking_ = false;
  HandlerId lookup_handler_;
  HandlerId second_handler_;
  Cycle snapshot_every_ = 0;
  Cycle next_snapshot_ = kNever;
  std::vector<Snapshot> snapshots_;
  SubEntryUse sub_entry_use_;
  L2TlbStats stats_;
  LatencyLedger ledger_;
};

}  // namespace nearfar
