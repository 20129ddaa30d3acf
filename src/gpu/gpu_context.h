// What the compute units and scalar caches of a GPU share: the way down, and the kernel that they run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "coherence/coherence_controller.h"
#include "gpu/coalescer.h"
#include "gpu/gpu_spec.h"
#include "interconnect/egress.h"
#include "interconnect/useful_bytes.h"
#include "memory/byte_masks.h"
#include "memory/cache/l2_cache.h"
#include "memory/data_oracle.h"
#include "memory/memory_level.h"
#include "memory/request_timeline.h"
#include "program/kernel_arguments.h"
#include "program/workload.h"
#include "sim/partition.h"
#include "stats/latency.h"
#include "translation/address_space.h"
#include "translation/gmmu/page_access_tracker.h"
#include "translation/page_touches.h"
#include "translation/tlb/l2_tlb.h"
#include "translation/translation_oracle.h"

namespace nearfar {

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
  std::uint64_t frames = 0;                  ///< more than any device's memory has
  L2Cache* l2 = nullptr;                     ///< what is below an L1
  MemoryLevel* level = nullptr;              ///< what is there instead, in a unified memory hierarchy
  CoherenceController* coherence = nullptr;  ///< where directories keep remote lines in L2 caches right
  ByteMaskPool* masks = nullptr;
  HandlerId leave_handler = 0;           ///< a page group leaves the L1
  L2Tlb* l2_tlb = nullptr;               ///< none: translation is ideal
  PageAccessTracker* tracker = nullptr;  ///< where pages can move
  TranslationOracle* translation_oracle = nullptr;
  PageTouches* touches = nullptr;       ///< where the run is observed
  RequestTimeline* timeline = nullptr;  ///< where its accesses are noted for a timeline
  Egress* egress = nullptr;             ///< where stores to other devices are posted
  UsefulBytes* useful = nullptr;        ///< where the bytes that they bring are followed
  PageSize page_size;
  LoadLatency latency;

  const Workload* workload = nullptr;
  const AddressSpace* space = nullptr;
  const Launch* launch = nullptr;
  std::size_t launch_index = 0;
  KernelArguments arguments;  ///< that its wavefronts load
  std::uint8_t application = 0;

  DeviceId device() const { return partition.device(); }
  /// Accesses of a page pass a place where access counters may be: they count those of other devices' memory.
  void count_remote(CountAt place, PhysPage page, std::uint32_t accesses) const {
    if (tracker == nullptr || !tracker->counts_at(place) || page.device() == device()) return;
    tracker->count_remote(page, accesses);
  }
  /// Room for a line below the L1s.
  bool reserve(PhysLine line, Waiter waiter) {
    return level == nullptr ? l2->reserve(line, waiter) : level->reserve(line, waiter);
  }
  void reserve_always(PhysLine line) {
    if (level == nullptr) {
      l2->reserve_always(line);
    } else {
      level->reserve_always(line);
    }
  }
  /// The first line of a page as the data oracle knows it.
  Location location_of(VirtPage virtual_page, PhysPage page) const {
    return watch->oracle().locate(application, device(), virtual_page, page,
                                  own_copies || space->is_private(virtual_page));
  }
};

}  // namespace nearfar
