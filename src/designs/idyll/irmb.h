// The Invalidation Request Merging Buffer (IRMB) of IDYLL, beside a GPU's L2 TLB: takes invalidations of the local page
// table and acknowledges them at once. Entries that have to make room, or that idle walkers have time for, go through
// write-back buffers to the page table, one page after another, each in its turn among the misses. Until then a miss of
// such a page faults without a walk.
//
// What can race, and what decides:
//   new mapping, page merged          its invalidation is void; the entry is written by the mapping alone
//   … page in a buffer, walk queued   the same: the walk is taken back
//   … page in a buffer, being walked  the mapping's write waits behind it (order of requests for one page)
//   invalidation, mapping queued      the mapping's write is taken back, its request faults again
//   … mapping's write being walked    it writes; the page is hidden here, and written back later
//   invalidation, no room             the TLBs have forgotten the page; it is hidden here while its invalidation waits,
//                                     and no mapping of it comes, since the host waits for the acknowledgement
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "designs/idyll/merge_buffer.h"
#include "designs/idyll/spec.h"
#include "translation/design_component.h"
#include "translation/gmmu/gmmu.h"

namespace nearfar {

struct IrmbStats {
  std::uint64_t inserts = 0;
  std::uint64_t duplicates = 0;
  std::uint64_t merged = 0;
  std::uint64_t evictions_base = 0;
  std::uint64_t evictions_offset = 0;
  std::uint64_t idle_writebacks = 0;
  std::uint64_t ptes_written = 0;
  std::uint64_t bypasses = 0;
  std::uint64_t cancelled = 0;
  std::uint64_t stall_cycles = 0;

  void describe(StatVisitor& visitor);
};

class Irmb final : public DesignComponent, public WalkFilter, public Invalidator, public WalkOwner {
 public:
  Irmb(Gmmu& gmmu, const IrmbSpec& spec);

  const char* name() const override { return "irmb"; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }

  Cycle latency() const override { return 0; }  // searched beside the L2 TLB
  bool asks_replays() const override { return true; }
  bool admits(PageKey page) override;

  bool offer(PageKey page) override;
  std::size_t waiting() const override { return waiting_.size(); }
  bool hides(PageKey page) const override;
  bool cancel(PageKey page) override;
  void walkers_have_room() override;

  void walked(Walk& walk) override;

  /// Puts an invalidation, for which there is room, and which has waited for it so long, into the buffer.
  void take(PageKey page, Cycle waited);

  const MergeBuffer& array() const { return array_; }
  /// Invalidations in the buffer that have not reached the page table.
  std::uint64_t pending() const;
  IrmbStats& stats() { return stats_; }

 private:
  /// An entry on its way to the page table, its offsets in increasing order; the first is being walked.
  struct WriteBack {
    MergedPages pages;
    std::size_t next = 0;  ///< of the offsets: the one whose walk has been asked for
    Walk* walk = nullptr;

    bool busy() const { return walk != nullptr; }
    bool holds(PageKey page) const;
  };

  /// An invalidation that needs a write-back buffer, or stands behind one that does.
  struct Waiting {
    PageKey page;
    Cycle since = 0;
  };

  bool has_room(PageKey page);
  bool holds(PageKey page) const;
  void take_waiting();
  WriteBack* free_buffer();
  void begin(WriteBack& buffer);
  void walk_next(WriteBack& buffer);

  Gmmu& gmmu_;
  IrmbSpec spec_;
  MergeBuffer array_;
  std::vector<WriteBack> buffers_;
  std::deque<Waiting> waiting_;
  IrmbStats stats_;
};

}  // namespace nearfar
