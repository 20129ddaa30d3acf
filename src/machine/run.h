// One run: system + workloads + seed → one result. The door through which the command line, the tests and the
// benchmarks use the simulator.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "config/system_spec.h"
#include "memory/cache/protocol_coverage.h"
#include "program/workload.h"
#include "sim/error.h"
#include "sim/timeline.h"
#include "stats/stat.h"

namespace nearfar {

/// How far a run is; handed out now and then while it goes on.
struct Progress {
  std::uint64_t groups_done = 0;
  std::uint64_t groups_total = 0;
  std::uint64_t accesses = 0;
  Cycle cycle = 0;
};

struct RunRequest {
  SystemSpec system;
  /// One: it runs on all GPUs. Several: application i runs whole on GPU i.
  std::vector<std::shared_ptr<const Workload>> applications;
  unsigned threads = 1;
  bool check = false;                                ///< oracles on
  bool per_unit = false;                             ///< statistics of every compute unit too, not only their sums
  TimelineFilter timeline;                           ///< what to note for a timeline
  ProtocolCoverage* coverage = nullptr;              ///< the run adds which events met which states of lines
  Cycle window = 0;                                  ///< 0: the smallest link latency; smaller only for tests
  std::function<void(const Progress&)> on_progress;  ///< called from one thread, about five times a second
};

struct LaunchResult {
  std::string kernel;
  std::size_t application = 0;
  Cycle start = 0;
  Cycle end = 0;
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;
};

/// A value at each multiple of a number of cycles.
struct Series {
  std::string name;
  Cycle every = 0;
  std::vector<std::uint64_t> values;
};

struct RunResult {
  Cycle cycles = 0;
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;  ///< coalesced line accesses issued by the compute units
  std::uint64_t events = 0;
  double host_seconds = 0;
  std::uint64_t peak_rss_bytes = 0;
  std::vector<LaunchResult> launches;   ///< of first executions, in order of their end
  std::vector<StatValue> statistics;    ///< sorted by name
  std::vector<Series> series;           ///< of an observed run, sorted by name
  std::vector<TimelineEvent> timeline;  ///< by start
  std::uint64_t timeline_lost = 0;      ///< events beyond the limit
};

RunResult run(const RunRequest& request);

}  // namespace nearfar
