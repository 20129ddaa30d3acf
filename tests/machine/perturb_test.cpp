// Whole machines, perturbed: draw 0 is no perturbation, other draws differ, and each is the same on any number of
// threads and in windows of any length, under the oracles and without them.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::perturb_test {
namespace {

std::vector<std::shared_ptr<const Workload>> program() {
  static const std::vector<ParameterSetting> kTiny = {{"n", 2048}, {"m", 16384}, {"iterations", 2}};
  return {make_workload("PR", SizeClass::Small, kTiny, 3)};
}

Outcome drawn(unsigned draw, unsigned threads = 1, bool check = false, Cycle window = 0,
              std::vector<std::string> settings = {}, const std::string& system = "ideal-4gpu") {
  settings.push_back("perturb.draw=" + std::to_string(draw));
  return simulate(test_system(settings, system), program(), check, threads, window);
}

std::vector<std::pair<std::string, std::uint64_t>> counts(const Outcome& outcome) {
  std::vector<std::pair<std::string, std::uint64_t>> out;
  for (const StatValue& value : outcome.result.statistics) out.emplace_back(value.name, value.count);
  return out;
}

TEST(Perturbation, OfDrawZeroIsNone) {
  const auto plain = counts(simulate(test_system(), program(), false));
  EXPECT_EQ(plain, counts(drawn(0)));
  EXPECT_EQ(plain, counts(drawn(0, 1, false, 0, {"perturb.message_jitter=64", "perturb.start_jitter=64"})));
  EXPECT_EQ(plain, counts(drawn(3, 1, false, 0, {"perturb.message_jitter=0", "perturb.start_jitter=0"})));
}

TEST(Perturbation, ChangesCyclesALittleAndNoWork) {
  const Outcome plain = drawn(0);
  for (const char* quiet : {"perturb.message_jitter=0", "perturb.start_jitter=0"}) {
    EXPECT_NE(drawn(1, 1, false, 0, {quiet}).result.cycles, plain.result.cycles) << quiet;
  }
  std::set<Cycle> cycles = {plain.result.cycles};
  for (unsigned draw = 1; draw <= 3; ++draw) {
    const Outcome other = drawn(draw);
    cycles.insert(other.result.cycles);
    EXPECT_EQ(other.result.instructions, plain.result.instructions);
    EXPECT_EQ(other.result.accesses, plain.result.accesses);
  }
  EXPECT_EQ(cycles.size(), 4U) << "draws differ";
}

TEST(Perturbation, FollowsTheSeed) {
  SystemSpec system = test_system({"perturb.draw=1"});
  const Cycle first = simulate(system, program(), false).result.cycles;
  system.perturb.seed = 2;
  EXPECT_NE(simulate(system, program(), false).result.cycles, first);
}

TEST(PerturbationOnThreads, GivesTheSameStatistics) {
  for (const char* name : {"ideal-4gpu", "mmu-4gpu", "ats-4gpu"}) {
    const auto one = counts(drawn(2, 1, false, 0, {}, name));
    EXPECT_EQ(one, counts(drawn(2, 2, false, 0, {}, name))) << name;
    EXPECT_EQ(one, counts(drawn(2, 3, false, 0, {}, name))) << name;
    EXPECT_EQ(one, counts(drawn(2, 1, false, 37, {}, name))) << name;
    EXPECT_EQ(one, counts(drawn(2, 1, true, 0, {}, name))) << name;
  }
}

TEST(PerturbationOnThreads, GivesTheSameStatisticsOnEveryTopology) {
  for (const char* topology : {"switch", "all-to-all", "ring", "pcie-tree"}) {
    const std::vector<std::string> settings = {std::string("link.topology=") + topology, "link.gpus_per_switch=2"};
    EXPECT_EQ(counts(drawn(1, 1, false, 0, settings)), counts(drawn(1, 3, false, 0, settings))) << topology;
  }
}

/// An unloaded message takes as long as the hops of its way say, and what its source added once, not at every hop.
TEST(Perturbation, IsAddedOnceOnAWayOfManyHops) {
  const auto latency = [](const char* topology, unsigned draw, unsigned jitter) {
    auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(8 * kPageBytes, Placement::Interleave);
    Launch one = groups_of(1);
    script->launch(one, [=](const Script&, const Wave&) -> Stream {
      return [](VirtAddr at) -> Stream {
        co_yield load(4, [=](unsigned lane) { return lane == 0 ? at : kIdle; });
        co_yield wait(0);
      }(base + 4 * kPageBytes);
    });
    const Outcome run = simulate(
        test_system({"gpus=8", std::string("link.topology=") + topology, "perturb.start_jitter=0",
                     "perturb.draw=" + std::to_string(draw), "perturb.message_jitter=" + std::to_string(jitter)}),
        {script});
    return run.result.launches.at(0).end - run.result.launches.at(0).start;
  };
  const Cycle plain = latency("ring", 0, 0);
  Cycle most = 0;
  for (unsigned draw = 1; draw <= 40; ++draw) most = std::max(most, latency("ring", draw, 1) - plain);
  // Launch, request, reply, done, write back, written back: one cycle each at the most.
  EXPECT_GE(most, 3U);
  EXPECT_LE(most, 6U);
}

}  // namespace
}  // namespace nearfar::perturb_test
