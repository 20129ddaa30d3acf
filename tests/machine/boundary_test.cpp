// What caches do between one kernel and the next (boundary.l1, boundary.l2), and whose TLB scalar loads use
// (gpu.scalar_tlb).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/error.h"
#include "machine/script.h"
#include "machine/system_check.h"
#include "workload/catalog.h"

namespace nearfar::boundary_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

Stream access(VirtAddr at, bool writes) {
  const auto lane0 = [at](unsigned lane) { return lane == 0 ? at : kIdle; };
  if (writes) {
    co_yield store(4, lane0);
  } else {
    co_yield load(4, lane0);
    co_yield wait(0);
  }
}

/// One wavefront on GPU 0 for each access.
struct Program {
  std::shared_ptr<Script> script = std::make_shared<Script>();
  VirtAddr base = script->buffer(4 * kPageBytes, Placement::Interleave);

  void launch(VirtAddr at, bool writes) {
    script->launch(groups_of(1), [=](const Script&, const Wave&) { return access(at, writes); });
  }
};

TEST(Boundary, L1KeepsItsLinesWhereItMay) {
  for (const bool keep : {false, true}) {
    Program program;
    program.launch(program.base, false);
    // With one compute unit, the second kernel reads through the same L1.
    const SystemSpec system = test_system(
        {"gpu.shader_arrays=1", "gpu.cus_per_array=1", keep ? "boundary.l1=keep" : "boundary.l1=invalidate"});
    program.launch(program.base, false);
    EXPECT_EQ(simulate(system, {program.script}).count("gpus.l1v.load_hits"), keep ? 1U : 0U);
  }
}

/// GPU 0 reads a line, GPU 1 writes it in the next kernel, GPU 0 reads it again in the one after that.
std::shared_ptr<Script> stale_reader() {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Interleave);
  for (const unsigned writer : {2U, 1U, 2U}) {
    script->launch(groups_of(2, 64, Split::RoundRobin), [=](const Script&, const Wave& wave) {
      const bool writes = writer == 1;
      return access(wave.group_x == (writes ? 1U : 0U) ? base : base + 1024, writes && wave.group_x == 1);
    });
  }
  return script;
}

TEST(Boundary, AKeptLineMayBeOldAndTheRunSaysSo) {
  const SystemSpec system =
      test_system({"gpus=2", "gpu.shader_arrays=1", "gpu.cus_per_array=1", "boundary.l1=keep", "gpu.cu.simds=1"});
  EXPECT_GE(simulate(system, {stale_reader()}).count("gpu0.l1v.load_hits"), 1U);
  EXPECT_THAT(system_remark(system), HasSubstr("not coherent"));
  EXPECT_EQ(system_remark(test_system()), "");
}

TEST(Boundary, L2DropsWhatItIsToldTo) {
  const std::vector<std::pair<std::string, std::uint64_t>> kCases = {{"keep", 2}, {"drop_written", 1}, {"drop", 0}};
  for (const auto& [what, hits] : kCases) {
    Program program;
    program.script->launch(groups_of(2), [base = program.base](const Script&, const Wave& wave) {
      return access(base + wave.group_x * 64, wave.group_x == 0);
    });
    program.script->launch(groups_of(2), [base = program.base](const Script&, const Wave& wave) {
      return access(base + wave.group_x * 64, false);
    });
    const Outcome run = simulate(test_system({"boundary.l2=" + what}), {program.script});
    EXPECT_EQ(run.count("gpu0.l2.read_hits"), hits) << what;
    EXPECT_EQ(run.count("gpu0.l2.flushed_lines"), 1U) << what;
  }
}

TEST(Boundary, WhatLeavesHasToBeWrittenBack) {
  for (const char* what : {"drop", "drop_written"}) {
    EXPECT_THAT(
        [&] {
          test_system({std::string("boundary.l2=") + what, "boundary.write_back=false"});
        },
        ThrowsMessage<InputError>(HasSubstr("boundary.write_back")));
  }
}

std::shared_ptr<const Workload> small(const std::string& name) {
  static const std::map<std::string, std::vector<ParameterSetting>> kSizes = {
      {"FIR", {{"n", 1 << 13}}}, {"KM", {{"points", 1024}, {"iterations", 2}}}, {"MT", {{"width", 256}}}};
  return make_workload(name, SizeClass::Small, kSizes.at(name), 1);
}

TEST(Boundary, EveryChoiceRunsCleanWherePagesMove) {
  for (const char* l1 : {"boundary.l1=keep", "boundary.l1=invalidate"}) {
    for (const char* l2 : {"boundary.l2=keep", "boundary.l2=drop_written", "boundary.l2=drop"}) {
      const SystemSpec system = test_system(
          {l1, l2, "gpu.scalar_tlb=array", "gpu.l1_tlb.mshrs=1", "gpu.l1_tlb.entries=2", "gpu.l1_tlb.ways=2"},
          "mmu-4gpu");
      simulate(system, {small("KM")});
    }
  }
}

/// GPU 0 writes a page, or loads of it by a scalar load; GPU 1 writes it; then GPU 0 as before: a launch each. On touch
/// the page follows them.
Outcome pass_a_page(const std::vector<std::string>& overrides, bool scalar) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Interleave);
  for (const unsigned gpu : {0U, 1U, 0U}) {
    script->launch(groups_of(2, 64, Split::RoundRobin), [=](const Script&, const Wave& wave) {
      return [](VirtAddr at, bool mine, bool loads) -> Stream {
        if (!mine) co_return;
        if (loads) {
          co_yield scalar_load(4, at);
        } else {
          co_yield store(4, [at](unsigned lane) { return at + std::uint64_t{lane} * 4; });
        }
        co_yield wait(0);
      }(base, wave.group_x == gpu, scalar && gpu == 0);
    });
  }
  std::vector<std::string> all = {"gpus=2", "gpu.shader_arrays=1", "gpu.cus_per_array=2", "dispatch.policy=workload"};
  all.insert(all.end(), overrides.begin(), overrides.end());
  return simulate(test_system(all, "mmu-4gpu"), {script});
}

TEST(ScalarTlb, OfAnArrayLosesAPageThatMigrates) {
  const Outcome run = pass_a_page({"gpu.scalar_tlb=array"}, true);
  EXPECT_EQ(run.count("uvm.migration.count"), 3U);
  EXPECT_EQ(run.count("gpu0.scalar_tlb.hits"), 0U) << "the page has been away";
}

/// What was dropped is not written back when its page migrates.
TEST(Boundary, ThatDropsLinesKnowsThatTheyAreGone) {
  const Outcome run = pass_a_page({"boundary.l2=drop"}, false);
  EXPECT_EQ(run.count("uvm.migration.count"), 3U);
  EXPECT_EQ(run.count("gpus.l2.write_backs"), 0U);
}

/// Every compute unit of a shader array loads the same word.
TEST(ScalarTlb, OfAnArrayAsksOnceForAllItsComputeUnits) {
  for (const bool array : {false, true}) {
    auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(kPageBytes, Placement::Interleave);
    script->launch(groups_of(4), [=](const Script&, const Wave&) {
      return [](VirtAddr at) -> Stream {
        co_yield scalar_load(4, at);
        co_yield wait(0);
      }(base);
    });
    const SystemSpec system = test_system(
        {"gpus=1", "gpu.shader_arrays=1", "gpu.cus_per_array=4", array ? "gpu.scalar_tlb=array" : "gpu.scalar_tlb=cu"},
        "mmu-4gpu");
    const Outcome run = simulate(system, {script});
    EXPECT_EQ(run.count("gpus.l2_tlb.lookups"), array ? 1U : 4U);
    EXPECT_EQ(run.count("gpus.scalar_tlb.lookups"), array ? 4U : 0U);
    EXPECT_EQ(run.count("gpus.scalar_tlb.merges"), array ? 3U : 0U);
    EXPECT_EQ(run.count("gpus.l1_tlb.lookups"), array ? 0U : 4U);
  }
}

TEST(ScalarTlbThreads, GiveTheSameStatistics) {
  const SystemSpec system = test_system({"gpu.scalar_tlb=array"}, "mmu-4gpu");
  for (const char* name : {"FIR", "KM"}) {
    const Outcome one = simulate(system, {small(name)}, true, 1);
    const Outcome three = simulate(system, {small(name)}, false, 3);
    EXPECT_GT(one.count("gpus.scalar_tlb.hits"), 0U);
    ASSERT_EQ(one.result.statistics.size(), three.result.statistics.size());
    for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
      ASSERT_EQ(one.result.statistics[i].count, three.result.statistics[i].count) << one.result.statistics[i].name;
    }
  }
}

}  // namespace
}  // namespace nearfar::boundary_test
