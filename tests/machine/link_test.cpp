// Links that several share: destinations take turns, a slow one holds up nobody else, and no port carries more than
// its bandwidth.
#include <gtest/gtest.h>

#include "machine/script.h"

namespace nearfar::link_test {
namespace {

/// A wavefront stores `rows` rows of 16 whole lines, and works for a while at the end.
Stream store_rows(VirtAddr base, std::uint64_t rows, unsigned work) {
  for (std::uint64_t i = 0; i < rows; ++i) {
    const VirtAddr at = base + i * 1024;
    co_yield store(16, [=](unsigned lane) { return at + std::uint64_t{lane} * 16; });
  }
  if (work != 0) co_yield salu(work);
}

/// A wavefront loads a word of each of `lines` lines, one after the other or all at once, and works at the end.
Stream load_lines(VirtAddr base, std::uint64_t lines, bool in_turn, unsigned work) {
  for (std::uint64_t i = 0; i < lines; ++i) {
    co_yield load(4, [=](unsigned lane) { return lane == 0 ? base + i * 64 : kIdle; });
    if (in_turn) co_yield wait(0);
  }
  co_yield wait(0);
  if (work != 0) co_yield salu(work);
}

/// One launch of few workgroups, which GPU 0 takes alone, and a buffer of which GPU g holds part g.
struct OnGpu0 {
  std::shared_ptr<Script> script = std::make_shared<Script>();
  VirtAddr base;
  std::uint64_t part = std::uint64_t{1} << 20;

  OnGpu0() { base = script->buffer(4 * part, Placement::Distribute); }
  VirtAddr on_gpu(unsigned gpu) const { return base + gpu * part; }
  /// `run(group)` is the stream of a workgroup.
  Outcome simulate_with(const SystemSpec& system, unsigned groups, std::function<Stream(unsigned)> run) {
    script->launch(groups_of(groups), [=](const Script&, const Wave& wave) { return run(wave.group_x); });
    return simulate(system, {script});
  }
};

TEST(SharedOutput, GivesEachDestinationItsTurn) {
  // Four wavefronts store to GPU 1 all the time, one has a fourth of that for GPU 2: it gets half of the link until it
  // is done, after two fifths of the whole time, and not only when the others have nothing more.
  constexpr std::uint64_t kRows = 64;
  const SystemSpec system = test_system({"gpu.cu.store_buffer=1024", "link.credits=4096", "gpu.cu.scalar_cycles=1"});
  const std::uint64_t bytes = kRows * 16 * (64 + system.link.header);
  const auto work = static_cast<unsigned>(5 * bytes / 32);
  OnGpu0 place;
  const Outcome run = place.simulate_with(system, 5, [&](unsigned group) {
    return group < 4 ? store_rows(place.on_gpu(1) + group * kRows * 1024, kRows, 0)
                     : store_rows(place.on_gpu(2), kRows, work);
  });
  EXPECT_GE(run.count("gpu0.link.busy_cycles"), 5 * bytes / 32);
  EXPECT_LT(run.result.cycles, 8 * bytes / 32);
}

TEST(SharedOutput, IsNotHeldUpByADestinationWithoutCredits) {
  // The memory of GPU 1 answers one line after the other; whoever reads from GPU 2 does not notice.
  const SystemSpec system = test_system(
      {"link.credits=4", "gpu.l2.banks=1", "gpu.l2.remote_mshrs=1", "gpu.dram.model=fixed", "gpu.dram.latency=1000"});
  const auto run = [&](unsigned groups) {
    OnGpu0 place;
    return place.simulate_with(system, groups, [&](unsigned group) {
      return group == 0 ? load_lines(place.on_gpu(2), 8, true, 60'000)
                        : load_lines(place.on_gpu(1) + group * 4096, 8, false, 0);
    });
  };
  const Cycle alone = run(1).result.cycles;
  const Outcome beside = run(8);
  EXPECT_GT(beside.count("gpu0.link.credit_waits"), 0U);
  EXPECT_LE(beside.result.cycles, alone + alone / 50);
}

TEST(SharedInput, CarriesNoMoreThanItsBandwidth) {
  // All other GPUs store to GPU 0.
  constexpr std::uint64_t kRows = 32;
  constexpr unsigned kGroups = 4;
  const SystemSpec system = test_system({"link.credits=4096", "gpu.cu.store_buffer=512"});
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(std::uint64_t{4} << 20, Placement::Distribute);
  script->launch(groups_of(4 * kGroups, 64, Split::RoundRobin), [=](const Script&, const Wave& wave) {
    return wave.group_x % 4 == 0 ? store_rows(base, 0, 0) : store_rows(base + wave.group_x * 65536, kRows, 0);
  });
  const Outcome run = simulate(system, {script});
  const std::uint64_t bytes = 3 * kGroups * kRows * 16 * (64 + system.link.header);
  EXPECT_GE(run.count("gpu0.link.received_bytes"), bytes);
  EXPECT_GE(run.result.cycles, bytes / 32);
}

TEST(SharedOutput, CarriesRequestsAndRepliesWithinItsBandwidth) {
  // GPU 1 stores to GPU 0, which reads from GPU 1: data leaves GPU 1 in both classes.
  constexpr std::uint64_t kRows = 64;
  const SystemSpec system =
      test_system({"gpus=2", "link.credits=4096", "gpu.cu.store_buffer=512", "gpu.l1v.mshrs=512"});
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(std::uint64_t{4} << 20, Placement::Distribute);
  const VirtAddr upper = base + (std::uint64_t{2} << 20);
  script->launch(groups_of(16, 64, Split::RoundRobin), [=](const Script&, const Wave& wave) {
    return wave.group_x % 2 == 0 ? load_lines(upper + wave.group_x * 65536, kRows * 16, false, 0)
                                 : store_rows(base + wave.group_x * 65536, kRows, 0);
  });
  const Outcome run = simulate(system, {script});
  const std::uint64_t bytes = run.count("gpu1.link.request_bytes") + run.count("gpu1.link.reply_bytes");
  EXPECT_GE(bytes, 16 * kRows * 16 * 80);
  EXPECT_GE(run.result.cycles, bytes / 32);
}

}  // namespace
}  // namespace nearfar::link_test
