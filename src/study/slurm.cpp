// The collector of a study on Slurm. Everything it knows about a run is a file in the shared folder, so that another
// collector can take over: KEY.job (whose task it is), KEY.progress, KEY.err, KEY.exit (it failed), KEY.json (it is
// done).
#include "study/slurm.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>

#include "config/error.h"
#include "config/words.h"
#include "study/child.h"
#include "study/cost.h"
#include "study/run_folder.h"
#include "study/stop_signals.h"

namespace nearfar {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kMostSubmissions = 3;
constexpr std::size_t kMostTasks = 1000;  // Slurm's own limit for an array, unless it is raised
constexpr double kTaskSeconds = 60;
constexpr std::streamoff kTail = 256;  // bytes that hold the last line of progress
/// Polls without a sign of a task before it counts as lost: its files may be slow to show.
constexpr unsigned kPatience = 2;
constexpr int kNoSuchCommand = 127;
constexpr int kSignalled = 128;  // exit codes above are a shell's for a command that a signal ended

std::string shell_word(std::string_view word) {
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::string read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The end of a file that grows.
std::string read_tail(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const std::streamoff size = file.tellg();
  file.seekg(std::max<std::streamoff>(0, size - kTail));
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_text(const std::string& path, const std::string& text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw StoreError(fmt::format("`{}` cannot be written.", path));
}

struct Answer {
  int code = -1;
  std::string text;
};

/// What a command prints, its complaints included.
Answer ask(const std::string& command) {
  Answer answer;
  FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return answer;
  std::array<char, 4096> buffer;
  for (std::size_t size; (size = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;)
    answer.text.append(buffer.data(), size);
  const int status = pclose(pipe);
  answer.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return answer;
}

struct Submitted {
  PlannedRun run;
  double seconds = 0;
  std::string task;  ///< "123_4"
  unsigned attempts = 1;
  unsigned unseen = 0;  ///< polls since Slurm knew the task
};

class Collector {
 public:
  Collector(ResultStore& store, const SlurmOptions& options)
      : store_(store), options_(options), folder_(store.path()), costs_(store.known_costs()) {
    program_ = options.program.empty() ? fs::read_symlink("/proc/self/exe").string() : options.program;
  }

  RunnerOutcome run(const std::vector<PlannedRun>& runs) {
    choose(runs);
    while (!waiting_.empty() || !submitted_.empty()) {
      if (!waiting_.empty()) submit();
      pause();
      if (signals_.arrived()) {
        outcome_.interrupted = true;
        break;
      }
      collect();
      report("");
    }
    return outcome_;
  }

 private:
  void choose(const std::vector<PlannedRun>& runs) {
    std::set<std::string> seen;
    std::vector<PlannedRun> missing;
    for (const PlannedRun& run : runs) {
      if (!seen.insert(run.key).second) continue;
      if (!store_.contains(run.key)) {
        missing.push_back(run);
        continue;
      }
      ++outcome_.present;
      if (folder_.has_leftover(run.key)) folder_.clean(run.key);
    }
    if (missing.empty()) return;
    total_ = missing.size();
    const std::set<std::string> tasks = living_tasks();
    if (!reachable_) {
      throw InputError(fmt::format("Slurm does not answer: {}", complaint_of(last_answer_, "squeue failed")));
    }
    for (const PlannedRun& run : missing) take_charge(run, tasks);
    std::ranges::stable_sort(waiting_, std::greater(), &Submitted::seconds);
  }

  void take_charge(const PlannedRun& run, const std::set<std::string>& tasks) {
    if (!folder_.lock(run.key)) {
      throw InputError(
          fmt::format("Another study is at work on {} in `{}`; end it first.", run_label(run.run), store_.path()));
    }
    Submitted entry{run, costs_.seconds(run), ""};
    if (take(entry)) return;
    // A collector before this one may have submitted it.
    entry.task = read_text(folder_.file(run.key, "job"));
    if (tasks.contains(entry.task)) {
      submitted_.push_back(std::move(entry));
    } else {
      folder_.clean(run.key);
      waiting_.push_back(std::move(entry));
    }
  }

  void report(const std::string& event) const {
    if (!options_.on_progress) return;
    StudyProgress progress;
    progress.total = total_;
    progress.done = outcome_.done;
    progress.failed = outcome_.failed;
    for (const Submitted& entry : submitted_) {
      const std::string path = folder_.file(entry.run.key, "progress");
      std::error_code error;
      if (!fs::exists(path, error)) continue;
      progress.active.push_back({run_label(entry.run.run), parse_progress(read_tail(path)).share, 0});
    }
    progress.event = event;
    options_.on_progress(progress);
  }

  /// The tasks of ours that Slurm has not ended, as "job_task".
  std::set<std::string> living_tasks() {
    static const std::set<std::string> kOver = {"COMPLETED", "FAILED",        "CANCELLED", "TIMEOUT",
                                                "NODE_FAIL", "OUT_OF_MEMORY", "BOOT_FAIL", "DEADLINE"};
    const Answer answer = ask("squeue --me --noheader --array --states=all --format='%i %T'");
    if (answer.code == kNoSuchCommand) throw InputError("Slurm is not here: there is no command `squeue`.");
    reachable_ = answer.code == 0;
    last_answer_ = answer.text;
    std::set<std::string> tasks;
    for (const std::string& line : split(answer.text, '\n')) {
      const std::size_t space = line.find(' ');
      if (space != std::string::npos && !kOver.contains(line.substr(space + 1))) tasks.insert(line.substr(0, space));
    }
    return tasks;
  }

  /// Groups of runs, each for one task: alone when they take long, together when they are short.
  std::vector<std::vector<Submitted>> tasks_of_waiting() {
    std::vector<std::vector<Submitted>> tasks;
    double seconds = 0;
    while (!waiting_.empty()) {
      const bool full =
          !tasks.empty() && (options_.chunk != 0 ? tasks.back().size() >= options_.chunk : seconds >= kTaskSeconds);
      if (tasks.empty() || full) {
        if (tasks.size() == kMostTasks) break;
        tasks.emplace_back();
        seconds = 0;
      }
      seconds += waiting_.front().seconds;
      tasks.back().push_back(std::move(waiting_.front()));
      waiting_.pop_front();
    }
    return tasks;
  }

  /// A run is left out when it is no longer wanted (another collector has its result) or already there.
  static std::string script(const std::vector<std::vector<Submitted>>& tasks, const std::string& folder,
                            const std::string& program) {
    std::string text = fmt::format(
        "#!/bin/sh\n"
        "folder={}\n"
        "nearfar={}\n"
        "run() {{\n"
        "  files=$folder/$1; shift\n"
        "  [ -e \"$files.job\" ] && [ ! -e \"$files.json\" ] || return 0\n"
        "  \"$nearfar\" \"$@\" --quiet --json \"$files.json\" {} 3 3>\"$files.progress\" 2>\"$files.err\"\n"
        "  code=$?\n"
        "  [ $code -eq 0 ] || {{ echo $code >\"$files.exit.new\" && mv \"$files.exit.new\" \"$files.exit\"; }}\n"
        "}}\n"
        "case $SLURM_ARRAY_TASK_ID in\n",
        shell_word(folder), shell_word(program), kProgressOption);
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      text += fmt::format("{})\n", i);
      for (const Submitted& entry : tasks[i]) {
        text += "  run " + entry.run.key;
        for (const std::string& word : run_words(entry.run.run)) text += " " + shell_word(word);
        text += "\n";
      }
      text += "  ;;\n";
    }
    return text + "esac\n";
  }

  void submit() {
    std::vector<std::vector<Submitted>> tasks = tasks_of_waiting();
    std::size_t runs = 0;
    for (const auto& task : tasks) {
      for (const Submitted& entry : task) write_text(folder_.file(entry.run.key, "job"), "-");
      runs += task.size();
    }
    const std::string path = folder_.path() + "/job.sh";
    write_text(path, script(tasks, folder_.path(), program_));
    std::string command = fmt::format(
        "sbatch --parsable --job-name=nearfar --array=0-{} --output=/dev/null --error=/dev/null", tasks.size() - 1);
    for (const std::string& option : options_.options) command += " " + shell_word(option);
    const Answer answer = ask(command + " " + shell_word(path));
    if (answer.code != 0) {
      for (const auto& task : tasks) {
        for (const Submitted& entry : task) folder_.clean(entry.run.key);
      }
      throw InputError(fmt::format("sbatch failed: {}", complaint_of(answer.text, "it said nothing")));
    }
    const std::string job = answer.text.substr(0, answer.text.find_first_of(";\n"));
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      for (Submitted& entry : tasks[i]) {
        entry.task = fmt::format("{}_{}", job, i);
        entry.unseen = 0;
        write_text(folder_.file(entry.run.key, "job"), entry.task);
        submitted_.push_back(std::move(entry));
      }
    }
    report(fmt::format("job {}: {} runs in {} tasks", job, runs, tasks.size()));
  }

  void pause() const {
    struct pollfd signal {
      signals_.descriptor(), POLLIN, 0
    };
    poll(&signal, 1, static_cast<int>(1000 * options_.poll_seconds));
  }

  /// True when the run has its result, or will have none.
  bool take(Submitted& entry) {
    const std::string label = run_label(entry.run.run);
    try {
      if (folder_.harvest(entry.run, store_)) {
        ++outcome_.done;
        report(label + ": done");
        folder_.unlock(entry.run.key);
        return true;
      }
    } catch (const BadResult& problem) {
      return retry(entry, fmt::format("its result is not used: {}", problem.what()));
    }
    const int code = std::atoi(read_text(folder_.file(entry.run.key, "exit")).c_str());
    if (code == 0) return false;
    const std::string said =
        complaint_of(read_text(folder_.file(entry.run.key, "err")), fmt::format("it ended with exit code {}", code));
    folder_.clean(entry.run.key);
    return code > kSignalled ? retry(entry, said) : give_up(entry, said);
  }

  bool give_up(const Submitted& entry, const std::string& error) {
    store_.add_failure(entry.run.key, run_label(entry.run.run), error);
    ++outcome_.failed;
    folder_.clean(entry.run.key);
    folder_.unlock(entry.run.key);
    report(fmt::format("{}: failed: {}", run_label(entry.run.run), error));
    return true;
  }

  /// Submits it again with the others that are waiting; true, since it is no longer submitted.
  bool retry(Submitted& entry, const std::string& error) {
    if (entry.attempts >= kMostSubmissions) return give_up(entry, error);
    store_.add_failure(entry.run.key, run_label(entry.run.run), error);
    folder_.clean(entry.run.key);
    report(fmt::format("{}: failed, will be submitted again: {}", run_label(entry.run.run), error));
    ++entry.attempts;
    waiting_.push_back(entry);
    return true;
  }

  void collect() {
    // Asked before the files are looked at: a task that is over by then has written all it will write.
    const std::set<std::string> tasks = living_tasks();
    std::vector<Submitted> looking = std::move(submitted_);
    submitted_.clear();
    for (Submitted& entry : looking) {
      if (take(entry)) continue;
      entry.unseen = tasks.contains(entry.task) || !reachable_ ? 0 : entry.unseen + 1;
      if (entry.unseen > kPatience) {
        retry(entry, fmt::format("its task {} ended without a result", entry.task));
      } else {
        submitted_.push_back(std::move(entry));
      }
    }
  }

  ResultStore& store_;
  const SlurmOptions& options_;
  RunFolder folder_;
  CostModel costs_;
  std::string program_;
  StopSignals signals_;
  bool reachable_ = false;
  std::string last_answer_;  ///< of squeue
  std::size_t total_ = 0;
  std::deque<Submitted> waiting_;  ///< the longest first
  std::vector<Submitted> submitted_;
  RunnerOutcome outcome_;
};

}  // namespace

RunnerOutcome run_on_slurm(const std::vector<PlannedRun>& runs, ResultStore& store, const SlurmOptions& options) {
  return Collector(store, options).run(runs);
}

}  // namespace nearfar
