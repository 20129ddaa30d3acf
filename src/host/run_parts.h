// Where the time of a program on host and GPUs goes: copies in, kernels, copies out, work of the host. And what its
// synchronizations cost: from the end of a launch's last workgroup until the host has read the first line of a result.
#pragma once

#include <cstdint>
#include <vector>

#include "program/workload.h"
#include "stats/stat.h"

namespace nearfar {

/// Of first executions, summed over applications.
struct RunPartStats {
  std::uint64_t copy_in = 0;
  std::uint64_t kernel = 0;
  std::uint64_t copy_out = 0;
  std::uint64_t host = 0;

  void describe(StatVisitor& visitor);
};

struct SyncStats {
  std::uint64_t count = 0;
  std::uint64_t cycles = 0;
  std::uint64_t ff_bytes = 0;
  std::uint64_t r_bytes = 0;
  std::uint64_t w_bytes = 0;
  std::uint64_t home_bytes = 0;

  /// Those that kernels only read, and those that they write.
  void add_buffers(const Workload& workload);
  void describe(StatVisitor& visitor);
};

/// What synchronizations take in a unified memory hierarchy, where only what the host touches comes home.
struct DemandSyncStats {
  std::uint64_t first_home_bytes = 0;
  std::uint64_t first_bound_bytes = 0;

  void describe(StatVisitor& visitor);
};

class RunParts {
 public:
  RunParts(std::size_t applications, std::uint64_t line_bytes) : progress_(applications), line_bytes_(line_bytes) {}

  void step_begins(std::size_t application, const Step& step);
  void step_ended(std::size_t application, Cycle now);
  void launch_begins(std::size_t application) { progress_[application].launch = {}; }
  /// A GPU's last workgroup of a launch ended, when `home` bytes had gone home on demand; its release wrote so many
  /// lines to memory.
  void groups_ended(std::size_t application, Cycle when, std::uint64_t home);
  void flushed(std::size_t application, std::uint64_t lines) { progress_[application].launch.flushed += lines; }
  /// The first line of an access of the host has come, and `home` bytes have gone home on demand; one synchronization
  /// sends at most `bound`.
  void host_sees(std::size_t application, const Workload& workload, const HostAccess& access, Cycle now,
                 std::uint64_t home, std::uint64_t bound);

  /// The host's core has worked on a program's data, or a management of memory has copied some.
  bool on() const { return on_; }
  RunPartStats& stats() { return stats_; }
  SyncStats& sync() { return sync_; }
  DemandSyncStats& on_demand() { return on_demand_; }

 private:
  enum class Part : std::uint8_t { CopyIn, Kernel, CopyOut, Host };
  struct LaunchEnd {
    Cycle ended = 0;
    std::uint64_t home = 0;     ///< bytes that had gone home on demand by then
    std::uint64_t flushed = 0;  ///< lines
    bool open = false;          ///< the host has read nothing of it yet
  };
  struct Progress {
    Part part = Part::Host;
    Cycle since = 0;
    LaunchEnd launch;
  };

  void begins(Progress& progress, const LaunchStep&) { progress.part = Part::Kernel; }
  void begins(Progress& progress, const Copy& copy) { progress.part = copy.to ? Part::CopyIn : Part::CopyOut; }
  void begins(Progress& progress, const HostPhase&) { progress.part = Part::Host; }
  void begins(Progress& progress, const HostAccess&);
  void begins(Progress& progress, const Transfer& transfer);
  void begins(Progress&, const Sync&) {}  // waits for what came before it

  std::vector<Progress> progress_;
  std::uint64_t line_bytes_;
  bool on_ = false;
  RunPartStats stats_;
  SyncStats sync_;
  DemandSyncStats on_demand_;
};

}  // namespace nearfar
