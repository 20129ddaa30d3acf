// Whole runs: several applications, dispatch, boundaries, and what goes wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>

#include "config/error.h"
#include "machine/script.h"
#include "machine/statistics.h"
#include "workload/catalog.h"

namespace nearfar::runs_test {
namespace {

using ::testing::HasSubstr;

std::shared_ptr<const Workload> small(const std::string& name, std::vector<ParameterSetting> settings = {}) {
  return make_workload(name, SizeClass::Small, settings, 1);
}

TEST(ClosedForms, LineAccessesOfRunsAreThoseOfTheProgram) {
  const SystemSpec system = test_system();
  EXPECT_EQ(simulate(system, {small("MT", {{"width", 1024}})}).result.accesses, 1024U * 1024 / 8);
  EXPECT_EQ(simulate(system, {small("FIR", {{"n", 1 << 16}})}).result.accesses, (1U << 16) / 64 * 83);
  EXPECT_EQ(simulate(system, {small("MM", {{"n", 128}})}).result.accesses, 4U * 4 * (128 * 4 + 64));
}

TEST(EveryShippedSystem, RunsWithItsOraclesOn) {
  for (const SystemSummary& shipped : list_systems()) {
    SCOPED_TRACE(shipped.name);
    const SystemSpec system = load_system(shipped.name, {}).spec;
    // Each instance of a GPU runs an application of its own.
    const std::size_t applications = system.translation.kind == TranslationKind::Mig ? system.gpus : 1;
    const auto runs = [&](std::shared_ptr<const Workload> workload) {
      return simulate(system, std::vector(applications, std::move(workload))).result.cycles > 0;
    };
    EXPECT_TRUE(runs(small("MT", {{"width", 512}})));
    EXPECT_TRUE(runs(small("PR", {{"n", 1024}, {"m", 8192}, {"iterations", 2}})));
  }
}

Outcome run_with_pairs(const SystemSpec& system, std::shared_ptr<const Workload> workload) {
  RunRequest request;
  request.system = system;
  request.applications = {std::move(workload)};
  request.check = true;
  request.per_unit = true;
  return Outcome(run(request));
}

/// Whatever crosses a link is of one kind and between two devices: lines, control, copies, translation messages, pages,
/// invalidations.
TEST(Links, CountEveryByteByKindAndByPair) {
  const auto copying = small("FIR", {{"n", 4096}, {"copies", 1}});
  const auto transposing = small("MT", {{"width", 256}});
  const std::vector<std::pair<SystemSpec, std::shared_ptr<const Workload>>> runs = {
      {load_system("rec-4gpu", {}).spec, transposing},      {load_system("mmu-4gpu", {}).spec, transposing},
      {load_system("finepack-4gpu", {}).spec, transposing}, {load_system("ring-8gpu", {}).spec, transposing},
      {load_system("ideal-4gpu", {}).spec, copying},
  };
  for (const auto& [system, workload] : runs) {
    SCOPED_TRACE(system.name);
    const Outcome run = run_with_pairs(system, workload);
    EXPECT_EQ(run.count("link.bytes"), run.count("gpus.link.received_bytes") + run.count("host.link.received_bytes"));
    std::uint64_t pairs = 0;
    for (const StatValue& value : run.result.statistics) {
      if (value.name.find(".link.to_") != std::string::npos && value.name.ends_with(".bytes")) pairs += value.count;
    }
    EXPECT_EQ(run.count("link.bytes"), pairs);
  }
}

/// A page is a write of 4 KiB, with the header of its packet.
TEST(Links, CarryTheHeadersOfPagesThatMigrate) {
  const SystemSpec system = load_system("mmu-4gpu", {}).spec;
  const Outcome run = simulate(system, {small("MT", {{"width", 256}})});
  const std::uint64_t pages = run.count("uvm.migration.count");
  EXPECT_GT(pages, 0U);
  EXPECT_EQ(run.count("gpus.link.page_packets") + run.count("host.link.page_packets"), pages);
  EXPECT_EQ(run.count("gpus.link.page_bytes") + run.count("host.link.page_bytes"),
            pages * (kPageBytes + system.link.header));
}

TEST(Mixes, CountFirstExecutionsOnlyAndRunTheShortOnesAgain) {
  const SystemSpec system = test_system({"gpus=2"});
  const auto longer = small("KM", {{"points", 2048}});
  const auto shorter = small("FIR", {{"n", 4096}});
  const Outcome mix = simulate(system, {longer, shorter});
  const Outcome alone = simulate(test_system({"gpus=1"}), {shorter});
  EXPECT_EQ(mix.count("app1.instructions"), alone.result.instructions);
  EXPECT_EQ(mix.count("app1.accesses"), alone.result.accesses);
  EXPECT_EQ(mix.count("gpu1.cu.accesses"), alone.result.accesses);
  EXPECT_EQ(mix.result.launches.size(), longer->launches().size() + 1);
  EXPECT_EQ(mix.result.cycles, mix.result.launches.back().end);
  EXPECT_LT(mix.count("app1.cycles") * 2, mix.count("app0.cycles"));  // so the short one ran again meanwhile
}

TEST(Mixes, NeedAGpuEach) {
  const auto fir = small("FIR", {{"n", 4096}});
  try {
    simulate(test_system({"gpus=1"}), {fir, fir});
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("2 applications need as many GPUs, but the system has 1"));
  }
}

TEST(Dispatch, GreedyFillsGpusInOrderAndThenSpreads) {
  auto script = std::make_shared<Script>();
  script->buffer(kPageBytes, Placement::Distribute);
  script->launch(groups_of(200, 64, Split::Greedy),
                 [](const Script&, const Wave&) { return []() -> Stream { co_yield valu(100); }(); });
  // Four compute units of eight wavefronts each hold 32 workgroups a GPU.
  const SystemSpec system = test_system({"gpu.shader_arrays=1", "gpu.cus_per_array=4", "gpu.cu.waves_per_simd=2"});
  const Outcome run = simulate(system, {script});
  std::uint64_t sum = 0;
  for (unsigned g = 0; g < 4; ++g) {
    const std::uint64_t groups = run.count("gpu" + std::to_string(g) + ".cu.groups");
    EXPECT_GE(groups, 32U);
    sum += groups;
  }
  EXPECT_EQ(sum, 200U);

  auto few = std::make_shared<Script>();
  few->buffer(kPageBytes, Placement::Distribute);
  few->launch(groups_of(40, 64, Split::Greedy),
              [](const Script&, const Wave&) { return []() -> Stream { co_yield valu(100); }(); });
  const Outcome filled = simulate(system, {few});
  EXPECT_EQ(filled.count("gpu0.cu.groups"), 32U);
  EXPECT_EQ(filled.count("gpu1.cu.groups"), 8U);
  EXPECT_EQ(filled.count("gpu2.cu.groups"), 0U);
}

TEST(Boundary, DirtyLinesAreWrittenBackUnlessToldOtherwise) {
  const auto workload = small("MT", {{"width", 256}});
  const Outcome flushed = simulate(test_system(), {workload});
  EXPECT_EQ(flushed.count("gpus.dram.writes"), 256U * 256 * 4 / 64);
  const Outcome kept = simulate(test_system({"boundary.write_back=false"}), {workload});
  EXPECT_EQ(kept.count("gpus.l2.flushed_lines"), 0U);
  EXPECT_LT(kept.result.cycles, flushed.result.cycles);
}

TEST(Boundary, AWriteOfOneKernelIsReadByTheNextOnAnotherGpu) {
  auto script = std::make_shared<Script>();
  const VirtAddr data = script->buffer(4 * kPageBytes, Placement::Interleave);
  const auto touch = [data](bool write, unsigned shift) {
    return [=](const Script&, const Wave& wave) {
      return [](VirtAddr base, std::uint64_t page, bool store_it) -> Stream {
        const auto at = [=](unsigned lane) { return base + page * kPageBytes + lane * 4; };
        if (store_it) {
          co_yield store(4, at);
        } else {
          co_yield load(4, at);
          co_yield wait(0);
        }
      }(data, (wave.group_x + shift) % 4, write);
    };
  };
  script->launch(groups_of(4, 64, Split::RoundRobin), touch(false, 0));  // fills L1s
  script->launch(groups_of(4, 64, Split::RoundRobin), touch(true, 1));
  script->launch(groups_of(4, 64, Split::RoundRobin), touch(false, 0));  // the oracle refuses stale lines
  const Outcome run = simulate(test_system(), {script});
  EXPECT_EQ(run.count("gpus.l1v.load_hits"), 0U);
}

/// Parts of lines are stored, and memory is slow: their lines are still under way when the kernel has ended.
TEST(Boundary, StoresThatWaitForTheirLinesAreWrittenBackToo) {
  const SystemSpec system = test_system({"gpu.dram.controller_latency=400"}, "svm-1gpu");
  EXPECT_GT(simulate(system, {small("NW", {{"n", 256}})}).count("gpus.l2.flushed_lines"), 0U);  // under the oracle
}

TEST(ImpossibleSizes, AreRefusedBeforeTheFirstCycle) {
  const auto big = small("MT", {{"width", 16384}});
  EXPECT_THROW(simulate(test_system({"gpu.dram.capacity=256MiB"}), {big}), InputError);
  EXPECT_THROW(simulate(test_system({"gpu.cu.local_memory=8KiB"}), {small("MT", {{"width", 256}})}), InputError);
}

TEST(Statistics, OfUnitsAddUpToThoseOfTheirGpu) {
  RunRequest request;
  request.system = test_system({"gpus=2"});
  request.applications = {small("FIR", {{"n", 1 << 15}})};
  request.per_unit = true;
  const Outcome run(nearfar::run(request));
  std::uint64_t instructions = 0;
  std::uint64_t hits = 0;
  for (unsigned cu = 0; cu < request.system.gpu.cus(); ++cu) {
    instructions += run.count("gpu1.cu" + std::to_string(cu) + ".instructions");
    hits += run.count("gpu1.cu" + std::to_string(cu) + ".l1v.load_hits");
  }
  EXPECT_EQ(instructions, run.count("gpu1.cu.instructions"));
  EXPECT_EQ(hits, run.count("gpu1.l1v.load_hits"));
  EXPECT_EQ(run.count("gpus.cu0.instructions"), 0U);
}

class StatisticsOf : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Systems, StatisticsOf,
                         ::testing::Values("ideal-4gpu", "ats-4gpu", "mmu-4gpu-counters", "rec-4gpu"));

TEST_P(StatisticsOf, EveryReportedNameIsExplained) {
  const Outcome run = simulate(test_system({"translation.observe=true"}, GetParam()),
                               {small("MT", {{"width", 256}}), small("FIR", {{"n", 4096}})});
  std::vector<std::string> explained;
  for (const StatInfo& info : list_statistics()) {
    EXPECT_FALSE(info.sentence.empty()) << info.name;
    EXPECT_FALSE(info.unit.empty()) << info.name;
    explained.push_back(info.name);
  }
  const auto generic = [](std::string name) {
    for (const char* prefix : {"gpu", "app"}) {
      if (!name.starts_with(prefix) || !std::isdigit(name[3])) continue;
      const std::size_t dot = name.find('.');
      name = std::string(prefix) + (prefix[0] == 'g' ? "<g>" : "<a>") + name.substr(dot);
    }
    if (name.starts_with("kernel.")) name = "kernel.<name>" + name.substr(name.rfind('.'));
    if (const std::size_t pid = name.find(".pid"); pid != std::string::npos && std::isdigit(name[pid + 4])) {
      const std::size_t end = name.find_first_not_of("0123456789", pid + 4);
      name = name.substr(0, pid) + ".pid<p>" + (end == std::string::npos ? "" : name.substr(end));
    }
    const std::size_t below = name.find(".below_");
    if (below != std::string::npos) name = name.substr(0, below) + ".below_<n>";
    return name;
  };
  for (const StatValue& value : run.result.statistics) {
    EXPECT_NE(std::find(explained.begin(), explained.end(), generic(value.name)), explained.end()) << value.name;
  }
}

}  // namespace
}  // namespace nearfar::runs_test
