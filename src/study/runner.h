// Runs what the store does not have: each run a child process, as many at once as cores and memory allow, the longest
// first. A run that fails, crashes or hangs is recorded and does not stop the others.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "study/named_run.h"
#include "study/store.h"

namespace nearfar {

/// A run that is under way.
struct ActiveRun {
  std::string label;
  double share = 0;    ///< done, 0 to 1
  double seconds = 0;  ///< since its start
};

/// How far a study is; handed out a few times a second and whenever a run ends.
struct StudyProgress {
  std::size_t total = 0;   ///< runs that were missing
  std::size_t done = 0;    ///< of these, those that have a result now
  std::size_t failed = 0;  ///< those that have none and will get none
  std::vector<ActiveRun> active;
  double seconds_left = 0;  ///< 0 where it cannot be told
  std::string event;        ///< what has just happened; empty most times
};

struct RunnerOptions {
  unsigned jobs = 0;                 ///< 0: as many as there are cores
  double timeout = 0;                ///< seconds a run may take; 0: any
  double hung_after = 600;           ///< seconds without progress after which a run is given up
  std::string program;               ///< what is started; empty: this program itself
  std::uint64_t memory = 0;          ///< bytes that runs may take together; 0: what is free
  std::vector<std::string> words{};  ///< for `nearfar run`, of every run: how it is done, not what
  std::function<void(const StudyProgress&)> on_progress;
  std::function<bool()> stop{};  ///< asked a few times a second: whether to end early, as Ctrl-C does
};

struct RunnerOutcome {
  std::size_t present = 0;  ///< already in the store
  std::size_t done = 0;
  std::size_t failed = 0;
  bool interrupted = false;  ///< by Ctrl-C, a termination or `stop`; what is missing is run the next time
};

/// Thrown where a person ended the work early; says how to go on.
class Interrupted : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Runs on this machine.
RunnerOutcome run_missing(const std::vector<PlannedRun>& runs, ResultStore& store, const RunnerOptions& options);

struct Unmeasurable {
  NamedRun run;
  std::string reason;  ///< "design least-tlb does not exist yet"
};

struct Planned {
  std::vector<PlannedRun> runs;
  std::vector<Unmeasurable> unmeasurable;
};

/// Plans all runs; those with designs that do not exist are set aside.
Planned plan_runs(const std::vector<NamedRun>& runs);

}  // namespace nearfar
