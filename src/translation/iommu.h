// The IOMMU: translates for GPUs that have no page tables of their own. A TLB (or two levels of one), a table of
// requests that wait for a walk, and walkers.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "sim/partition.h"
#include "stats/reuse_distance.h"
#include "stats/stat.h"
#include "translation/l2_tlb.h"
#include "translation/message.h"
#include "translation/page_table.h"
#include "translation/tlb.h"
#include "translation/walk_unit.h"

namespace nearfar {

struct IommuStats {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t l1_hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t evictions = 0;
  std::uint64_t merges = 0;
  std::uint64_t input_wait_cycles = 0;
  std::uint64_t reuse_first = 0;
  Histogram reuse_distance;

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
  virtual void iommu_answers(DeviceId gpu, PageKey page, const Mapping& mapping, std::uint32_t accounted) = 0;
};

class Iommu final : public WalkClient {
 public:
  /// `two_levels`: a small TLB in front of the large one, and a request that finds the queue full holds up those
  /// behind it, as in the shared-virtual-memory system.
  Iommu(Partition& partition, const IommuSpec& spec, const WalkSpec& walk, const PageTableSpec& table, bool two_levels,
        IommuClient& client, WalkMemory* memory);

  void set_table(Pid pid, std::unique_ptr<PageTable> table);
  PageTable& host_table(Pid pid) { return *tables_[pid]; }

  /// A request of `gpu` arrives, `accounted` cycles after its miss was known.
  void request(DeviceId gpu, PageKey page, std::uint32_t accounted);

  const PageTable& table(Pid pid) const override { return *tables_[pid]; }
  void walked(Walk& walk) override;
  void queue_has_room() override;

  Tlb& tlb() { return tlb_; }
  WalkUnit& walkers() { return walkers_; }
  IommuStats& stats() { return stats_; }
  MissStats& parts() { return parts_; }
  bool idle() const { return pending_.empty() && walkers_.idle() && input_.empty(); }
  std::string describe_waiting() const;

  /// Measures reuse distances, and looks at the TLB's contents at each multiple of `every` cycles.
  void observe(Cycle every) {
    observed_ = true;
    next_snapshot_ = snapshot_every_ = every;
  }
  const std::vector<L2Tlb::Snapshot>& snapshots() const { return snapshots_; }

 private:
  struct Waiter {
    DeviceId gpu{};
    std::uint32_t accounted = 0;
    Cycle stamp = 0;
  };
  struct Pending {
    std::vector<Waiter> waiters;
  };

  void on_lookup(Transaction* t);
  bool look_up(const Transaction& t);
  void respond(PageKey page, const Mapping& mapping, const Waiter& waiter);
  void look_at_contents();
  void note_reuse(PageKey page);

  Partition& partition_;
  IommuSpec spec_;
  bool two_levels_;
  IommuClient& client_;
  Tlb first_;
  Tlb tlb_;
  LookupPort port_;
  WalkUnit walkers_;
  std::vector<std::unique_ptr<PageTable>> tables_;
  boost::unordered_flat_map<std::uint64_t, Pending> pending_;
  TransactionQueue input_;  ///< two levels: lookups behind one that found the buffer full
  bool taking_input_ = false;
  HandlerId lookup_handler_;
  bool observed_ = false;
  ReuseMeter reuse_;
  Cycle snapshot_every_ = 0;
  Cycle next_snapshot_ = kNever;
  std::vector<L2Tlb::Snapshot> snapshots_;
  IommuStats stats_;
  MissStats parts_;
};

}  // namespace nearfar
