// An L1 cache of a GPU, vector or scalar, with what both need around the cache itself: how lines leave it for the L2,
// how it is filled when they come, and what the data oracle knows of the lines that it holds.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/gpu_context.h"
#include "memory/cache/l1_cache.h"
#include "memory/line_request.h"

namespace nearfar {

class GpuL1Cache : public L1Cache {
 public:
  /// `unit` is the load/store unit or scalar cache whose L1 this is.
  GpuL1Cache(GpuContext& context, const L1Spec& spec, LoadUnit unit);

  LoadUnit unit() const { return unit_; }

  /// Kernel boundary or fence: drops what it holds.
  void acquire(L1Event why, Scope scope);

  /// Lines of the page of `first` leave for the L2 in cycle `when`.
  void send(LineRequest* request, RequestKind kind, PhysLine first, std::uint64_t lines, Cycle when);

  /// A line that is to be asked for, and will be kept, can have a way; it has one from then on. Always, where victims
  /// leave when lines come.
  bool has_way(PhysLine line) const { return !reserves(line) || can_reserve_way(line); }
  void take_way(PhysLine line) {
    if (reserves(line)) reserve_way(line);
  }
  /// A pending line is old: what comes is not kept.
  void poison(L1MshrFile::Group& group, PhysLine line);

  /// Lines of a page that were asked for have come. Their MSHRs become free, and lines are kept unless poisoned, or
  /// remote where remote lines are not kept. The answer is who waits: for notify_waiters().
  L1MshrFile::Arrival fill(PhysPage page, std::uint64_t lines);
  /// Calls notify(target, lines) for each who waited for some of the lines.
  template <class Notify>
  void notify_waiters(L1MshrFile::Arrival& arrival, std::uint64_t lines, Notify notify) {
    notify(arrival.target, lines);
    while (!arrival.merged.empty()) {
      L1MshrFile::MergedLoad* merge = arrival.merged.pop();
      const L1MshrFile::Target target = merge->target;
      const std::uint64_t come = merge->lines;
      pending().release(merge);
      notify(target, come);
    }
  }

  // For the data oracle, when it is on.
  /// A load hits a line of the virtual page.
  void watch_hit(VirtPage virtual_page, PhysLine line, TagArray::Slot slot);
  /// A load merges with the pending load of a line.
  void watch_merge(PhysLine line) { context_.watch->load_merged(unit_, line); }
  /// Loads of lines of a page leave.
  RecordId watch_loads(VirtPage virtual_page, PhysPage page, std::uint64_t lines);
  /// A store, or the store of an atomic, leaves; it also writes to the line in `slot`, if there is one.
  RecordId watch_store(RecordId record, VirtPage virtual_page, PhysLine line, TagArray::Slot slot,
                       const ByteMask& mask);

 private:
  bool may_keep(PhysPage page) const { return context_.keep_remote || page.device() == context_.device(); }
  bool reserves(PhysLine line) const { return reserves_ways() && may_keep(line.page()); }
  void note_fill(PhysPage page, std::uint64_t lines);

  GpuContext& context_;
  LoadUnit unit_;
  std::vector<L1Image> images_;  ///< by slot, when the data oracle is on
};

}  // namespace nearfar
