// Collective operations on whole machines under the oracles: what the links carry against closed forms, with a packet
// for each store and with the queues of designs at the egress.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include "designs/design.h"
#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::collectives_machine_test {
namespace {

using Names = std::vector<std::string>;
using Settings = std::vector<ParameterSetting>;

struct Way {
  std::string label, workload;
  Settings settings;
};

const std::vector<Way>& ways() {
  static const std::vector<Way> all{
      {"Ring", "AllReduce", {{"algorithm", 0}}},
      {"Tree", "AllReduce", {{"algorithm", 1}, {"chunks", 2}}},
      {"OneShot", "AllReduce", {{"algorithm", 2}}},
      {"TwoShot", "AllReduce", {{"algorithm", 3}}},
      {"OneShotByLoads", "AllReduce", {{"algorithm", 4}}},
      {"AllGatherRing", "AllGather", {{"direct", 0}}},
      {"AllGatherDirect", "AllGather", {{"direct", 1}}},
      {"ReduceScatterRing", "ReduceScatter", {{"direct", 0}}},
      {"ReduceScatterDirect", "ReduceScatter", {{"direct", 1}}},
      {"AllToAll", "AllToAll", {}},
  };
  return all;
}

constexpr std::uint64_t kPiece = 1024;

std::shared_ptr<const Workload> make_way(const Way& way, std::uint64_t ranks) {
  Settings settings = way.settings;
  settings.push_back({"ranks", ranks});
  settings.push_back({"bytes", ranks * kPiece});
  settings.push_back({"items", 64});
  return make_workload(way.workload, SizeClass::Small, settings, 1);
}

SystemSpec machine(const Names& designs, std::uint64_t gpus, const std::string& system = "finepack-4gpu",
                   Names overrides = {}) {
  overrides.insert(overrides.begin(), {"gpus=" + std::to_string(gpus), "gpu.shader_arrays=1"});
  return load_system_with(designs, system, overrides).spec;
}

double ratio(const Outcome& run, const std::string& name) {
  const auto found = std::ranges::find(run.result.statistics, name, &StatValue::name);
  return found == run.result.statistics.end() ? 0 : found->ratio;
}

/// Bytes that a rank stores into others' buffers.
std::uint64_t sent_bytes(const Way& way, std::uint64_t rank, std::uint64_t ranks) {
  const std::uint64_t bytes = ranks * kPiece;
  if (way.label == "OneShot") return (ranks - 1) * bytes;
  if (way.label == "OneShotByLoads") return 0;
  if (way.label == "Tree") {
    const std::uint64_t children = (2 * rank + 1 < ranks ? 1U : 0U) + (2 * rank + 2 < ranks ? 1U : 0U);
    return (children + (rank > 0 ? 1 : 0)) * bytes;
  }
  return (way.workload == "AllReduce" ? 2 : 1) * (ranks - 1) * kPiece;
}

class CollectiveMachine : public ::testing::TestWithParam<std::tuple<std::size_t, std::uint64_t>> {};

TEST_P(CollectiveMachine, SendsTheBytesOfTheClosedForm) {
  const Way& way = ways()[std::get<0>(GetParam())];
  const std::uint64_t ranks = std::get<1>(GetParam());
  for (const Names& designs : std::vector<Names>{{}, {"finepack"}, {"write-combining"}}) {
    SCOPED_TRACE(designs.empty() ? "baseline" : designs.front());
    const Outcome run = simulate(machine(designs, ranks), {make_way(way, ranks)});
    std::uint64_t sent = 0;
    for (std::uint64_t rank = 0; rank < ranks; ++rank) {
      const std::string gpu = "gpu" + std::to_string(rank);
      EXPECT_EQ(run.count(gpu + ".egress.store_bytes"), sent_bytes(way, rank, ranks)) << gpu;
      EXPECT_EQ(run.count(gpu + ".egress.data_bytes"), sent_bytes(way, rank, ranks)) << gpu;
      sent += sent_bytes(way, rank, ranks);
    }
    EXPECT_EQ(run.count("gpus.egress.useful_bytes") + run.count("gpus.egress.wasted_bytes"), sent);
  }
}

std::vector<std::size_t> all_ways() {
  std::vector<std::size_t> all(ways().size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
  return all;
}

INSTANTIATE_TEST_SUITE_P(Ways, CollectiveMachine,
                         ::testing::Combine(::testing::ValuesIn(all_ways()), ::testing::Values(2, 3, 4, 8)),
                         [](const auto& which) {
                           return ways()[std::get<0>(which.param)].label + std::to_string(std::get<1>(which.param));
                         });

TEST(CollectiveMachine, LoadsEveryOtherRanksLinesOnce) {
  const std::uint64_t ranks = 4, line = 128;
  const Way way{"OneShotByLoads", "AllReduce", {{"algorithm", 4}}};
  const Outcome run = simulate(machine({}, ranks), {make_way(way, ranks)});
  EXPECT_EQ(run.count("gpus.link.reply_packets"), ranks * (ranks - 1) * ranks * kPiece / line);
}

TEST(CollectiveMachine, ReportsAlgorithmAndBusBandwidth) {
  const SystemSpec system = machine({}, 4);
  const Outcome run = simulate(system, {make_way(ways().front(), 4)});
  const double seconds = static_cast<double>(run.result.cycles) / static_cast<double>(system.gpu.clock.hertz);
  EXPECT_EQ(run.count("collective.bytes"), 4 * kPiece);
  EXPECT_DOUBLE_EQ(ratio(run, "collective.algorithm_bandwidth"), 4.0 * kPiece / seconds / 1e9);
  EXPECT_DOUBLE_EQ(ratio(run, "collective.bus_bandwidth"), 1.5 * 4.0 * kPiece / seconds / 1e9);
  const auto other = make_workload("MT", SizeClass::Small, Settings{{"width", 64}}, 1);
  EXPECT_EQ(ratio(simulate(system, {other}), "collective.bus_bandwidth"), 0);
}

/// A ring uses one link of each GPU, and cannot be faster than it.
TEST(CollectiveMachine, ARingFillsNoMoreThanItsLinks) {
  for (const char* workload : {"AllReduce", "AllGather", "ReduceScatter"}) {
    const SystemSpec system = machine({}, 4, "finepack-4gpu-nvlink", {"link.bandwidth=4GB/s"});
    const auto ring = make_workload(workload, SizeClass::Small, Settings{{"bytes", 1 << 18}, {"items", 1024}}, 1);
    const double bandwidth = ratio(simulate(system, {ring}), "collective.bus_bandwidth");
    EXPECT_LT(bandwidth, 4) << workload;
    EXPECT_GT(bandwidth, 1) << workload;
  }
}

}  // namespace
}  // namespace nearfar::collectives_machine_test
