// What is below the L1s of all GPUs, without time: their L2s, the coherence directories, the host's last-level cache,
// and what the requests between them would send over links. A request is ordered at the home of its line and answered
// at once, and invalidations have arrived before the next request is made.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "characterize/functional/functional_l2.h"
#include "coherence/coherence_controller.h"
#include "coherence/directory.h"
#include "config/system_spec.h"
#include "interconnect/network_interface.h"
#include "interconnect/packet_format.h"
#include "sim/types.h"
#include "stats/stat.h"

namespace nearfar {

/// Requests that a GPU sent over links, by type.
struct RequestTypeStats {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t atomics = 0;

  void describe(StatVisitor& visitor);
};

class FunctionalMemory {
 public:
  explicit FunctionalMemory(const SystemSpec& system);

  /// A GPU will ask for a line soon.
  void prefetch(DeviceId gpu, PhysLine line) {
    l2_of(gpu).prefetch(line);
    if (line.device() != gpu) l2_of(line.device()).prefetch(line);
  }

  // Accesses of a GPU: a load or scalar load that its L1 missed, `bytes` of a line written, an atomic of `bytes`.
  void load(DeviceId gpu, PhysLine line);
  void store(DeviceId gpu, PhysLine line, std::uint32_t bytes);
  void atomic(DeviceId gpu, PhysLine line, std::uint32_t bytes);

  /// Acquire of system scope: remote lines in a GPU's L2 may be old, unless directories track them.
  void acquire(DeviceId gpu);
  /// The end of a kernel.
  void release();
  // Copies between launches.
  void copy_from(PhysLine line) { l2_of(line.device()).copy_from(line); }
  void copy_to(PhysLine line);

  FunctionalL2& l2_of(DeviceId device) { return l2s_[device.value]; }
  /// Null where there is none.
  Directory* directory_of(DeviceId gpu) { return directories_.empty() ? nullptr : directories_[gpu.value].get(); }
  CoherenceStats& coherence_of(DeviceId gpu) { return coherence_[gpu.value]; }
  LinkStats& link_of(DeviceId device) { return links_[device.value]; }
  RequestTypeStats& requests_of(DeviceId gpu) { return requests_[gpu.value]; }

 private:
  /// Whether an L2 keeps lines of a device that is not its own.
  bool keeps(DeviceId home) const { return caches_remote_ && home != host_; }
  bool tracks(DeviceId home) const { return !directories_.empty() && home != host_; }
  void fetch(DeviceId gpu, PhysLine line);
  void exchange(DeviceId gpu, DeviceId home, std::uint32_t request_bytes, std::uint32_t reply_bytes);
  void deliver_invalidations(DeviceId home);

  DeviceId host_;
  std::uint32_t line_bytes_;
  bool caches_remote_;
  bool fetches_;
  BoundarySpec boundary_;
  PlainPacketFormat format_;
  std::vector<FunctionalL2> l2s_;                        ///< by device
  std::vector<std::unique_ptr<Directory>> directories_;  ///< by GPU, where there are any
  Invalidations out_;
  std::vector<CoherenceStats> coherence_;   ///< by GPU
  std::vector<LinkStats> links_;            ///< by device
  std::vector<RequestTypeStats> requests_;  ///< by GPU
};

}  // namespace nearfar
