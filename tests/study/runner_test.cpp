// The runner with a made-up program: what fails, hangs, is killed or damaged, and what is left afterwards.
#include "study/runner.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <random>

#include "cli/process.h"
#include "study/made_up.h"

namespace nearfar::runner_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::made_up_json;
using testing::made_up_key;
using testing::made_up_run;
using testing::made_up_runs;
using testing::read_file;
using testing::ScratchFolder;
using testing::write_program;

/// A store in a folder of its own, a program, and all that was said.
struct Bench {
  ScratchFolder scratch;
  RunnerOptions options;
  std::vector<std::string> events;

  explicit Bench(const std::string& body) {
    options.program = write_program(scratch.file("program"), body);
    options.jobs = 2;
    options.on_progress = [this](const StudyProgress& progress) {
      if (!progress.event.empty()) events.push_back(progress.event);
    };
  }
  std::string database() const { return scratch.file("a.db"); }
  RunnerOutcome run(const std::vector<PlannedRun>& runs) {
    ResultStore store(database());
    return run_missing(runs, store, options);
  }
  std::size_t results() const { return ResultStore(database()).all().size(); }
  /// What is left beside the store, apart from the lock.
  std::vector<std::string> left() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(database() + ".runs")) {
      if (entry.path().filename() != "lock") names.push_back(entry.path().filename());
    }
    return names;
  }
};

/// Runs `work` in a process of its own and returns its id.
template <class Work>
pid_t in_process(const Work& work) {
  const pid_t process = fork();
  if (process == 0) {
    work();
    _exit(0);
  }
  return process;
}

int wait_for(pid_t process) {
  int status = 0;
  waitpid(process, &status, 0);
  return status;
}

TEST(Runner, RunsWhatIsMissingOnce) {
  Bench bench("echo \"$name\" >>" + std::string("${0%/*}/started; finish"));
  const RunnerOutcome first = bench.run(made_up_runs(5));
  EXPECT_EQ(first.done, 5U);
  EXPECT_EQ(first.present, 0U);
  const RunnerOutcome second = bench.run(made_up_runs(7));
  EXPECT_EQ(second.done, 2U);
  EXPECT_EQ(second.present, 5U);
  EXPECT_EQ(bench.results(), 7U);
  EXPECT_EQ(testing::run_shell("sort " + bench.scratch.file("started") + " | uniq -c | awk '$1 > 1'").out, "");
  EXPECT_THAT(bench.left(), ElementsAre());
}

TEST(Runner, TheLongestComesFirst) {
  Bench bench("echo $name >>${0%/*}/started; finish");
  bench.options.jobs = 1;
  std::vector<PlannedRun> runs = made_up_runs(3);
  runs[1].accesses = 3000;
  runs[2].accesses = 2000;
  bench.run(runs);
  EXPECT_EQ(read_file(bench.scratch.file("started")), "W1\nW2\nW0\n");
}

TEST(Runner, AFailureIsRecordedAndDoesNotStopTheOthers) {
  Bench bench(
      "case $name in\n"
      "W0) echo 'nearfar: error: no such thing' >&2; exit 2;;\n"
      "W1) kill -SEGV $$;;\n"
      "W2) exit 0;;\n"
      "esac; finish");
  const RunnerOutcome outcome = bench.run(made_up_runs(5));
  EXPECT_EQ(outcome.done, 2U);
  EXPECT_EQ(outcome.failed, 3U);
  const ResultStore store(bench.database());
  EXPECT_EQ(store.failure(made_up_key(0))->error, "no such thing");
  EXPECT_EQ(store.failure(made_up_key(0))->attempts, 1U) << "what a run reports itself comes again";
  EXPECT_THAT(store.failure(made_up_key(1))->error, HasSubstr("ended by signal 11"));
  EXPECT_EQ(store.failure(made_up_key(1))->attempts, 2U) << "a crash may be an accident";
  EXPECT_THAT(store.failure(made_up_key(2))->error, HasSubstr("wrote no result"));
  EXPECT_THAT(bench.events, Contains("W0 medium nowhere baseline: failed: no such thing"));
}

TEST(Runner, AProgramThatIsNotThereIsAFailureWithItsName) {
  Bench bench("finish");
  bench.options.program = "/no/such/program";
  EXPECT_EQ(bench.run(made_up_runs(1)).failed, 1U);
  EXPECT_THAT(ResultStore(bench.database()).failure(made_up_key(0))->error,
              HasSubstr("cannot start `/no/such/program`: No such file"));
}

TEST(Runner, GivesUpOnWhatHangsAndOnWhatTakesTooLong) {
  Bench bench("case $name in W0) sleep 100;; W1) while :; do echo 1 2 $((n+=1)) >&3; sleep 0.05; done;; esac; finish");
  bench.options.jobs = 3;
  bench.options.hung_after = 1;
  bench.options.timeout = 2;
  const RunnerOutcome outcome = bench.run(made_up_runs(3));
  EXPECT_EQ(outcome.done, 1U);
  EXPECT_EQ(outcome.failed, 2U);
  const ResultStore store(bench.database());
  EXPECT_THAT(store.failure(made_up_key(0))->error, HasSubstr("made no progress for 1 s"));
  EXPECT_THAT(store.failure(made_up_key(1))->error, HasSubstr("took longer than 2 s"));
}

TEST(Runner, DamagedResultsAreReportedRunAgainAndNeverBelieved) {
  Bench bench(
      "finish\n"
      "again=${0%/*}/$name; [ -e \"$again\" ] && exit 0; : >\"$again\"\n"
      "case $name in\n"
      "W0) head -c 100 \"$path\" >\"$path.cut\"; mv \"$path.cut\" \"$path\";;\n"
      "W1) sed -i 's/cycles/c\\x01cles/' \"$path\";;\n"
      "W2) sed -i \"s/$key/0123/\" \"$path\";;\n"
      "W3) : >\"$path\";;\n"
      "esac");
  const RunnerOutcome outcome = bench.run(made_up_runs(5));
  EXPECT_EQ(outcome.done, 5U);
  EXPECT_EQ(outcome.failed, 0U);
  EXPECT_EQ(bench.results(), 5U);
  for (const char* name : {"W0", "W1", "W2", "W3"}) {
    EXPECT_THAT(bench.events,
                Contains(AllOf(HasSubstr(name), HasSubstr("failed, will be tried again: its result is not used"))));
  }
}

TEST(Runner, TakesACompleteResultThatWasLeftAndNoOther) {
  Bench bench("echo $name >>${0%/*}/started; finish");
  const std::string folder = bench.database() + ".runs";
  std::filesystem::create_directory(folder);
  std::ofstream(folder + "/" + made_up_key(0) + ".json") << made_up_json(made_up_key(0));
  std::ofstream(folder + "/" + made_up_key(1) + ".json") << made_up_json(made_up_key(1)).substr(0, 99);
  std::ofstream(folder + "/" + made_up_key(2) + ".json.abcdef") << "{";
  EXPECT_EQ(bench.run(made_up_runs(3)).done, 3U);
  EXPECT_THAT(bench.events, Contains(HasSubstr("W0 medium nowhere baseline: found complete")));
  EXPECT_THAT(bench.events, Contains(HasSubstr("the result that was left is not used: it is cut off or corrupt")));
  EXPECT_EQ(testing::run_shell("sort " + bench.scratch.file("started")).out, "W1\nW2\n");
  EXPECT_THAT(bench.left(), ElementsAre());
}

TEST(Runner, StartsNoMoreThanMemoryAllows) {
  Bench bench("mkdir ${0%/*}/alone || echo together >>${0%/*}/together; sleep 0.05; rmdir ${0%/*}/alone; finish");
  bench.options.jobs = 4;
  bench.options.memory = 100 << 20;
  std::vector<PlannedRun> runs = made_up_runs(4);
  for (PlannedRun& run : runs) run.footprint = 240 << 20;  // a guess of 60 MiB over the least
  EXPECT_EQ(bench.run(runs).done, 4U);
  EXPECT_FALSE(std::filesystem::exists(bench.scratch.file("together")));
}

TEST(Runner, CtrlCEndsItInGoodOrderAndItGoesOnLater) {
  Bench bench("[ -e ${0%/*}/quick ] || sleep 100; finish");
  const pid_t process = in_process([&] {
    const RunnerOutcome outcome = bench.run(made_up_runs(4));
    _exit(outcome.interrupted && outcome.failed == 0 ? 42 : 1);
  });
  usleep(300'000);
  kill(process, SIGINT);
  const int status = wait_for(process);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 42);
  std::ofstream(bench.scratch.file("quick"));
  EXPECT_EQ(bench.run(made_up_runs(4)).done, 4U);
}

TEST(Runner, KilledAtAnyMomentEveryRunIsThereOnceAtTheEnd) {
  constexpr unsigned kRuns = 200, kKills = 20;
  Bench bench("echo $name >>${0%/*}/started; finish");
  const std::vector<PlannedRun> runs = made_up_runs(kRuns);
  std::mt19937 random(7);
  for (unsigned i = 0; i < kKills; ++i) {
    const pid_t process = in_process([&] { bench.run(runs); });
    usleep(static_cast<useconds_t>(5'000 + random() % 200'000));
    kill(process, SIGKILL);
    wait_for(process);
  }
  const std::size_t before = bench.results();
  const RunnerOutcome outcome = bench.run(runs);
  EXPECT_EQ(outcome.failed, 0U);
  EXPECT_EQ(outcome.present, before);
  EXPECT_EQ(outcome.present + outcome.done, kRuns);
  std::set<std::string> keys;
  for (const StoredResult& result : ResultStore(bench.database()).all()) keys.insert(result.key);
  EXPECT_EQ(keys.size(), kRuns);
  EXPECT_EQ(bench.results(), kRuns);
  EXPECT_THAT(bench.left(), ElementsAre());
}

TEST(Runner, ChildrenDieWithIt) {
  Bench bench("echo $$ >${0%/*}/pid.new; mv ${0%/*}/pid.new ${0%/*}/pid; sleep 100");
  const pid_t process = in_process([&] { bench.run(made_up_runs(1)); });
  for (int i = 0; i < 500 && !std::filesystem::exists(bench.scratch.file("pid")); ++i) usleep(10'000);
  kill(process, SIGKILL);
  wait_for(process);
  const pid_t child = std::stoi(read_file(bench.scratch.file("pid")));
  const auto alive = [&] {
    return read_file(fmt::format("/proc/{}/stat", child)).find(" Z ") == std::string::npos && kill(child, 0) == 0;
  };
  for (int i = 0; i < 200 && alive(); ++i) usleep(10'000);
  EXPECT_FALSE(alive());
}

TEST(Runner, TwoStudiesShareOneStoreAndTheWork) {
  constexpr unsigned kRuns = 60;
  Bench bench("echo $name >>${0%/*}/started; finish");
  const auto study = [&] { _exit(bench.run(made_up_runs(kRuns)).failed == 0 ? 0 : 1); };
  const pid_t one = in_process(study), two = in_process(study);
  EXPECT_EQ(wait_for(one), 0);
  EXPECT_EQ(wait_for(two), 0);
  EXPECT_EQ(bench.results(), kRuns);
  EXPECT_EQ(testing::run_shell("sort " + bench.scratch.file("started") + " | uniq -d").out, "")
      << "no run is run twice";
}

TEST(Runner, AFullDiskEndsItAndWhatWasDoneStays) {
  // In a process with a small file system of its own; where none may be mounted, with a limit on the size of files.
  const pid_t process = in_process([] {
    Bench bench("finish");
    const std::string folder = bench.scratch.path().string();
    const bool mounted = unshare(CLONE_NEWNS) == 0 && mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                         mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=192k") == 0;
    if (mounted) {
      bench.options.program = write_program(bench.scratch.file("program"), "finish");
    } else {
      signal(SIGXFSZ, SIG_IGN);
      const rlimit limit{96 << 10, 96 << 10};
      setrlimit(RLIMIT_FSIZE, &limit);
    }
    std::string said;
    try {
      bench.run(made_up_runs(2000));
    } catch (const StoreError& error) {
      said = error.what();
    }
    if (said.empty()) _exit(1);
    const ResultStore store(bench.database());
    const std::size_t kept = store.all().size();
    if (kept == 0 || kept >= 2000) _exit(2);
    for (const StoredResult& result : store.all()) {
      if (store.json(result.key) != made_up_json(result.key)) _exit(3);
    }
    _exit(0);
  });
  const int status = wait_for(process);
  ASSERT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0) << "1: nothing was said, 2: nothing or everything was kept, 3: a result is damaged";
}

TEST(Runner, ProgressIsOfTheChildren) {
  Bench bench("printf '1 4 10\\n2 4 20\\n' >&3; sleep 0.5; finish");
  std::vector<double> shares;
  bench.options.on_progress = [&](const StudyProgress& progress) {
    for (const ActiveRun& run : progress.active) shares.push_back(run.share);
  };
  bench.run({made_up_run(1)});
  EXPECT_THAT(shares, Contains(0.5));
}

TEST(PlanRuns, SetsAsideWhatNeedsADesignThatDoesNotExist) {
  NamedRun run;
  run.workload = "MT";
  run.system = "ats-4gpu";
  NamedRun future = run;
  future.designs = "no-such+neither";
  const Planned planned = plan_runs({run, future});
  EXPECT_EQ(planned.runs.size(), 1U);
  ASSERT_EQ(planned.unmeasurable.size(), 1U);
  EXPECT_EQ(planned.unmeasurable[0].reason, "designs no-such, neither do not exist yet");
}

}  // namespace
}  // namespace nearfar::runner_test
