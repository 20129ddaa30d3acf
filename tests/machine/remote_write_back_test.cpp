// Stores to lines of other devices that an L2 keeps and writes back (remote_write: back): what crosses the links and
// when, who sees it, and what it costs; all under the oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/error.h"
#include "machine/script.h"

namespace nearfar::remote_write_back_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// One access of 4 bytes, or of a whole line, by a compute unit of a GPU, at a time of its own.
struct Step {
  enum class Kind { Load, Store, StoreLine, Atomic, Fence };
  unsigned gpu = 0;
  unsigned cu = 0;
  unsigned after = 0;  ///< cycles from the start of the kernel, about
  Kind kind = Kind::Load;
  unsigned line = 0;
  unsigned word = 0;
};
using Kind = Step::Kind;

constexpr unsigned kCus = 4;

/// Two GPUs of four compute units, whose kernels are lists of steps over a page of GPU 1, or of the host.
class Scene {
 public:
  explicit Scene(std::vector<std::string> more = {}, bool of_host = false) {
    std::vector<std::string> overrides = {"gpus=2",
                                          "gpu.shader_arrays=1",
                                          "gpu.cus_per_array=4",
                                          "remote_cache=l1l2",
                                          "remote_write=back",
                                          "remote_host_lines=true",
                                          "dispatch.policy=blocks"};
    overrides.insert(overrides.end(), more.begin(), more.end());
    system_ = test_system(overrides);
    base_ = of_host ? script_->buffer(kPageBytes, Placement::Host)
                    : script_->buffer(2 * kPageBytes, Placement::Interleave) + kPageBytes;
  }

  void kernel(std::vector<Step> steps) {
    script_->launch(groups_of(2 * kCus, 64), [this, steps](const Script&, const Wave& wave) {
      std::vector<Step> mine;
      for (const Step& step : steps) {
        if (step.gpu * kCus + step.cu == wave.group_x) mine.push_back(step);
      }
      return play(base_, mine);
    });
  }
  void host_reads() { script_->add_host_access({base_, kPageBytes, false}); }
  Outcome run() const { return simulate(system_, {script_}); }
  const SystemSpec& system() const { return system_; }

 private:
  static Stream play(VirtAddr base, std::vector<Step> steps) {
    unsigned now = 0;
    for (const Step& step : steps) {
      if (step.after > now) co_yield salu(step.after - now);
      now = std::max(now, step.after);
      const VirtAddr line = base + step.line * 64;
      const auto word = [at = line + step.word * 4](unsigned lane) { return lane == 0 ? at : kIdle; };
      const auto words = [line](unsigned lane) { return lane < 16 ? line + lane * 4 : kIdle; };
      switch (step.kind) {
        case Kind::Load: co_yield load(4, word); break;
        case Kind::Store: co_yield store(4, word); break;
        case Kind::StoreLine: co_yield store(4, words); break;
        case Kind::Atomic: co_yield atomic(4, word); break;
        case Kind::Fence: co_yield fence(); break;
      }
      co_yield wait(0);
    }
  }

  SystemSpec system_;
  std::shared_ptr<Script> script_ = std::make_shared<Script>();
  VirtAddr base_;
};

/// One set of one way in one bank.
const std::vector<std::string> kOneLine = {"gpu.l2.banks=1",  "gpu.l2.ways=1",           "gpu.l2.size=64",
                                           "gpu.l1v.ways=1",  "gpu.l1v.size=64",         "gpu.dram.capacity=64MiB",
                                           "host.llc.ways=1", "host.dram.capacity=64MiB"};

/// Sixteen stores of a word each, by four compute units: a line crosses the link once, when the kernel ends.
TEST(RemoteWriteBack, SeveralStoresToPartsOfALineAreOneTransfer) {
  for (const bool of_host : {false, true}) {
    Scene scene({}, of_host);
    std::vector<Step> steps;
    for (unsigned word = 0; word < 16; ++word) steps.push_back({0, word % kCus, 200 * word, Kind::Store, 0, word});
    scene.kernel(steps);
    const Outcome run = scene.run();
    EXPECT_EQ(run.count("gpu0.link.request_packets"), 1U);
    EXPECT_EQ(run.count("gpu0.l2.remote.writes"), 16U);
    EXPECT_EQ(run.count("gpu0.l2.remote.write_hits"), 15U);
    EXPECT_EQ(run.count("gpu0.l2.remote.write_back.released"), 1U);
    EXPECT_EQ(run.count("gpu0.l2.remote.write_back.bytes"), 64U);
    EXPECT_EQ(run.count(of_host ? "host.llc.writes" : "gpu1.l2.writes"), 1U);
  }
}

/// Bytes that nobody has stored do not travel, and leave what the home has: a mask of a bit for each byte does.
TEST(RemoteWriteBack, OnlyChangedBytesTravelUnderTheirMask) {
  Scene scene;
  scene.kernel({{0, 0, 0, Kind::Store, 0, 2}, {0, 1, 1000, Kind::Store, 0, 7}, {1, 0, 0, Kind::Store, 0, 3}});
  scene.kernel({{0, 0, 0, Kind::Load, 0, 3}, {1, 0, 0, Kind::Load, 0, 2}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.remote.write_back.bytes"), 8U);
  const Bytes header = scene.system().link.header;
  // A read in the second kernel beside it; launches and their ends are control messages, counted apart.
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 2U);
  EXPECT_EQ(run.count("gpu0.link.request_bytes"), (header + 8 + 8) + header);
}

TEST(RemoteWriteBack, AnotherGpuReadsWhatWasStoredBehindTheBoundary) {
  Scene scene({}, true);
  scene.kernel({{0, 0, 0, Kind::Store, 0, 1}, {1, 0, 0, Kind::Store, 0, 2}});
  scene.kernel({{0, 0, 0, Kind::Load}, {1, 0, 0, Kind::Load}});
  const Outcome run = scene.run();  // the oracle sees that both words are the new ones
  EXPECT_EQ(run.count("gpu0.l2.remote.write_back.released"), 1U);
  EXPECT_EQ(run.count("gpu1.l2.remote.write_back.released"), 1U);
  EXPECT_EQ(run.count("gpu0.l2.remote.read_hits"), 0U);
  EXPECT_EQ(run.count("gpu1.l2.remote.reads"), 1U);
}

TEST(RemoteWriteBack, AnEvictionSendsWhatHasChangedAndACleanCopyLeavesSilently) {
  Scene scene(kOneLine);
  scene.kernel({{0, 0, 0, Kind::Store, 0}, {0, 1, 3000, Kind::Load, 1}, {0, 2, 6000, Kind::Load, 2}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.remote.evictions"), 2U);
  EXPECT_EQ(run.count("gpu0.l2.remote.write_back.evicted"), 1U);
  EXPECT_EQ(run.count("gpu0.l2.remote.write_back.released"), 0U);
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 3U) << "two reads and a write";
}

/// Of a line that is not held whole the home gets what was stored, and then the read.
TEST(RemoteWriteBack, ALoadOfALineThatIsHeldInPartReadsItBehindItsBytes) {
  Scene scene;
  scene.kernel({{0, 0, 0, Kind::Store, 0, 1}, {0, 1, 3000, Kind::Load, 0, 5}, {0, 2, 6000, Kind::Load, 0, 1}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.remote.write_back.before_reads"), 1U);
  EXPECT_EQ(run.count("gpu0.l2.remote.read_hits"), 1U) << "it is whole then";
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 2U);
  Scene whole;
  whole.kernel({{0, 0, 0, Kind::StoreLine}, {0, 1, 3000, Kind::Load, 0, 5}});
  const Outcome held = whole.run();
  EXPECT_EQ(held.count("gpu0.l2.remote.read_hits"), 1U);
  EXPECT_EQ(held.count("gpu0.link.request_packets"), 1U);
}

/// A store that comes while the line is on its way stays beside it: the fill brings the other bytes.
TEST(RemoteWriteBack, AFillCompletesALineThatIsHeldInPart) {
  Scene scene;
  scene.kernel({{0, 0, 0, Kind::Load}, {0, 1, 60, Kind::Store, 0, 2}, {0, 2, 6000, Kind::Load, 0, 2}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.remote.poisoned_fills"), 0U);
  EXPECT_EQ(run.count("gpu0.l2.remote.read_hits"), 1U);
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 2U) << "a read, and the store at the end";
}

TEST(RemoteWriteBack, AnAtomicComesBehindWhatWasStored) {
  Scene scene;
  scene.kernel({{0, 0, 0, Kind::Store}, {0, 1, 3000, Kind::Atomic}, {0, 2, 6000, Kind::Load}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.remote.write_back.before_atomics"), 1U);
  EXPECT_EQ(run.count("gpu1.l2.atomics"), 1U);
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 3U);
}

/// A fence of system scope has what was stored before it written back, of all units; one of a GPU does not.
TEST(RemoteWriteBack, AFenceReleasesWhatWasStored) {
  Scene scene;
  scene.kernel(
      {{0, 0, 0, Kind::Store}, {0, 1, 0, Kind::Store, 1}, {0, 0, 3000, Kind::Fence}, {1, 0, 9000, Kind::Load}});
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.remote.write_back.released"), 2U);
  EXPECT_EQ(run.count("gpu1.l2.read_hits"), 1U) << "what GPU 0 stored is in its home's L2";
}

/// The way there, the home's lookup and the way back, behind the lookup of the line: so much longer a fence takes.
TEST(RemoteWriteBack, AReleaseTakesTheWayThereAndBack) {
  const auto cycles = [](std::vector<Step> steps) {
    Scene scene({"link.bandwidth=1000GB/s"});
    scene.kernel(std::move(steps));
    const Outcome run = scene.run();
    return run.count("run.cycles");
  };
  const Cycle without = cycles({{0, 0, 0, Kind::Store}, {0, 0, 3000, Kind::Fence}, {0, 0, 3000, Kind::Load, 9}});
  const Cycle plain = cycles({{0, 0, 3000, Kind::Fence}, {0, 0, 3000, Kind::Load, 9}});
  const SystemSpec system = Scene({"link.bandwidth=1000GB/s"}).system();
  const Cycle way = system.gpu.l2.tag_latency + 2 * (system.link.latency + 1) + system.gpu.l2.tag_latency;
  EXPECT_NEAR(static_cast<double>(without - plain), static_cast<double>(way), 4);
}

/// A bank has as many lines on their way home for stores as it has MSHRs.
TEST(RemoteWriteBack, StoresWaitForLinesOnTheirWayHome) {
  std::vector<std::string> narrow = kOneLine;
  narrow.insert(narrow.end(), {"gpu.l2.mshrs=2", "link.bandwidth=1GB/s"});
  Scene scene(narrow);
  std::vector<Step> steps;
  for (unsigned line = 0; line < 16; ++line) steps.push_back({0, line % kCus, 0, Kind::Store, line});
  scene.kernel(steps);
  const Outcome run = scene.run();
  EXPECT_EQ(run.count("gpu0.l2.remote.write_back.evicted"), 15U);
  EXPECT_GT(run.count("gpu0.l2.remote.write_back.stalls"), 0U);
}

/// What a boundary writes back counts as flushed where it goes to the host; to another GPU, where it reaches memory.
TEST(RemoteWriteBack, CountsAsFlushed) {
  for (const bool of_host : {false, true}) {
    Scene scene({}, of_host);
    scene.kernel({{0, 0, 0, Kind::Store, 0}, {0, 0, 100, Kind::Store, 1}, {0, 0, 200, Kind::Store, 2}});
    scene.host_reads();
    const Outcome run = scene.run();
    EXPECT_EQ(run.count("sync.ff_bytes"), 3 * 64U);
  }
}

TEST(RemoteWriteBackThreads, TheSameBitsOnAnyNumberOfThreads) {
  const auto statistics = [](unsigned threads) {
    const SystemSpec system =
        test_system({"remote_cache=l1l2", "remote_write=back", "remote_host_lines=true", "gpu.l2.size=16KiB"});
    auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(16 * kPageBytes, Placement::Interleave);
    for (unsigned launch = 0; launch < 2; ++launch) {
      script->launch(groups_of(64), [base](const Script&, const Wave& wave) -> Stream {
        return [](VirtAddr from, std::uint32_t group) -> Stream {
          for (std::uint32_t i = 0; i < 20; ++i) {
            const VirtAddr at = from + ((group * 7 + i * 13) % 256) * 256;
            co_yield store(4, [at](unsigned lane) { return lane < 20 ? at + lane * 4 : kIdle; });
            if (i % 3 == 0) co_yield load(4, [at](unsigned lane) { return at + lane * 4; });
            if (i % 7 == 0) co_yield fence();
            co_yield wait(0);
          }
        }(base, wave.group_x);
      });
    }
    const Outcome run = simulate(system, {script}, true, threads);
    std::string text;
    for (const StatValue& value : run.result.statistics) text += value.name + " " + std::to_string(value.count) + "\n";
    return text;
  };
  const std::string one = statistics(1);
  EXPECT_EQ(statistics(2), one);
  EXPECT_EQ(statistics(3), one);
}

TEST(RemoteWriteBack, RefusesWhatHasToKnowOfEachStore) {
  const auto refused = [](std::vector<std::string> more, const char* system, const char* why) {
    more.insert(more.end(), {"remote_cache=l1l2", "remote_write=back"});
    EXPECT_THAT([&] { test_system(more, system); }, ThrowsMessage<InputError>(HasSubstr(why)));
  };
  refused({"coherence=directory"}, "ideal-4gpu", "coherence: boundary");
  refused({"remote_write_miss=fetch"}, "ideal-4gpu", "no-allocate");
  refused({}, "mmu-4gpu", "pages that stay");
}

}  // namespace
}  // namespace nearfar::remote_write_back_test
