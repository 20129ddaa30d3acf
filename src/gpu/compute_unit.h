// A compute unit: wavefront slots on SIMDs, local memory, the load/store unit and the L1 vector cache.
// Here the path of an access begins: a wavefront yields an instruction, the load/store unit makes pages and lines of
// it, and what the L1 does not hold leaves for the home of its line.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/coalescer.h"
#include "gpu/gpu_spec.h"
#include "gpu/l1_tlb.h"
#include "gpu/wavefront.h"
#include "memory/cache/l1_cache.h"
#include "memory/cache/l2_cache.h"
#include "memory/data_oracle.h"
#include "program/workload.h"
#include "sim/partition.h"
#include "stats/latency.h"
#include "stats/stat.h"
#include "translation/address_space.h"
#include "translation/gmmu/page_access_tracker.h"
#include "translation/page_touches.h"
#include "translation/tlb/l2_tlb.h"
#include "translation/translation_oracle.h"

namespace nearfar {

struct ComputeUnitStats {
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;
  std::uint64_t vector_loads = 0;
  std::uint64_t vector_stores = 0;
  std::uint64_t vector_atomics = 0;
  std::uint64_t scalar_loads = 0;
  std::uint64_t local_instructions = 0;
  std::uint64_t barriers = 0;
  std::uint64_t page_groups = 0;
  std::uint64_t simd_busy_cycles = 0;
  std::uint64_t stalled_instructions = 0;
  std::uint64_t waves = 0;
  std::uint64_t groups = 0;

  void describe(StatVisitor& visitor);
};

class ScalarCache;
class ScalarTlb;

/// What the compute units of a GPU share: the way down, and the kernel they run.
struct GpuContext {
  GpuContext(Partition& p, const GpuSpec& s, Cycle translation, bool keep, DataWatch* w)
      : partition(p),
        spec(s),
        translation_latency(translation),
        keep_remote(keep),
        watch(w),
        coalescer(static_cast<unsigned>(s.line)) {}

  Partition& partition;
  const GpuSpec& spec;
  Cycle translation_latency;
  bool keep_remote;         ///< remote lines stay in the L1
  DataWatch* watch;         ///< the data oracle's, when it is on
  bool own_copies = false;  ///< each GPU has a copy of its own of every page
  Coalescer coalescer;
  LaneAddresses lanes;
  std::uint64_t frames = 0;  ///< more than any device's memory has
  L2Cache* l2 = nullptr;     ///< what is below an L1
  ByteMaskPool* masks = nullptr;
  HandlerId leave_handler = 0;           ///< a page group leaves the L1
  L2Tlb* l2_tlb = nullptr;               ///< none: translation is ideal
  PageAccessTracker* tracker = nullptr;  ///< where pages can move
  TranslationOracle* translation_oracle = nullptr;
  PageTouches* touches = nullptr;  ///< where the run is observed
  PageSize page_size;
  LoadLatency latency;

  const Workload* workload = nullptr;
  const AddressSpace* space = nullptr;
  const Launch* launch = nullptr;
  std::size_t launch_index = 0;
  std::uint8_t application = 0;

  DeviceId device() const { return partition.device(); }
  /// The first line of a page as the data oracle knows it.
  Location location_of(VirtPage virtual_page, PhysPage page) const {
    return watch->oracle().locate(application, device(), virtual_page, page,
                                  own_copies || space->is_private(virtual_page));
  }
};

/// The dispatcher above a compute unit.
class GroupListener {
 public:
  virtual ~GroupListener() = default;
  virtual void group_done(unsigned cu) = 0;
  virtual void stores_settled() = 0;  ///< a compute unit has no store on its way any more
};

class alignas(kHostLine) ComputeUnit {
 public:
  /// `scalar_tlb`: its shader array's, or null where scalar loads use the compute unit's own TLB.
  ComputeUnit(GpuContext& context, GroupListener& listener, ScalarCache& scalar, ScalarTlb* scalar_tlb, unsigned index);

  /// Whether a workgroup of the current launch fits now.
  bool has_room() const;
  /// Starts a workgroup; its wavefronts run from cycle `when` on.
  void start_group(std::uint64_t group, Cycle when);

  /// Lines of a page that the vector L1 asked for have come.
  void fill(PhysPage page, std::uint64_t lines);
  /// `lines` stores to a page have been ordered at their homes.
  void stores_ordered(PhysPage page, unsigned lines);
  /// The translation of a page that the L1 TLB asked for has come.
  void translated(PageKey key, const Mapping& mapping);
  /// A mapping is void.
  void forget(PageKey page) { tlb_.array().erase(page); }
  /// These lines of a page leave the L1.
  void drop(PhysPage page, std::uint64_t lines) { l1_.drop(page, lines); }
  /// A scalar load of a wavefront has come / an MSHR of the scalar cache is free.
  void scalar_done(unsigned slot);
  void scalar_retry(unsigned slot);
  /// The array's TLB has the translation that a scalar load waits for / has an MSHR for it.
  void scalar_translated(unsigned slot, PageKey key, const Mapping& mapping, VirtPage page) {
    hold_page(waves_[slot], key, mapping, page);
  }
  void look_up_scalar_again(unsigned slot) { sleep(waves_[slot], context_.partition.now()); }
  /// A queue that had refused `waiter`, an instruction or an access of one of `units`, has room.
  static void room_freed(std::vector<ComputeUnit>& units, std::uint16_t waiter) {
    units[waiter >> 1].room_freed((waiter & 1) != 0);
  }

  void acquire(L1Event why = L1Event::Boundary);
  void cover(L1Coverage* coverage) { l1_.cover(coverage); }

  unsigned index() const { return index_; }
  std::uint32_t stores_outstanding() const { return stores_outstanding_; }
  ComputeUnitStats& stats() { return stats_; }
  const ComputeUnitStats& stats() const { return stats_; }
  L1Stats& l1_stats() { return l1_.stats(); }
  L1TlbStats& tlb_stats() { return tlb_.stats(); }
  /// Nothing is resident, pending or stalled.
  bool idle() const;
  std::string describe_waiting() const;
  /// A wavefront executes, or will at a time that is known.
  bool computes() const;
  /// A wavefront waits for memory as it did when this was asked last. (One at a barrier waits for another wavefront.)
  bool starves();

 private:
  struct Workgroup {
    std::uint32_t waves_left = 0;
    std::uint32_t at_barrier = 0;
    WaveQueue barrier;
    bool live = false;
  };

  /// A wavefront goes on.
  struct WaveEvent : Event {
    std::uint32_t slot = 0;
    const void* frame = nullptr;  ///< of its stream: to read that from the wavefront would wait for the wavefront
  };

  /// What a wavefront waits for and since when; its loads tell two waits apart.
  struct Waiting {
    WaveState state = WaveState::Free;
    std::uint32_t since = 0;
    std::uint32_t issued = 0;
    std::uint32_t retired = 0;
    bool operator==(const Waiting&) const = default;
  };

  /// What the instruction in the load/store unit lacks; the owner of that resource wakes it.
  enum class StallReason : std::uint8_t { None, Register, StoreBuffer, Room, Tlb };

  /// Lines of a page on their way out of the L1. Of stores only the first and the last are in part.
  struct Leaving {
    std::uint64_t lines = 0;
    EdgeMasks masks;                ///< stores
    L1MshrFile::Target target = 0;  ///< loads: who asked first
    unsigned operand_bytes = 0;     ///< atomics
    Cycle when = 0;
    RecordId record = 0;  ///< the data oracle's
  };

  void on_wave(WaveEvent* event);
  void prepare_wave(const WaveEvent& event) const;
  void advance(Wavefront& wave);
  void fetch(Wavefront& wave);
  void sleep(Wavefront& wave, Cycle until);
  bool run_arithmetic(Wavefront& wave);
  bool run_scalar_load(Wavefront& wave);
  bool translate_scalar(Wavefront& wave, VirtPage virtual_page, PhysPage& page);
  void wait_for_scalar_page(Wavefront& wave, PageKey key, VirtPage virtual_page);
  void hold_page(Wavefront& wave, PageKey key, const Mapping& mapping, VirtPage virtual_page);
  void leave_page(Wavefront& wave);
  bool wait_for_loads(Wavefront& wave, std::uint32_t outstanding);
  bool meet_barrier(Wavefront& wave);
  bool pass_fence(Wavefront& wave);
  void pass_fences();
  void end(Wavefront& wave);
  Wavefront& take_slot();

  bool issue(Wavefront& wave);
  void take_instruction(Wavefront& wave);
  bool work();
  bool run(PageAccess& access);
  bool finished(const PageAccess& access);
  bool load_page(PageAccess& page);
  static void note_ready(Wavefront& wave, unsigned load, Cycle when);
  LoadUnit unit() const { return LoadUnit::of(context_.device(), index_, false); }
  void keep_byte_masks(const Stores& stores);
  ByteMask bytes_written(PageAccess& page, std::uint64_t line) const;
  void watch_store(const PageAccess& page, PhysLine line, TagArray::Slot slot, const ByteMask& mask, Leaving& leaving);
  Location location_of(const PageAccess& page) const { return context_.location_of(page.virtual_page, page.page); }
  void watch_hit(const PageAccess& page, PhysLine line, TagArray::Slot slot);
  enum class Translation : std::uint8_t { Known, Parked, Stalled };
  Translation translate(PageAccess& access);
  bool may_park(const PageAccess& access);
  void park(PageKey key, const PageAccess& access);
  ParkedAccess& set_aside(const PageAccess& access);
  /// Where an older access waits that another must not pass.
  enum class Older : std::uint8_t { None, Missing, Translated };
  Older find_older(const PageAccess& access, PageKey key);
  void ask_l2_tlb(PageKey key, bool write);
  void run_translated();
  bool has_tlb() const { return context_.l2_tlb != nullptr; }
  PageKey key_of(VirtPage page) const { return {context_.application, context_.page_size.number(page)}; }
  bool store_page(PageAccess& page);
  bool ask_for(PhysLine line);
  bool take_room(PhysLine line);
  void room_freed(bool for_translated);
  void retry(StallReason reason);
  void retry_instruction(StallReason reason);
  void send_load(PhysPage page, const Leaving& leaving, bool atomic);
  void send_store(PhysPage page, const Leaving& leaving);
  void send(LineRequest* request, RequestKind kind, PhysPage page, const Leaving& leaving);
  void add_store(PhysPage page, Leaving& leaving, std::uint64_t line, const ByteMask& mask, Cycle when);
  void finish_instruction(Wavefront& wave);
  /// How the L1's MSHRs remember who waits: a wavefront's slot and one of its loads.
  static L1MshrFile::Target load_target(const Wavefront& wave, unsigned load) {
    return static_cast<L1MshrFile::Target>(wave.slot << 4 | load);
  }
  static unsigned wave_slot(L1MshrFile::Target target) { return target >> 4; }
  void note_fill(PhysPage page, std::uint64_t lines);
  void lines_come(L1MshrFile::Target target, std::uint64_t lines);
  void lines_done(Wavefront& wave, unsigned load, unsigned lines);

  // What every completion touches comes first, then what instructions need.
  GpuContext& context_;
  Wavefront* in_unit_ = nullptr;  ///< whose instruction is in the load/store unit
  std::uint32_t stores_outstanding_ = 0;
  StallReason stall_ = StallReason::None;
  StallReason translated_stall_ = StallReason::None;
  StallReason stall_reason_ = StallReason::None;  ///< what the access that was tried last lacks
  bool trying_translated_ = false;                ///< which of the two asks for room now
  std::vector<Wavefront> waves_;
  std::vector<WaveEvent> wakings_;  ///< by wavefront slot: its event
  std::size_t next_page_ = 0;
  std::vector<PageAccess> pages_;
  Wavefront* turn_ = nullptr;  ///< who comes from the queue and may pass the others in it
  WaveQueue unit_queue_;
  WaveQueue fences_;
  L1Cache l1_;
  unsigned index_;
  HandlerId wave_handler_;
  std::vector<Cycle> simd_free_;
  ComputeUnitStats stats_;
  GroupListener& listener_;
  ScalarCache& scalar_;
  ScalarTlb* scalar_tlb_;
  std::vector<L1Image> images_;       ///< by L1 slot, when the oracle is on
  std::vector<ByteMask> byte_masks_;  ///< of the lines that a store writes in part; of an atomic, when the oracle is on
  std::vector<Workgroup> groups_;
  std::vector<std::uint32_t> simd_waves_;
  Cycle local_free_ = 0;
  std::uint64_t local_bytes_free_;
  std::uint32_t free_waves_;
  L1Tlb tlb_;
  ParkedQueue translated_;        ///< accesses that have their translation and wait for their turn
  WaveQueue scalar_tlb_waiters_;  ///< scalar loads that found no register of the L1 TLB
  std::vector<Waiting> waited_;   ///< by wavefront slot, when starves() was asked last
};

}  // namespace nearfar
