// Kernel arguments as scalar loads (dispatch.kernel_arguments): what is loaded, from where, and what it replaces.
#include <gtest/gtest.h>

#include "config/error.h"
#include "machine/script.h"
#include "program/kernel_arguments.h"

namespace nearfar::kernel_arguments_test {
namespace {

/// `launches` launches of a wavefront on each compute unit, whose kernel begins with `scalars` scalar instructions.
std::shared_ptr<const Workload> program(unsigned launches, unsigned scalars, std::uint32_t groups = 256) {
  auto script = std::make_shared<Script>();
  const VirtAddr buffer = script->buffer(1 << 16, Placement::Interleave);
  for (unsigned l = 0; l < launches; ++l) {
    script->launch(groups_of(groups), [buffer, scalars](const Script&, const Wave&) -> Stream {
      const auto one = load(4, [&] { return Row{buffer}; });
      co_yield salu(scalars);
      co_yield one;
      co_yield wait(0);
    });
  }
  return script;
}

Outcome run_on(const std::string& system, const std::shared_ptr<const Workload>& workload, std::uint64_t bytes,
               std::vector<std::string> overrides = {}) {
  overrides.push_back("dispatch.kernel_arguments=" + std::to_string(bytes));
  return simulate(test_system(overrides, system), {workload});
}

TEST(KernelArguments, AreLoadedByEveryWavefrontAndMissedByEveryArrayAnewForEachLaunch) {
  const Outcome run = run_on("mgpusim-r9nano", program(2, 9), 64);
  EXPECT_EQ(run.count("gpus.cu.scalar_loads"), 2U * 256 * 5) << "the packet, and four of 16 bytes";
  EXPECT_EQ(run.count("gpus.l1s.load_lines"), 2U * 256 * 5);
  EXPECT_EQ(run.count("gpus.l1s.fills"), 2U * 64 * 2) << "a line of the packet, and one of the arguments";
  EXPECT_EQ(run.count("gpus.scalar_tlb.misses") - run.count("gpus.scalar_tlb.merges"), 2U * 64 * 2);
  EXPECT_EQ(run_on("mgpusim-r9nano", program(1, 9), 65).count("gpus.l1s.fills"), 64U * 3) << "two lines of arguments";
}

TEST(KernelArguments, LieInTheMemoryOfTheGpuThatLoadsThem) {
  for (const char* system : {"mgpusim-r9nano", "ideal-4gpu", "ats-4gpu"}) {
    const Outcome none = run_on(system, program(1, 9), 0), some = run_on(system, program(1, 9), 128);
    EXPECT_EQ(some.count("gpus.l2.remote_requests"), none.count("gpus.l2.remote_requests")) << system;
    EXPECT_EQ(some.count("gpus.l2.reads"), none.count("gpus.l2.reads") + 64U * 3) << system;
  }
}

TEST(KernelArguments, TakeThePlaceOfScalarInstructions) {
  const std::uint64_t waves = 256;
  EXPECT_EQ(run_on("ideal-4gpu", program(1, 9), 0).result.instructions, waves * (9 + 2));
  EXPECT_EQ(run_on("ideal-4gpu", program(1, 9), 64).result.instructions, waves * (9 + 2))
      << "five loads and the wait for them are among the nine";
  EXPECT_EQ(run_on("ideal-4gpu", program(1, 2), 64).result.instructions, waves * (6 + 2)) << "where there are as many";
}

TEST(KernelArguments, WorkOnEveryKindOfMachine) {
  for (const char* system :
       {"mmu-4gpu", "ats-4gpu-first-touch", "rec-4gpu", "memcpy-4gpu", "zero-copy-4gpu", "umh-4gpu", "svm-1gpu"}) {
    const Outcome run = run_on(system, program(2, 9, 16), 64);
    EXPECT_EQ(run.count("gpus.cu.scalar_loads"), 2U * 16 * 5) << system;
  }
  const Outcome large = run_on("mmu-4gpu", program(2, 9, 16), 64, {"page.size=2M"});
  EXPECT_EQ(large.count("gpus.cu.scalar_loads"), 2U * 16 * 5);
}

TEST(KernelArguments, HavePagesOfTheirOwnBehindTheProgram) {
  const auto script = program(3, 9);
  const WithKernelArguments with(script, 4, kPageBytes, 64);
  ASSERT_EQ(with.buffers().size(), script->buffers().size() + 1);
  EXPECT_EQ(with.buffers().back().bytes, 3U * 4 * 2 * kPageBytes);
  EXPECT_EQ(with.steps().size(), script->steps().size());
  EXPECT_EQ(with.page_homes().size(), 3U * 4 * 2);
  const VirtAddr first = with.buffers().back().base;
  EXPECT_EQ(with.arguments(0, 0).load(0), scalar_load(4, first + 4));
  EXPECT_EQ(with.arguments(0, 0).load(2), scalar_load(16, first + 4 * kPageBytes + 16));
  EXPECT_EQ(with.arguments(2, 3).load(0), scalar_load(4, first + 19 * kPageBytes + 4));
}

}  // namespace
}  // namespace nearfar::kernel_arguments_test
