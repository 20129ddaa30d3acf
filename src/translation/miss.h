// A miss of a GPU's L2 TLB, from its MSHR to its answer, and where its time goes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory/cache/targets.h"
#include "sim/timeline.h"
#include "stats/stat.h"
#include "translation/page.h"

namespace nearfar {

struct Walk;

/// The parts of a miss's latency. Every cycle belongs to exactly one.
enum class LatencyComponent : std::uint8_t {
  GmmuBlocked,
  GmmuQueue,
  Filter,
  GmmuCache,
  GmmuUpper,
  GmmuLeaf,
  FaultBuffer,
  LinkToHost,
  HostTlb,
  HostQueue,
  HostCache,
  HostUpper,
  HostLeaf,
  RemoteLink,
  RemoteQueue,
  RemoteWalk,
  DriverBatch,
  DriverTurn,
  DriverParked,
  MigrationInvalidate,
  MigrationTransfer,
  LinkToGpu,
  GmmuUpdate,
  Replay,
  IommuLink,
  IommuTlb,
  IommuQueue,
  IommuWalk,
};
inline constexpr std::size_t kLatencyComponents = 28;

/// Sums over the measured misses: the first request of each MSHR. Each device adds what happened in it.
struct MissStats {
  std::uint64_t count = 0;
  std::uint64_t latency = 0;
  std::uint64_t merged_latency = 0;
  std::uint64_t discarded = 0;
  std::array<std::uint64_t, kLatencyComponents> parts{};
  Histogram histogram;

  void add(LatencyComponent part, std::uint64_t cycles) { parts[static_cast<std::size_t>(part)] += cycles; }
  void describe(StatVisitor& visitor);
};

/// Time of misses that passed outside the GPU that waited, in a device that serves several: by that GPU.
class ServedMisses {
 public:
  void add(DeviceId gpu, LatencyComponent part, std::uint64_t cycles) {
    if (by_gpu_.size() <= gpu.value) by_gpu_.resize(gpu.value + std::size_t{1});
    by_gpu_[gpu.value].add(part, cycles);
  }
  /// Parts alone: how many misses there are, the GPU knows.
  MissStats of(DeviceId gpu) const { return gpu.value < by_gpu_.size() ? by_gpu_[gpu.value] : MissStats{}; }
  MissStats total() const;

 private:
  std::vector<MissStats> by_gpu_;
};

enum class MissState : std::uint8_t {
  Walk,        ///< waits for a walker, or is walked
  Invalidate,  ///< its walk's result was stale: waits for the invalidation that made it so
  Fault,       ///< the host is asked
  Update,      ///< the answer is being written into the local table
  Lookup,      ///< looks the L2 TLB up again
  Ats,         ///< the IOMMU is asked
};

/// A part's name, as statistics and timelines show it.
const char* name_of(LatencyComponent part);

/// Notes a part of a miss's time under the GPU that waits, wherever it passed.
inline void add_timeline_component(Timeline* timeline, DeviceId gpu, PageKey page, LatencyComponent part, Cycle from,
                                   Cycle until) {
  if (timeline == nullptr || from == until) return;
  timeline->note({TimelineEvent::Kind::Request, gpu.value, 0, name_of(part), from, until, page.value, 0},
                 page.number());
}

struct Miss {
  PageKey page;
  Targets targets;  ///< compute units
  Cycle since = 0;  ///< when the miss was known
  Cycle stamp = 0;  ///< up to here its time has been put to a part
  MissState state = MissState::Walk;
  bool write = false;        ///< a store waits
  bool stale = false;        ///< an invalidation came while it was waiting or walking
  bool invalidated = false;  ///< an invalidation, `epoch`, came while the host was asked
  bool replayed = false;     ///< its time from here on is the replay's
  bool unmeasured = false;   ///< who is asked puts no time to parts, since its answer may be dropped
  bool prefetch = false;     ///< nobody waits for it (tlb_prefetcher.h)
  bool ahead = false;        ///< what has been asked for below is a prefetch, which may be dropped there
  Epoch epoch = 0;
  std::uint16_t number = 0;        ///< of its last fault
  std::uint64_t merged = 0;        ///< requests that joined
  std::uint64_t merged_since = 0;  ///< sum of the cycles in which they did
  std::uint64_t accounted = 0;     ///< cycles put to parts, in all devices
};

}  // namespace nearfar
