// Studies on a real Slurm: two nodes on this machine, one of which may die.
#include "study/slurm.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "cli/process.h"
#include "study/made_up.h"

namespace nearfar::slurm_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::made_up_key;
using testing::made_up_runs;
using ::testing::Not;
using testing::Outcome;
using testing::run_shell;
using testing::ScratchFolder;
using testing::write_program;

const std::string kCluster = NEARFAR_SOURCE_DIR "/tests/study/slurm_cluster";

/// Ports that nobody listens on.
std::array<unsigned, 3> free_ports() {
  std::array<int, 3> sockets{};
  std::array<unsigned, 3> ports{};
  for (std::size_t i = 0; i < ports.size(); ++i) {
    sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    bind(sockets[i], reinterpret_cast<sockaddr*>(&address), size);
    getsockname(sockets[i], reinterpret_cast<sockaddr*>(&address), &size);
    ports[i] = ntohs(address.sin_port);
  }
  for (const int each : sockets) close(each);
  return ports;
}

class Slurm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run_shell("command -v slurmctld && command -v slurmd && command -v munged").code != 0) {
      ASSERT_EQ(std::getenv("NEARFAR_TEST_EXTRAS"), nullptr) << "Slurm is needed and not installed";
      GTEST_SKIP() << "Slurm is not installed; ./test extras installs it, and starts or enables no service.";
    }
    const auto ports = free_ports();
    const Outcome outcome = run_shell(
        fmt::format("{} start {} {} {} {}", kCluster, cluster_.path().string(), ports[0], ports[1], ports[2]));
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    setenv("SLURM_CONF", cluster_.file("slurm.conf").c_str(), 1);
    options_.poll_seconds = 0.2;
    options_.chunk = 1;
    options_.on_progress = [this](const StudyProgress& progress) {
      if (!progress.event.empty()) events_.push_back(progress.event);
    };
  }
  void TearDown() override { run_shell(kCluster + " stop " + cluster_.path().string()); }

  std::string database() const { return scratch_.file("a.db"); }
  RunnerOutcome run(unsigned count) {
    ResultStore store(database());
    return run_on_slurm(made_up_runs(count), store, options_);
  }

  ScratchFolder cluster_, scratch_;
  SlurmOptions options_;
  std::vector<std::string> events_;
};

TEST_F(Slurm, RunsAStudyFromTheCommandLine) {
  std::ofstream(scratch_.file("s.yaml")) << "title: T\nsystem: ideal-4gpu\nsize: small\nworkloads: [MT, FIR]\n"
                                            "param: {width: 64, n: 1024}\ngrid: {set: {gpus: [2, 4]}}\n"
                                            "figures: {f: {value: speedup}}\n";
  const std::string command =
      "study " + scratch_.file("s.yaml") + " --executor slurm --chunk 1 --database " + database();
  const Outcome outcome = testing::nearfar(command);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.out, AllOf(HasSubstr("gpus=4"), HasSubstr("geometric mean"), HasSubstr("4 runs, 4 of them new")));
  EXPECT_THAT(outcome.err, HasSubstr("4 runs in 4 tasks"));
  EXPECT_THAT(testing::nearfar(command).out, HasSubstr("4 runs, 0 of them new"));
}

TEST_F(Slurm, SurvivesTheDeathOfANode) {
  // The first time, W0 takes its node with it: the daemon, and the job with what watches over it.
  options_.program = write_program(scratch_.file("program"),
                                   "here=${0%/*}; echo $name >>$here/started\n"
                                   "if [ $name = W0 ] && mkdir $here/once; then\n"
                                   "  kill -9 $(cat " +
                                       cluster_.path().string() +
                                       "/slurmd.$SLURMD_NODENAME.pid)\n"
                                       "  kill -9 $(ps -o ppid= $PPID) $PPID\n"
                                       "  exit 1\n"
                                       "fi\n"
                                       "[ $name = W1 ] && { echo 'nearfar: error: no such thing' >&2; exit 2; }\n"
                                       "finish");
  const RunnerOutcome outcome = run(6);
  EXPECT_EQ(outcome.done, 5U);
  EXPECT_EQ(outcome.failed, 1U);
  EXPECT_EQ(ResultStore(database()).all().size(), 5U);
  EXPECT_THAT(events_,
              Contains(AllOf(HasSubstr("W0"), HasSubstr("submitted again"), HasSubstr("ended without a result"))));
  EXPECT_EQ(ResultStore(database()).failure(made_up_key(1))->error, "no such thing");
  EXPECT_EQ(run_shell("grep -c W1 " + scratch_.file("started")).out, "1\n") << "what a run reports itself comes again";
}

TEST_F(Slurm, AnotherCollectorTakesOver) {
  options_.program =
      write_program(scratch_.file("program"), "here=${0%/*}; echo $name >>$here/started; sleep 0.7; finish");
  const pid_t first = fork();
  if (first == 0) {
    run(4);
    _exit(0);
  }
  for (int i = 0; i < 1000 && !std::filesystem::exists(scratch_.file("started")); ++i) usleep(10'000);
  kill(first, SIGKILL);
  waitpid(first, nullptr, 0);
  EXPECT_EQ(run(4).done, 4U);
  EXPECT_THAT(events_, Not(Contains(HasSubstr("tasks")))) << "nothing is submitted a second time";
  EXPECT_EQ(run_shell("sort " + scratch_.file("started") + " | uniq -d").out, "");
  EXPECT_EQ(ResultStore(database()).all().size(), 4U);
}

}  // namespace
}  // namespace nearfar::slurm_test
