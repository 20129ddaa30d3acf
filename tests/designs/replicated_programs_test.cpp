// Programs on replicated data on a small machine with posted stores: whichever way stores leave a GPU, and also with
// copies, the data oracle finds nothing, the same bytes are published, and every byte on a link is accounted for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/error.h"
#include "designs/design.h"
#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::replicated_programs_test {
namespace {

using testing::HasSubstr;
using Settings = std::vector<ParameterSetting>;

Outcome run_on(const std::vector<std::string>& designs, const std::string& name, Settings settings,
               std::uint64_t ranks) {
  settings.push_back({"ranks", ranks});
  const std::vector<std::string> overrides{"gpus=" + std::to_string(ranks), "gpu.shader_arrays=1"};
  const SystemSpec system = load_system_with(designs, "finepack-4gpu", overrides).spec;
  return simulate(system, {make_workload(name, SizeClass::Small, settings, 1)});
}

struct Case {
  std::string name;
  Settings settings;
};
const std::vector<Case> kCases{{"Jacobi", {{"n", 4096}, {"iterations", 2}}},
                               {"Diffusion", {{"n", 16}}},
                               {"EQWP", {{"nx", 20}, {"ny", 16}, {"nz", 16}}},
                               {"HIT", {{"n", 16}, {"right_sides", 1}}},
                               {"PageRank", {{"n", 1024}, {"iterations", 2}}},
                               {"BellmanFord", {{"n", 500}}},
                               {"ALS", {{"n", 256}, {"factors", 8}, {"halves", 2}}},
                               {"CT", {{"side", 16}, {"views", 8}, {"slices", 1}, {"iterations", 1}}}};

TEST(ReplicatedPrograms, PublishTheSameWhicheverWayStoresLeave) {
  for (const Case& each : kCases) {
    std::uint64_t stores = 0, useful = 0;
    for (const std::vector<std::string>& designs :
         std::vector<std::vector<std::string>>{{}, {"write-combining"}, {"finepack"}, {"config-packet"}}) {
      const Outcome run = run_on(designs, each.name, each.settings, 4);
      EXPECT_GT(run.count("gpus.egress.stores"), 0U) << each.name;
      EXPECT_EQ(run.count("gpus.egress.useful_bytes") + run.count("gpus.egress.wasted_bytes") +
                    run.count("gpus.egress.protocol_bytes"),
                run.count("gpus.egress.wire_bytes"))
          << each.name;
      if (designs.empty()) {
        stores = run.count("gpus.egress.stores");
        useful = run.count("gpus.egress.useful_bytes");
      }
      EXPECT_EQ(run.count("gpus.egress.stores"), stores) << each.name;
      EXPECT_EQ(run.count("gpus.egress.useful_bytes"), useful) << each.name;
    }
  }
}

TEST(ReplicatedPrograms, CopyWithoutStoringToPeers) {
  for (Case each : kCases) {
    each.settings.push_back({"exchange", 1});
    const Outcome run = run_on({}, each.name, each.settings, 4);
    EXPECT_EQ(run.count("gpus.egress.stores"), 0U) << each.name;
    EXPECT_GT(run.count("copies.count"), 0U) << each.name;
    EXPECT_GT(run.count("gpus.copy.useful_bytes"), 0U) << each.name;
    EXPECT_EQ(run.count("gpus.copy.useful_bytes") + run.count("gpus.copy.wasted_bytes") +
                  run.count("gpus.copy.protocol_bytes"),
              run.count("gpus.link.copy_bytes"))
        << each.name;
  }
}

TEST(ReplicatedPrograms, NeedAGpuForEachRank) {
  const SystemSpec system = load_system_with({}, "finepack-4gpu", {}).spec;
  for (const std::uint64_t ranks : {1U, 2U, 8U}) {
    const Settings settings{{"n", 4096}, {"iterations", 1}, {"ranks", ranks}};
    try {
      simulate(system, {make_workload("Jacobi", SizeClass::Small, settings, 1)});
      FAIL() << ranks;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("has " + std::to_string(ranks) + " ranks"));
      EXPECT_THAT(error.what(), HasSubstr("--param ranks=4, or --set gpus=" + std::to_string(ranks)));
    }
  }
}

TEST(ReplicatedPrograms, StayAtHomeOnOneGpu) {
  for (const Case& each : kCases) {
    const Outcome run = run_on({}, each.name, each.settings, 1);
    EXPECT_EQ(run.count("gpus.egress.stores"), 0U) << each.name;
    EXPECT_EQ(run.count("copies.count"), 0U) << each.name;
  }
}

}  // namespace
}  // namespace nearfar::replicated_programs_test
