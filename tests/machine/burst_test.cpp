// Trains: the lines of a page cross a link as one message, and cost what their packets cost one by one.
#include <gtest/gtest.h>

#include "machine/script.h"

namespace nearfar::train_test {
namespace {

enum class What { Load, Store };

/// A wavefront touches `lanes` × 16 bytes side by side, after a while if it is late.
Stream row(VirtAddr at, std::uint32_t lanes, What what, bool late) {
  if (late) co_yield salu(5000);
  const auto load_it = load(16, [=] { return Row{at, lanes}; });
  const auto store_it = store(16, [=] { return Row{at, lanes}; });
  if (what == What::Store) {
    co_yield store_it;
    co_return;
  }
  co_yield load_it;
  co_yield wait(0);
}

/// One workgroup on GPU 0, or two of which the second is late, touch a page of GPU 1 from byte `offset` on.
Outcome touch_remote(const SystemSpec& system, std::uint32_t lanes, What what, unsigned groups = 1,
                     std::uint64_t offset = 0) {
  auto script = std::make_shared<Script>();
  const VirtAddr at = script->buffer(4 * kPageBytes, Placement::Interleave) + kPageBytes + offset;
  script->launch(groups_of(groups),
                 [=](const Script&, const Wave& wave) { return row(at, lanes, what, wave.group_x == 1); });
  return simulate(system, {script});
}

/// Cycles in which `lines` replies cross a link of 32 bytes a cycle.
Cycle replies(std::uint64_t lines) { return (lines * (16 + 64) + 31) / 32; }

class UnloadedTrain : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Topologies, UnloadedTrain, ::testing::Values("switch", "all-to-all", "ring"));

TEST_P(UnloadedTrain, CostsItsFirstRequestAndAllItsReplies) {
  const SystemSpec system = test_system({std::string("link.topology=") + GetParam()});
  const Cycle alone = touch_remote(system, 4, What::Load).result.cycles;
  const Cycle alone_twice = touch_remote(system, 4, What::Load, 2).result.cycles;
  for (const std::uint32_t lines : {2U, 5U, 16U}) {
    const Outcome missing = touch_remote(system, 4 * lines, What::Load);
    EXPECT_EQ(missing.count("gpu0.link.request_packets"), lines);
    EXPECT_EQ(missing.count("gpu1.link.reply_bytes"), lines * (16 + 64));
    EXPECT_EQ(missing.result.cycles - alone, replies(lines) - replies(1)) << lines;

    const Outcome found = touch_remote(system, 4 * lines, What::Load, 2);  // the late one finds all in the L2
    EXPECT_EQ(found.count("gpu1.l2.read_hits"), lines);
    EXPECT_EQ(found.result.cycles - alone_twice, replies(lines) - replies(1)) << lines;
  }
}

/// A row that begins inside a line: whole lines between two that are written in part, each of which says which bytes.
TEST(TrainOfStores, CarriesTheBytesOfEachLineHoweverItIsSplit) {
  for (const char* credits : {"128", "3", "1"}) {
    const SystemSpec system = test_system({std::string("link.credits=") + credits});
    const Outcome run = touch_remote(system, 18, What::Store, 1, 48);  // 16 of 64, four whole lines, 16 of 64
    EXPECT_EQ(run.count("gpu0.link.request_packets"), 6U);
    EXPECT_EQ(run.count("gpu0.link.request_bytes"), 6U * 16 + 18 * 16 + 2 * 64 / 8) << credits;
    EXPECT_EQ(run.count("gpu1.link.reply_bytes"), 6U * 16);
    EXPECT_EQ(run.count("gpu1.l2.writes"), 6U);
    EXPECT_EQ(run.count("gpu1.dram.reads"), 2U);  // what is written in part is merged into what memory holds
  }
}

TEST(TrainOfRequests, TakesACreditForEachLine) {
  const Outcome run = touch_remote(test_system({"link.credits=4"}), 64, What::Load);
  EXPECT_EQ(run.count("gpu0.link.request_packets"), 16U);
  EXPECT_EQ(run.count("gpu0.link.queued_requests"), 12U);
  EXPECT_EQ(run.count("gpu0.link.credit_waits"), 12U);
}

/// Pages of three GPUs, wide and narrow rows: the same bits in windows of any length and on any number of threads.
TEST(Trains, DoNotSeeTheWindow) {
  auto script = std::make_shared<Script>();
  const VirtAddr data = script->buffer(std::uint64_t{1} << 18, Placement::Interleave);
  script->launch(groups_of(64), [data](const Script&, const Wave& wave) {
    return [](VirtAddr base, std::uint32_t group) -> Stream {
      std::uint32_t i = 0;
      const auto at = [&] { return base + (group * 7919 + i * 104729) % 16000 * 16; };
      const auto wide = load(16, [&] { return Row{at()}; });
      const auto narrow = store(4, [&] { return Row{at(), 40}; });
      for (; i < 24; ++i) {
        co_yield wide;
        co_yield narrow;
        co_yield wait(2);
      }
    }(data, wave.group_x);
  });
  const SystemSpec system = test_system({"link.credits=24", "link.queue=32"});
  const Outcome one = simulate(system, {script}, false, 1);
  for (const auto& [window, threads] : {std::pair<Cycle, unsigned>{1, 1}, {29, 1}, {150, 2}}) {
    const Outcome other = simulate(system, {script}, false, threads, window);
    ASSERT_EQ(one.result.statistics.size(), other.result.statistics.size());
    for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
      EXPECT_EQ(one.result.statistics[i].count, other.result.statistics[i].count) << one.result.statistics[i].name;
    }
  }
}

}  // namespace
}  // namespace nearfar::train_test
