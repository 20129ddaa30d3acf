// The random tester, for seconds and for minutes; and that it would tell of a failure.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "tester/expected_pairs.h"
#include "tester/soak.h"

namespace nearfar::tester_test {
namespace {

using namespace nearfar::tester;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint64_t kSome = 12;  // sanitizers take twenty times as long
constexpr std::uint64_t kMany = 60;
constexpr bool kSanitized = true;
#else
constexpr std::uint64_t kSome = 60;
constexpr std::uint64_t kMany = 900;
constexpr bool kSanitized = false;
#endif

SoakResult run_some(std::uint64_t seed, std::uint64_t episodes) {
  SoakOptions options;
  options.seed = seed;
  options.episodes = episodes;
  options.jobs = 2;
  options.episode_time = std::chrono::seconds(kSanitized ? 500 : 120);
  return soak(options);
}

std::string failures(const SoakResult& result) {
  std::string text;
  for (const Failure& failure : result.failures) text += describe(failure);
  return text;
}

TEST(RandomTester, FindsNothingInSeconds) {
  const SoakResult result = run_some(1, kSome);
  EXPECT_EQ(failures(result), "");
  EXPECT_EQ(result.episodes, kSome);
  EXPECT_GT(result.accesses, kSome * 1000);
}

/// A few episodes one after another in this process, where a debugger sees them: what one leaves behind the next meets.
/// The mutation test asks these which places of the simulator they come by.
class EpisodesInProcess : public testing::TestWithParam<std::uint64_t> {};

TEST_P(EpisodesInProcess, FindNothing) {
  constexpr std::uint64_t kTogether = 4;
  const std::uint64_t first = 2'000'000 + GetParam() * kTogether;
  for (std::uint64_t seed = first; seed < first + kTogether; ++seed) {
    ProtocolCoverage coverage;
    EXPECT_GT(run_episode(draw_episode(seed), coverage), 0U) << seed;
    EXPECT_EQ(should_not_be(coverage), "") << seed;
  }
}

INSTANTIATE_TEST_SUITE_P(Some, EpisodesInProcess, testing::Range<std::uint64_t>(0, kSanitized ? 3 : 15));

/// Episodes that notice a fault of the kind that few do: a page's copies that stay behind, an answer that an
/// invalidation has overtaken, a fill kept over an acquire, requests that pass one another, invalidations of several
/// lines.
INSTANTIATE_TEST_SUITE_P(Rare, EpisodesInProcess, testing::Values(750'006, 750'010, 750'070, 750'071, 750'004));

TEST(RandomTester, MeetsEveryPairAndFindsNothingInMinutes) {
  const SoakResult result = run_some(1'000'000, kMany);
  EXPECT_EQ(failures(result), "");
  EXPECT_EQ(should_not_be(result.coverage), "");
  if (kSanitized) return;  // too few for the rarest pairs
  EXPECT_EQ(never_seen(result.coverage), "") << tables(result.coverage);
}

/// The host works on the data between launches, under every management of memory.
TEST(RandomTester, FindsNothingWhereTheHostWorksOnTheData) {
  SoakOptions options;
  options.seed = 3'000'000;
  options.episodes = kSanitized ? 20 : 250;
  options.cuts.hosted = true;
  options.jobs = 2;
  options.episode_time = std::chrono::seconds(kSanitized ? 500 : 120);
  EXPECT_EQ(failures(soak(options)), "");
}

/// Every design at the egress, whose stores are followed to the memory that they are written to.
TEST(RandomTester, FindsNothingInStoresThroughEveryEgress) {
  SoakOptions options;
  options.cuts.posted = true;
  options.stores = kSanitized ? 20'000 : 1'000'000;
  options.jobs = 2;
  options.episode_time = std::chrono::seconds(kSanitized ? 500 : 120);
  const SoakResult result = soak(options);
  EXPECT_EQ(failures(result), "");
  EXPECT_GE(result.stores, options.stores);
  if (kSanitized) return;  // too few for all of them
  for (const std::string& design : egress_designs()) {
    EXPECT_GT(result.stores_by.at(design), options.stores / 50) << design;
  }
}

/// A store of a whole line had brought it into an L2, and the migration of its page dropped only what loads had.
TEST(RandomTester, ACopyThatAStoreMadeLeavesWithItsPage) {
  EXPECT_EQ(failure_of(1'000'829, {}, std::chrono::seconds(kSanitized ? 300 : 60)), std::nullopt);
}

/// Two GPUs took a page from each other for ever: a scalar load did not keep the translation it had waited for.
TEST(RandomTester, EpisodesThatDidNotEnd) {
  for (const std::uint64_t seed : {16, 48}) {
    EXPECT_EQ(failure_of(seed, {}, std::chrono::seconds(kSanitized ? 300 : 60)), std::nullopt) << seed;
  }
}

/// What a wavefront does, as numbers.
std::vector<std::uint64_t> trace(const Workload& program, std::size_t launch, const Wave& wave) {
  std::vector<std::uint64_t> trace;
  Stream stream = program.wavefront(launch, wave);
  for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
    trace.push_back(static_cast<std::uint64_t>(op.kind) << 32 | op.bytes << 16 | op.count);
    if (op.lanes == nullptr) {
      trace.push_back(op.address);
      continue;
    }
    LaneAddresses lanes;
    stream.lanes(wave.lanes, lanes);
    lanes.expand();
    trace.insert(trace.end(), lanes.address.begin(), lanes.address.end());
  }
  return trace;
}

TEST(RandomTester, StreamsAreAFunctionOfTheSeed) {
  const RandomProgram once(draw_episode(5).program);
  const RandomProgram again(draw_episode(5).program);
  const RandomProgram other(draw_episode(6).program);
  const Wave wave{.group_x = 1, .index = 0};
  EXPECT_EQ(trace(once, 0, wave), trace(again, 0, wave));
  EXPECT_NE(trace(once, 0, wave), trace(other, 0, wave));
  EXPECT_NE(trace(once, 0, wave), trace(once, 0, Wave{.group_x = 2, .index = 0}));
}

TEST(RandomTester, LanesStayInTheBuffers) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const RandomProgram program(draw_episode(seed).program);
    const auto held = [&](std::uint64_t first, std::uint64_t bytes) {
      return std::ranges::any_of(program.buffers(), [&](const Buffer& buffer) {
        return first >= buffer.base.value && first + bytes <= buffer.base.value + buffer.bytes;
      });
    };
    for (unsigned group = 0; group < 8; ++group) {
      Stream stream = program.wavefront(0, Wave{.group_x = group, .index = 0});
      for (Op op = stream.next(); op.kind != OpKind::End; op = stream.next()) {
        if (op.kind == OpKind::ScalarLoad) {
          EXPECT_TRUE(held(op.address, op.bytes));
          continue;
        }
        if (op.lanes == nullptr) continue;
        LaneAddresses lanes;
        stream.lanes(kMaxLanes, lanes);
        lanes.expand();
        for (unsigned lane = 0; lane < kMaxLanes; ++lane) {
          if ((lanes.active >> lane & 1) == 0) continue;
          ASSERT_TRUE(held(lanes.address[lane], op.bytes)) << seed;
        }
      }
    }
  }
}

TEST(RandomTester, EpisodesDifferInEverySetting) {
  std::set<std::string> once;
  std::set<std::string> values;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    for (const std::string& setting : draw_episode(seed).settings) {
      values.insert(setting);
      once.insert(setting.substr(0, setting.find('=')));
    }
  }
  for (const char* value : {"gpus=1", "gpus=8", "gpu.l1v.mshrs=1", "gpu.l2.queue=1", "link.credits=1",
                            "link.topology=ring", "translation.kind=svm", "translation.kind=ats",
                            "placement.policy=replication", "migration.evict=true", "boundary.write_back=false"}) {
    EXPECT_TRUE(values.contains(value)) << value;
  }
  EXPECT_GT(values.size(), 3 * once.size());
}

TEST(RandomTester, TellsOfAFailureAndMakesItSmall) {
  SoakOptions options;
  options.seed = 7;
  options.shrink_time = std::chrono::seconds(20);
  options.cuts.set = {"gpu.l2.banks=64", "gpu.l2.size=64"};  // one line in 64 banks: refused
  const SoakResult result = soak(options);
  ASSERT_EQ(result.failures.size(), 1U);
  const Failure& failure = result.failures.front();
  EXPECT_EQ(failure.seed, 7U);
  EXPECT_EQ(failure.cuts.gpus.value_or(draw_episode(7).gpus), 1U);
  EXPECT_EQ(failure.cuts.operations, 1U);
  EXPECT_TRUE(failure_of(7, failure.cuts, std::chrono::seconds(60)).has_value());
  EXPECT_NE(describe(failure).find("random_tester --episode 7 --"), std::string::npos) << describe(failure);
  EXPECT_NE(describe(failure).find("--set gpu.l2.size=64"), std::string::npos);
}

TEST(RandomTester, TellsOfAnEpisodeThatDoesNotEnd) {
  const auto failure = failure_of(3, {}, std::chrono::seconds(0));
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(*failure, "the episode has not ended after 0 seconds");
  Cuts long_one;
  long_one.operations = 1'000'000;
  EXPECT_EQ(failure_of(3, long_one, std::chrono::seconds(1)), "the episode has not ended after 1 seconds");
}

TEST(RandomTester, ItsOwnFailuresAreNotForgotten) {
  // A pair that cannot occur is told of when it does, and one that can when it does not.
  ProtocolCoverage coverage;
  EXPECT_EQ(should_not_be(coverage), "");
  EXPECT_NE(never_seen(coverage).find("vector L1: store meets a line that is pending"), std::string::npos);
  coverage.vector_l1.count(L1State::Pending, L1Event::Store);
  coverage.l2.count(L2State::Dirty, L2Event::Fill);
  EXPECT_EQ(never_seen(coverage).find("vector L1: store meets a line that is pending"), std::string::npos);
  EXPECT_EQ(should_not_be(coverage), "  L2: fill meets a line that is dirty, 1 times, but a fill answers an MSHR\n");
}

}  // namespace
}  // namespace nearfar::tester_test
