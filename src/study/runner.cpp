// One loop: start what fits, wait until something happens, take in what has ended.
#include "study/runner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <memory>
#include <set>
#include <thread>

#include "study/child.h"
#include "study/cost.h"
#include "study/run_folder.h"
#include "study/stop_signals.h"

namespace nearfar {
namespace {

using Clock = std::chrono::steady_clock;

constexpr auto kTick = std::chrono::milliseconds(200);
/// A crash or a damaged file may be an accident; an error that a run reports itself comes again.
constexpr unsigned kMostAttempts = 2;

struct Pending {
  PlannedRun run;
  double seconds = 0;
  std::uint64_t memory = 0;
  unsigned attempts = 0;
};

struct Active {
  Pending pending;
  std::unique_ptr<Child> child;
  std::string given_up;  ///< why it was killed; empty: it was not
};

class Runner {
 public:
  Runner(ResultStore& store, const RunnerOptions& options)
      : store_(store),
        options_(options),
        folder_(store.path()),
        costs_(store.known_costs()),
        jobs_(options.jobs != 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency())),
        program_(options.program.empty() ? "/proc/self/exe" : options.program) {}

  RunnerOutcome run(const std::vector<PlannedRun>& runs) {
    choose(runs);
    while (!pending_.empty() || !elsewhere_.empty() || !active_.empty()) {
      if (signals_.arrived() || (options_.stop && options_.stop())) {
        active_.clear();  // ends them; what they had is run again the next time
        outcome_.interrupted = true;
        break;
      }
      look_elsewhere();
      start_what_fits();
      wait();
      take_in();
      report("");
    }
    return outcome_;
  }

 private:
  void choose(const std::vector<PlannedRun>& runs) {
    std::set<std::string> seen;
    for (const PlannedRun& run : runs) {
      if (!seen.insert(run.key).second) continue;
      if (store_.contains(run.key)) {
        ++outcome_.present;
        if (folder_.has_leftover(run.key)) folder_.clean(run.key);  // a study was killed just after it had stored it
      } else {
        pending_.push_back({run, costs_.seconds(run), costs_.memory(run)});
      }
    }
    std::ranges::stable_sort(pending_, std::greater(), &Pending::seconds);
    total_ = pending_.size();
  }

  void report(const std::string& event) const {
    if (!options_.on_progress) return;
    StudyProgress progress;
    progress.total = total_;
    progress.done = outcome_.done;
    progress.failed = outcome_.failed;
    double work = 0;
    for (const Pending& pending : pending_) work += pending.seconds;
    double longest = 0;
    for (const Active& active : active_) {
      const double seconds = active.child->seconds(), share = active.child->share();
      progress.active.push_back({run_label(active.pending.run.run), share, seconds});
      const double left = share > 0 ? seconds / share - seconds : std::max(0.0, active.pending.seconds - seconds);
      work += left;
      longest = std::max(longest, left);
    }
    progress.seconds_left = std::max(longest, work / static_cast<double>(jobs_));
    progress.event = event;
    options_.on_progress(progress);
  }

  /// Runs that another study was at: it has finished them, or it has gone.
  void look_elsewhere() {
    if (elsewhere_.empty() || Clock::now() < next_look_) return;
    next_look_ = Clock::now() + std::chrono::seconds(1);
    std::erase_if(elsewhere_, [&](Pending& pending) {
      if (store_.contains(pending.run.key)) {
        finish(pending, "done by another study");
        return true;
      }
      if (!folder_.lock(pending.run.key)) return false;
      folder_.unlock(pending.run.key);
      pending_.push_front(pending);
      return true;
    });
  }

  void finish(const Pending& pending, const std::string& how) {
    ++outcome_.done;
    report(fmt::format("{}: {}", run_label(pending.run.run), how));
  }

  /// What the active runs may still come to need, over what they have now.
  std::uint64_t promised() const {
    std::uint64_t bytes = 0;
    for (const Active& active : active_) {
      const std::uint64_t now = active.child->resident_bytes();
      if (active.pending.memory > now) bytes += active.pending.memory - now;
    }
    return bytes;
  }

  bool fits(const Pending& pending) const {
    if (active_.empty()) return true;
    if (options_.memory != 0) {
      std::uint64_t bytes = pending.memory;
      for (const Active& active : active_) bytes += active.pending.memory;
      return bytes <= options_.memory;
    }
    return promised() + pending.memory <= available_memory();
  }

  void start_what_fits() {
    while (active_.size() < jobs_ && !pending_.empty()) {
      // The longest that fits: a small one may pass a large one that must wait for memory.
      const auto next = std::ranges::find_if(pending_, [&](const Pending& pending) { return fits(pending); });
      if (next == pending_.end()) return;
      Pending pending = *next;
      pending_.erase(next);
      start(std::move(pending));
    }
  }

  void start(Pending pending) {
    const PlannedRun& run = pending.run;
    if (!folder_.lock(run.key)) {
      elsewhere_.push_back(std::move(pending));
      return;
    }
    if (store_.contains(run.key)) {
      folder_.unlock(run.key);
      return finish(pending, "done by another study");
    }
    if (take_leftover(pending)) return;
    std::vector<std::string> words = run_words(run.run);
    words.insert(words.end(), {"--quiet", "--json", folder_.result_path(run.key)});
    words.insert(words.end(), options_.words.begin(), options_.words.end());
    active_.push_back({pending, std::make_unique<Child>(program_, std::move(words)), ""});
  }

  /// A study that was killed may have left a complete result behind.
  bool take_leftover(const Pending& pending) {
    try {
      if (folder_.harvest(pending.run, store_)) {
        folder_.unlock(pending.run.key);
        finish(pending, "found complete");
        return true;
      }
    } catch (const BadResult& problem) {
      report(fmt::format("{}: the result that was left is not used: {}", run_label(pending.run.run), problem.what()));
    }
    folder_.clean(pending.run.key);
    return false;
  }

  void wait() const {
    std::vector<struct pollfd> descriptors = {{signals_.descriptor(), POLLIN, 0}};
    for (const Active& active : active_) descriptors.push_back({active.child->exit_descriptor(), POLLIN, 0});
    poll(descriptors.data(), descriptors.size(), static_cast<int>(kTick.count()));
  }

  void take_in() {
    for (Active& active : active_) {
      active.child->listen();
      if (active.child->ended() || !active.given_up.empty()) continue;
      if (options_.timeout > 0 && active.child->seconds() > options_.timeout) {
        active.given_up = fmt::format("it took longer than {:g} s", options_.timeout);
      } else if (active.child->seconds_since_progress() > options_.hung_after) {
        active.given_up = fmt::format("it made no progress for {:g} s", options_.hung_after);
      }
      if (!active.given_up.empty()) active.child->kill();
    }
    std::vector<Active> ended;
    std::erase_if(active_, [&](Active& active) {
      if (!active.child->ended()) return false;
      ended.push_back(std::move(active));
      return true;
    });
    if (!ended.empty()) start_what_fits();  // before results are stored, which waits for the disk
    for (Active& active : ended) conclude(active);
  }

  void conclude(Active& active) {
    const PlannedRun& run = active.pending.run;
    const Child& child = *active.child;
    std::string error;
    bool accident = false;
    if (!active.given_up.empty()) {
      error = active.given_up;
    } else if (child.succeeded()) {
      try {
        accident = !folder_.harvest(run, store_);
        if (accident) error = "it ended well but wrote no result";
      } catch (const BadResult& problem) {
        accident = true;
        error = fmt::format("its result is not used: {}", problem.what());
      }
    } else {
      error = child.error();
      accident = child.ended_by_signal();
      folder_.clean(run.key);
      folder_.check_room();
    }
    folder_.unlock(run.key);
    if (error.empty()) return finish(active.pending, fmt::format("{:.1f} s", child.seconds()));
    fail(active.pending, error, accident);
  }

  void fail(Pending& pending, const std::string& error, bool accident) {
    store_.add_failure(pending.run.key, run_label(pending.run.run), error);
    const bool again = accident && ++pending.attempts < kMostAttempts;
    if (!again) ++outcome_.failed;
    report(
        fmt::format("{}: {}: {}", run_label(pending.run.run), again ? "failed, will be tried again" : "failed", error));
    if (again) pending_.push_back(pending);
  }

  ResultStore& store_;
  const RunnerOptions& options_;
  RunFolder folder_;
  CostModel costs_;
  std::size_t jobs_;
  std::string program_;
  StopSignals signals_;
  std::size_t total_ = 0;
  std::deque<Pending> pending_;     ///< the longest first
  std::vector<Pending> elsewhere_;  ///< another study works on them
  std::vector<Active> active_;
  Clock::time_point next_look_{};
  RunnerOutcome outcome_;
};

}  // namespace

RunnerOutcome run_missing(const std::vector<PlannedRun>& runs, ResultStore& store, const RunnerOptions& options) {
  return Runner(store, options).run(runs);
}

Planned plan_runs(const std::vector<NamedRun>& runs) {
  Planned planned;
  Planner planner;
  for (const NamedRun& run : runs) {
    const std::vector<std::string> missing = missing_designs(run.designs);
    if (missing.empty()) {
      planned.runs.push_back(planner.plan(run));
      continue;
    }
    planned.unmeasurable.push_back({run, fmt::format("design{} {} {} not exist yet", missing.size() == 1 ? "" : "s",
                                                     fmt::join(missing, ", "), missing.size() == 1 ? "does" : "do")});
  }
  return planned;
}

}  // namespace nearfar
