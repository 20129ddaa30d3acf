// A compute unit: wavefront slots on SIMDs, local memory, workgroups with their barriers, and a load/store unit.
// Here the path of an access begins: a wavefront's stream yields an instruction, and the load/store unit makes pages
// and lines of it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "gpu/compute_unit_stats.h"
#include "gpu/gpu_context.h"
#include "gpu/load_store_unit.h"
#include "gpu/wavefront.h"
#include "sim/partition.h"
#include "sim/prefetch.h"

namespace nearfar {

class ScalarCache;
class ScalarTlb;

/// The dispatcher above a compute unit.
class GroupListener {
 public:
  virtual ~GroupListener() = default;
  virtual void group_done(unsigned cu) = 0;
  virtual void stores_settled() = 0;  ///< a compute unit has no store on its way any more
};

/// It stays where it was made: its events and its load/store unit point to it.
class alignas(kHostLine) ComputeUnit {
 public:
  /// `scalar_tlb`: its shader array's, or null where scalar loads use the compute unit's own TLB.
  ComputeUnit(GpuContext& context, GroupListener& listener, ScalarCache& scalar, ScalarTlb* scalar_tlb, unsigned index);

  /// Whether a workgroup of the current launch fits now.
  bool has_room() const;
  /// Starts a workgroup; its wavefronts run from cycle `when` on.
  void start_group(std::uint64_t group, Cycle when);

  // From its load/store unit.
  LoadStoreUnit& load_store() { return lsu_; }
  const LoadStoreUnit& load_store() const { return lsu_; }
  /// All lines of a load are there.
  void load_done(Wavefront& wave, unsigned load) {
    if (wave.state == WaveState::Loads && wave.loads_retired % kLoadSlots == load) advance(wave);
  }
  /// The instruction of a wavefront, which had stalled, has left the unit.
  void instruction_finished(Wavefront& wave);
  /// The unit is free for the instruction of a wavefront that waited for it.
  void issue_again(Wavefront& wave) { advance(wave); }
  /// All stores have been ordered at their homes.
  void stores_settled();
  /// The page of a scalar load has been translated, and does not leave before the load has gone on.
  void scalar_translated(Wavefront& wave, PhysPage page);
  /// A wavefront goes on in this cycle, behind what happens in it already.
  void wake(Wavefront& wave) { sleep(wave, context_.partition.now()); }

  // From its scalar cache: a scalar load of a wavefront has come / an MSHR is free.
  void scalar_done(unsigned slot);
  void scalar_retry(unsigned slot);

  // From the TLB of its shader array, where that has one: the translation of a scalar load has come / an MSHR is free.
  void scalar_translated(unsigned slot, PageKey key, const Mapping& mapping, VirtPage virtual_page);
  void look_up_scalar_again(unsigned slot) { wake(waves_[slot]); }

  /// What a fence waited for has come: every invalidation that had been sent when it began has arrived; or, where
  /// stores are posted, all that were before it have been written.
  void fence_settled();

  unsigned index() const { return index_; }
  ComputeUnitStats& stats() { return stats_; }
  const ComputeUnitStats& stats() const { return stats_; }
  /// Nothing is resident, pending or stalled.
  bool idle() const { return free_waves_ == waves_.size() && lsu_.idle(); }
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

  void on_wave(WaveEvent* event);
  void prepare_wave(const WaveEvent& event) const;
  void advance(Wavefront& wave);
  void fetch(Wavefront& wave);
  void fetch_argument(Wavefront& wave);
  void sleep(Wavefront& wave, Cycle until);
  bool block(Wavefront& wave, WaveState state);
  bool run_arithmetic(Wavefront& wave);
  bool issue(Wavefront& wave);
  bool run_scalar_load(Wavefront& wave);
  bool translate_scalar(Wavefront& wave, VirtPage virtual_page, PhysPage& page);
  PhysPage use(PageKey key, const Mapping& mapping, VirtPage virtual_page) const;
  void leave_page(Wavefront& wave);
  bool wait_for_loads(Wavefront& wave, std::uint32_t outstanding);
  bool pause(Wavefront& wave);
  bool meet_barrier(Wavefront& wave);
  bool pass_fence(Wavefront& wave);
  bool must_settle(Scope scope) const;
  bool stores_linger() const;
  void pass_fence(Scope scope);
  void begin_release();
  void pass_fences();
  void acquire(Scope scope);
  void start_fence();
  void end(Wavefront& wave);
  Wavefront& take_slot();

  // What every step touches comes first; the load/store unit begins with what every completion touches.
  GpuContext& context_;
  std::vector<Wavefront> waves_;
  std::vector<WaveEvent> wakings_;  ///< by wavefront slot: its event
  HandlerId wave_handler_;
  unsigned index_;
  LoadStoreUnit lsu_;
  WaveQueue fences_;               ///< wait until the unit's stores are ordered, or posted
  WaveQueue settling_;             ///< wait until invalidations have arrived, or posted stores have been written
  WaveQueue next_to_settle_;       ///< the same behind the fence that waits now
  Cycle release_begun_ = 0;        ///< of the fence that waits now
  std::uint64_t last_posted_ = 0;  ///< of the fence that waits now: the unit's last store before it (oracle)
  std::uint64_t next_posted_ = 0;  ///< of the next one
  std::vector<Cycle> simd_free_;
  ComputeUnitStats stats_;
  GroupListener& listener_;
  ScalarCache& scalar_;
  ScalarTlb* scalar_tlb_;
  std::vector<Workgroup> groups_;
  std::vector<std::uint32_t> simd_waves_;
  Cycle local_free_ = 0;
  std::uint64_t local_bytes_free_;
  std::uint32_t free_waves_;
  std::vector<Waiting> waited_;  ///< by wavefront slot, when starves() was asked last
};

}  // namespace nearfar
