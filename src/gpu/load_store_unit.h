// The load/store unit of a compute unit, with the vector L1 cache and the L1 TLB: takes one memory instruction at a
// time, makes pages and lines of it, translates, looks the lines up in the L1, and sends what has to go on to the L2.
// It stalls in place when an MSHR, a buffer or a queue is full, and whoever owns that wakes it.
#pragma once

#include <cstdint>
#include <string>

#include "gpu/compute_unit_stats.h"
#include "gpu/gpu_context.h"
#include "gpu/gpu_l1_cache.h"
#include "gpu/l1_tlb.h"
#include "gpu/memory_instruction.h"
#include "gpu/page_access.h"
#include "gpu/reorder_buffer.h"
#include "gpu/wavefront.h"
#include "memory/byte_masks.h"
#include "memory/lower_level.h"
#include "memory/request_timeline.h"

namespace nearfar {

class ComputeUnit;

class LoadStoreUnit {
 public:
  /// `waves` are the wavefront slots of the compute unit, in whose statistics instructions and accesses count.
  LoadStoreUnit(GpuContext& context, ComputeUnit& cu, Wavefront* waves, ComputeUnitStats& stats, unsigned index);

  // What its compute unit asks of it.
  /// Whether the unit is free for an instruction of this wavefront; otherwise the wavefront waits in its queue.
  bool may_issue(Wavefront& wave) {
    if (in_unit_ != nullptr || (!waiters_.empty() && turn_ != &wave)) {
      waiters_.push(&wave);
      return false;
    }
    turn_ = nullptr;
    return true;
  }
  /// Takes the wavefront's instruction. False where it stalls: then ComputeUnit::instruction_finished() follows.
  bool issue(Wavefront& wave);
  /// The frame of a scalar load's page; false where the wavefront has to wait for its translation.
  bool translate_scalar(Wavefront& wave, VirtPage virtual_page, PhysPage& page);
  /// Kernel boundary or fence: the L1 drops what it holds.
  void acquire(L1Event why, Scope scope) { l1_.acquire(why, scope); }

  // What comes back to it.
  /// Lines of a page that the L1 asked for have come.
  void fill(PhysPage page, std::uint64_t lines);
  /// `lines` stores to a page have been ordered at their homes.
  void stores_ordered(PhysPage page, unsigned lines);
  /// The translation of a page that the L1 TLB asked for has come.
  void translated(PageKey key, const Mapping& mapping);
  /// A queue below that was full for `waiter`, which is of this unit, has room.
  void wake(Waiter waiter);
  static unsigned unit_of(Waiter waiter) { return waiter >> 1; }

  /// A mapping is no longer valid.
  void invalidate(PageKey page) { tlb_.invalidate(page); }
  /// Accesses that have the translation of a page and have not gone on their way give it up, each at most once: else
  /// two GPUs could take a page from each other for ever. They are translated again. Scalar loads keep theirs.
  void translate_again(PageKey page);
  /// These lines of a page leave the L1.
  void drop(PhysPage page, std::uint64_t lines) { l1_.drop(page, lines); }

  std::uint32_t stores_outstanding() const { return stores_outstanding_; }
  GpuL1Cache& l1() { return l1_; }
  L1TlbStats& tlb_stats() { return tlb_.stats(); }
  /// Nothing is pending, parked or stalled.
  bool idle() const { return nothing_pending() && waiters_.empty(); }
  std::string describe_waiting() const;

 private:
  /// What an access lacks; the owner of that resource wakes it.
  enum class StallReason : std::uint8_t { None, Mshr, StoreBuffer, QueueBelow, TlbMshr, ReorderBuffer };
  enum class Translation : std::uint8_t { Known, Parked, Stalled };

  /// Lines of a page on their way out of the L1. Of stores only the first and the last are in part.
  struct Outgoing {
    std::uint64_t lines = 0;
    EdgeMasks masks;                     ///< stores
    L1MshrFile::Group* group = nullptr;  ///< loads: their MSHRs
    Cycle when = 0;
    RecordId record = 0;  ///< the data oracle's
  };

  // An instruction.
  void take_instruction(Wavefront& wave);
  void count_instruction(OpKind kind);
  bool enter_reorder_buffer();
  void retire();
  bool work();
  bool run(PageAccess& access);
  bool finished(const PageAccess& access);
  void finish_instruction(Wavefront& wave);
  void retry(StallReason reason);
  void retry_instruction(StallReason reason);

  // Its translation.
  bool has_tlb() const { return context_.l2_tlb != nullptr; }
  PageKey key_of(VirtPage page) const { return {context_.application, context_.page_size.number(page)}; }
  Translation translate(PageAccess& access);
  PhysPage use(PageKey key, const Mapping& mapping, VirtPage virtual_page, bool write) const;
  void hold_translation(PageAccess& access, PageKey key, const Mapping& mapping);
  bool may_park(const PageAccess& access);
  void park(PageKey key, const PageAccess& access);
  ParkedAccess& set_aside(const PageAccess& access);
  void ask_l2_tlb(PageKey key, bool write);
  bool give_up(PageAccess& access, PageKey key);
  void ask_again();
  void resume(ParkedQueue waiters, PageKey key, const Mapping& mapping);
  void run_translated();

  // Its loads and atomics.
  bool load_page(PageAccess& page);
  bool merge(const PageAccess& page, L1MshrFile::Group& pending, PhysLine line);
  bool take_mshr(const PageAccess& page, PhysLine line, Outgoing& missing);
  void begin_atomic(PageAccess& page, PhysLine line, TagArray::Slot slot, Outgoing& missing);
  void send_loads(const PageAccess& page, Outgoing& missing);
  void lines_done(Wavefront& wave, unsigned load, unsigned lines);
  /// The data of a load is not complete before `when`.
  static void note_ready(Wavefront& wave, unsigned load, Cycle when) {
    const auto low = static_cast<std::uint32_t>(when);
    if (static_cast<std::int32_t>(low - wave.ready[load]) > 0) wave.ready[load] = low;
  }
  /// How the L1's MSHRs remember who waits: a wavefront's slot and one of its loads.
  static L1MshrFile::Target load_target(const PageAccess& page) {
    return static_cast<L1MshrFile::Target>(page.slot << 4 | page.load);
  }
  static unsigned slot_of(L1MshrFile::Target target) { return target >> 4; }
  static unsigned load_of(L1MshrFile::Target target) { return target & (kLoadSlots - 1); }

  // Its stores.
  bool store_page(PageAccess& page);
  ByteMask bytes_written(PageAccess& page, std::uint64_t line) const;
  void add_store(PhysPage page, Outgoing& stores, std::uint64_t line, const ByteMask& mask, Cycle when);
  void send_stores(PhysPage page, const Outgoing& stores);

  // load_store_timeline.cpp: what it says for a timeline.
  RequestTimeline::Issuer issuer(L1MshrFile::Target target) const;
  RequestTimeline::Issuer issuer(const PageAccess& access) const;
  void record_instruction();
  void record_lookups(const PageAccess& access, std::uint64_t lines);
  void record_fill(const L1MshrFile::Arrival& arrival, PhysPage page, std::uint64_t lines);

  bool reserve(PhysLine line);
  bool nothing_pending() const {
    return in_unit_ == nullptr && stores_outstanding_ == 0 && l1_.pending().used() == 0 && tlb_.parked() == 0 &&
           reorder_buffer_.empty();
  }

  // What every completion touches comes first, then what instructions need.
  GpuContext& context_;
  ComputeUnit& cu_;
  Wavefront* waves_;              ///< by slot
  Wavefront* in_unit_ = nullptr;  ///< whose instruction is in the unit
  std::uint32_t stores_outstanding_ = 0;
  StallReason stall_ = StallReason::None;             ///< of the instruction in the unit
  StallReason translated_stall_ = StallReason::None;  ///< of the first access that has its translation
  StallReason stall_reason_ = StallReason::None;      ///< of the access that was tried last
  bool trying_translated_ = false;                    ///< which of the two is tried now
  MemoryInstruction instruction_;                     ///< in the unit
  Wavefront* turn_ = nullptr;                         ///< who comes from the queue and may pass the others in it
  WaveQueue waiters_;                                 ///< wavefronts that found the unit busy
  GpuL1Cache l1_;
  ComputeUnitStats& stats_;
  unsigned index_;
  L1Tlb tlb_;
  ReorderBuffer reorder_buffer_;
  bool ordered_ = true;       ///< the instruction in the unit has its places in the reorder buffer, or needs none
  WaveQueue scalar_waiters_;  ///< wavefronts whose scalar load found no MSHR of the L1 TLB
};

}  // namespace nearfar
