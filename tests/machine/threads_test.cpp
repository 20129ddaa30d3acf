// The same bits on one thread or many, and with windows of any length: complete statistics are compared.
#include <gtest/gtest.h>

#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::threads_test {
namespace {

std::shared_ptr<const Workload> tiny(const std::string& name, std::uint64_t seed) {
  static const std::map<std::string, std::vector<ParameterSetting>> kSizes = {
      {"MT", {{"width", 512}}},
      {"MM", {{"n", 128}}},
      {"ST", {{"rows", 258}, {"columns", 258}, {"iterations", 2}}},
      {"FIR", {{"n", 1 << 15}}},
      {"PR", {{"n", 2048}, {"m", 16384}, {"iterations", 2}}},
      {"KM", {{"points", 2048}, {"iterations", 2}}},
  };
  return make_workload(name, SizeClass::Small, kSizes.at(name), seed);
}

void expect_same(const Outcome& a, const Outcome& b, const std::string& what) {
  ASSERT_EQ(a.result.statistics.size(), b.result.statistics.size()) << what;
  for (std::size_t i = 0; i < a.result.statistics.size(); ++i) {
    const StatValue& x = a.result.statistics[i];
    const StatValue& y = b.result.statistics[i];
    ASSERT_EQ(x.name, y.name) << what;
    ASSERT_EQ(x.count, y.count) << what << ": " << x.name;
    ASSERT_EQ(x.ratio, y.ratio) << what << ": " << x.name;
  }
}

class ThreadsOnWorkload : public ::testing::TestWithParam<const char*> {};

TEST_P(ThreadsOnWorkload, GiveTheSameStatistics) {
  const SystemSpec system = test_system();
  for (const std::uint64_t seed : {1, 7}) {
    const auto workload = tiny(GetParam(), seed);
    const Outcome one = simulate(system, {workload}, false, 1);
    for (const unsigned threads : {2U, 4U}) {
      expect_same(one, simulate(system, {workload}, false, threads), std::to_string(threads) + " threads");
    }
  }
}

TEST_P(ThreadsOnWorkload, AndWindowsOfAnyLengthGiveTheSameStatistics) {
  const SystemSpec system = test_system({"gpus=3"});
  const auto workload = tiny(GetParam(), 3);
  const Outcome whole = simulate(system, {workload}, false, 1);
  for (const Cycle window : {1, 17, 64, 149}) {
    expect_same(whole, simulate(system, {workload}, false, 1, window), "window of " + std::to_string(window));
  }
}

TEST_P(ThreadsOnWorkload, AndCheckingGiveTheSameStatistics) {
  const SystemSpec system = test_system();
  const auto workload = tiny(GetParam(), 5);
  expect_same(simulate(system, {workload}, false, 1), simulate(system, {workload}, true, 1), "check");
}

INSTANTIATE_TEST_SUITE_P(All, ThreadsOnWorkload, ::testing::Values("MT", "MM", "ST", "FIR", "PR", "KM"),
                         [](const auto& instance) { return std::string(instance.param); });

TEST(ThreadsOnTopologies, GiveTheSameStatistics) {
  for (const char* topology : {"switch", "all-to-all", "ring", "pcie-tree"}) {
    const SystemSpec system = test_system({std::string("link.topology=") + topology, "link.gpus_per_switch=2"});
    const auto workload = tiny("PR", 2);
    expect_same(simulate(system, {workload}, false, 1), simulate(system, {workload}, false, 4), topology);
  }
}

/// So many GPUs that what events need is fetched at the start of a window.
TEST(ThreadsInACrowd, AndCheckingGiveTheSameStatistics) {
  const SystemSpec system = test_system({"gpus=12"});
  for (const char* name : {"MT", "KM", "PR"}) {
    const auto workload = tiny(name, 4);
    const Outcome one = simulate(system, {workload}, false, 1);
    expect_same(one, simulate(system, {workload}, false, 3), std::string(name) + ", 3 threads");
    expect_same(one, simulate(system, {workload}, false, 1, 23), std::string(name) + ", window of 23");
    expect_same(one, simulate(system, {workload}, true, 1), std::string(name) + ", check");
  }
}

TEST(ThreadsOnMixes, GiveTheSameStatistics) {
  const SystemSpec system = test_system();
  const std::vector<std::shared_ptr<const Workload>> mix = {tiny("FIR", 1), tiny("MT", 1), tiny("KM", 1),
                                                            tiny("ST", 1)};
  const Outcome one = simulate(system, mix, false, 1);
  expect_same(one, simulate(system, mix, false, 3), "3 threads");
  expect_same(one, simulate(system, mix, false, 1, 11), "window of 11");
}

TEST(ThreadsOnGreedyDispatch, GiveTheSameStatistics) {
  const SystemSpec system = test_system({"dispatch.policy=greedy"});
  const auto workload = tiny("MT", 1);
  expect_same(simulate(system, {workload}, false, 1), simulate(system, {workload}, false, 4), "greedy");
}

}  // namespace
}  // namespace nearfar::threads_test
