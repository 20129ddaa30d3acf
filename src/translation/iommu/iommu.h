// The IOMMU: translates for GPUs that have no page tables of their own. A TLB (or two levels of one), a table of
// requests that wait for a walk, and walkers. For the instances of one GPU it is what they share below their L2 TLBs:
// the L3 TLB and the walkers.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/fifo.h"
#include "sim/partition.h"
#include "stats/reuse_distance.h"
#include "stats/stat.h"
#include "translation/iommu/iommu_content.h"
#include "translation/iommu/iommu_pending.h"
#include "translation/iommu/shared_tlb_array.h"
#include "translation/message.h"
#include "translation/page_event.h"
#include "translation/tlb/l2_tlb.h"
#include "translation/tlb/tlb.h"
#include "translation/walk/page_table.h"
#include "translation/walk/walk_unit.h"

namespace nearfar {

/// What one process asks of the IOMMU's TLB.
struct IommuProcessStats {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;
  std::uint64_t reuse_first = 0;
  Histogram reuse_distance;

  /// Names end in `suffix`: nothing for the sum over all processes, .pid<p> for one.
  void describe(StatVisitor& visitor, const std::string& suffix, bool l3 = false);
};

struct IommuStats {
  bool l3 = false;  ///< its TLB is the L3 TLB of GPU instances
  IommuProcessStats all;
  std::vector<IommuProcessStats> by_process;  ///< empty where there is only one
  std::uint64_t l1_hits = 0;
  std::uint64_t merges = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t faults = 0;
  std::uint64_t pending_waits = 0;
  std::uint64_t input_wait_cycles = 0;

  void describe(StatVisitor& visitor);
};

/// Exact reuse distances: how many different pages were asked for between two requests of one page.
class ReuseMeter {
 public:
  /// The distance of this request, or kFirst.
  std::uint64_t note(PageKey page);
  static constexpr std::uint64_t kFirst = ReuseDistance::kFirst;

 private:
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> numbers_;  ///< of pages, in order of their first request
  ReuseDistance distance_{0};
};

/// Where an IOMMU's answers go.
class IommuClient {
 public:
  virtual ~IommuClient() = default;
  /// `mapping` is null where the page table has none.
  virtual void iommu_answers(DeviceId gpu, PageKey page, const Mapping* mapping, std::uint32_t accounted) = 0;
};

class Iommu final : public WalkClient, private TlbEvictionObserver {
 public:
  /// `two_levels`: a small TLB in front of the large one, and a request that finds the queue full holds up those
  /// behind it, as in the shared-virtual-memory system.
  Iommu(Partition& partition, const IommuSpec& spec, const WalkSpec& walk, const PageTableSpec& table, bool two_levels,
        IommuClient& client, WalkMemory* memory);

  void set_table(Pid pid, std::unique_ptr<PageTable> table);
  PageTable& host_table(Pid pid) { return *tables_[pid]; }
  /// Plugs a design into the seam "IOMMU TLB content".
  void set_content(IommuContent& content) { content_ = &content; }
  /// Plugs designs into the seams of the L3 TLB of GPU instances: its replacement, what its tags tell apart, its array.
  void set_l3_replacement(std::unique_ptr<TlbReplacement> policy) { tlb_.set_replacement(std::move(policy)); }
  void share_sub_entries() { tlb_.share_between_processes(); }
  void set_l3_array(SharedTlbArray& array);

  /// A request of a GPU arrives.
  void request(const Message& message);

  const PageTable& table(Pid pid) const override { return *tables_[pid]; }
  void walked(Walk& walk) override;
  void queue_has_room() override { take_input(); }

  // What a design at the seam does.
  /// Holds a mapping; what had to leave for it is the answer.
  std::optional<Tlb::Entry> fill(PageKey page, const Mapping& mapping, std::uint32_t note);
  void remove(PageKey page);
  void start_walk(PendingTranslation& pending);
  PendingTranslation& pending(std::uint32_t id) { return pending_.at(id); }
  /// Puts the time of all who wait, up to now, to `part`, but its last cycles, at most `at_most`, to `last`.
  void charge(PendingTranslation& pending, LatencyComponent part, LatencyComponent last, Cycle at_most);
  /// Answers all who wait with a mapping that was found elsewhere, and takes back a walk that has not started. What
  /// their time went to has been charged.
  void answer(PendingTranslation& pending, const Mapping& mapping);
  /// One question of an entry has been answered, and what follows from it has been done. The entry may be gone then.
  void question_answered(PendingTranslation& pending);
  /// Counts an answer that came second.
  void note_duplicate() { ++stats_.duplicates; }

  const Tlb& tlb() const { return tlb_; }
  WalkUnit& walkers() { return walkers_; }
  IommuStats& stats() { return stats_; }
  /// Null where entries have no sub-entries.
  SubEntryUse* sub_entry_use() { return spec_.tlb.sub_entries == 1 ? nullptr : &sub_entry_use_; }
  ServedMisses& parts() { return parts_; }
  bool idle() const { return pending_.empty() && walkers_.idle() && input_.empty(); }
  std::string describe_waiting() const;

  /// Measures reuse distances, and looks at the TLB's contents at each multiple of `every` cycles.
  void observe(Cycle every) {
    observed_ = true;
    next_snapshot_ = snapshot_every_ = every;
  }
  const std::vector<L2Tlb::Snapshot>& snapshots() const { return snapshots_; }
  /// At each of these: entries by the GPU that they are there for.
  const std::vector<std::vector<std::uint32_t>>& occupancy() const { return occupancy_; }

  /// In the low bits of an entry's note: the GPU that it is there for. Designs may use the others.
  static constexpr std::uint32_t kHomeMask = 0x7ff;

 private:
  using Waiter = PendingTranslation::Waiter;

  /// Of a request of a GPU.
  struct Lookup : PageEvent {
    Cycle arrival = 0;
    std::uint32_t accounted = 0;  ///< cycles since the request left its GPU, until its arrival
    DeviceId gpu;
    bool measured = false;  ///< its time is put to components
    bool prefetch = false;
  };

  void on_lookup(Lookup* lookup);
  bool look_up(const Lookup& lookup);
  const Mapping* use(PageKey page) { return array_ == nullptr ? tlb_.use(page) : array_->use(page); }
  void note_sub_miss(PageKey page);
  void evicted(std::span<const TlbEntry> pages) override;
  void displaced(PageKey page) override { sub_entry_use_.displaced(page); }
  void respond(PageKey page, const Mapping* mapping, const Waiter& waiter);
  void respond_all(PendingTranslation& pending, const Mapping* mapping);
  void close_if_done(PendingTranslation& pending);
  void take_input();
  void look_at_contents();
  void note_reuse(PageKey page);
  void spend(PageKey page, Waiter& waiter, LatencyComponent part, Cycle until);
  template <class Update>
  void count(PageKey page, Update update);

  Partition& partition_;
  IommuSpec spec_;
  bool two_levels_;
  IommuClient& client_;
  IommuContent* content_ = nullptr;
  Tlb first_;
  Tlb tlb_;
  SharedTlbArray* array_ = nullptr;  ///< a design's, in the place of `tlb_`
  SubEntryUse sub_entry_use_;
  LookupPort port_;
  WalkUnit walkers_;
  std::vector<std::unique_ptr<PageTable>> tables_;
  PendingTable pending_;
  Fifo<Lookup> input_;  ///< lookups behind one that found no room to wait, that one first
  bool taking_input_ = false;
  HandlerId lookup_handler_;
  bool observed_ = false;
  ReuseMeter reuse_;
  std::vector<ReuseMeter> reuse_by_process_;
  Cycle snapshot_every_ = 0;
  Cycle next_snapshot_ = kNever;
  std::vector<L2Tlb::Snapshot> snapshots_;
  std::vector<std::vector<std::uint32_t>> occupancy_;
  IommuStats stats_;
  ServedMisses parts_;
};

}  // namespace nearfar
