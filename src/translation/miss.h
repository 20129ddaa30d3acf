// A miss of a GPU's L2 TLB, from its MSHR to its answer, and where its time goes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "memory/cache/targets.h"
#include "sim/partition.h"
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

  void describe(StatVisitor& visitor);
};

enum class MissState : std::uint8_t {
  Walk,        ///< waits for a walker, or is walked
  Invalidate,  ///< its walk's result was stale: waits for the invalidation that made it so
  Fault,       ///< the host is asked
  Update,      ///< the answer is being written into the local table
  Lookup,      ///< looks the L2 TLB up again
  Ats,         ///< the IOMMU is asked
  LeafRead,    ///< the device is asked that has the leaf table (gmmu/leaf_tables.h)
};

/// A part's name, as statistics and timelines show it.
const char* name_of(LatencyComponent part);

/// How much of the time of a miss, or of a fault that it led to, has been put to components, in whichever device.
struct TimeAccount {
  Cycle stamp = 0;              ///< up to here
  std::uint64_t accounted = 0;  ///< cycles that have been

  /// Another device has put these cycles to components.
  void skip(std::uint64_t cycles) {
    stamp += cycles;
    accounted += cycles;
  }
};

/// The one place in a device where the time of misses is put to components: into sums by the GPU that waits, and onto
/// the timeline.
class LatencyLedger {
 public:
  /// For the misses of all GPUs from `first` on.
  explicit LatencyLedger(Partition& partition, DeviceId first = DeviceId{0}) : partition_(partition), first_(first) {}

  /// Time since the account's stamp, until now or until `until`.
  void charge(TimeAccount& account, DeviceId gpu, PageKey page, LatencyComponent part) {
    charge(account, gpu, page, part, partition_.now());
  }
  void charge(TimeAccount& account, DeviceId gpu, PageKey page, LatencyComponent part, Cycle until);

  /// The sums of a GPU. Where another device counts its misses, only their parts are here.
  MissStats& sums(DeviceId gpu) {
    const std::size_t index = gpu.value - first_.value;
    if (by_gpu_.size() <= index) by_gpu_.resize(index + 1);
    return by_gpu_[index];
  }
  MissStats of(DeviceId gpu) const {
    const std::size_t index = gpu.value - first_.value;
    return index < by_gpu_.size() ? by_gpu_[index] : MissStats{};
  }
  /// The parts of all GPUs together.
  MissStats total() const;

 private:
  Partition& partition_;
  DeviceId first_;
  std::vector<MissStats> by_gpu_;
};

/// The ledger of a device that serves the misses of several GPUs.
using ServedMisses = LatencyLedger;

struct Miss {
  PageKey page;
  Targets targets;  ///< compute units
  Cycle since = 0;  ///< when the miss was known
  TimeAccount time;
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
};

}  // namespace nearfar
