// Copies and work of the host between launches: to the cycle where nothing else runs, under the oracles where caches
// hold what is copied, the same on any number of threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/error.h"
#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::copy_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// One channel of memory that takes a line a cycle, and reads it in 100.
std::vector<std::string> plain_memory(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"gpu.dram.channels=1", "gpu.dram.channel_bandwidth=64GB/s", "gpu.dram.latency=100"});
  return more;
}
constexpr Cycle kMemory = 100;

Cycle crossing(const SystemSpec& spec, std::uint64_t bytes) {
  const std::uint64_t b = spec.link.bandwidth.bytes_per_second;
  return (bytes * spec.gpu.clock.hertz + b - 1) / b + spec.link.latency;
}

struct Program {
  std::shared_ptr<Script> script = std::make_shared<Script>();
  /// Page g on GPU g.
  VirtAddr pages = script->buffer(4 * kPageBytes, Placement::Interleave);

  VirtAddr page(unsigned gpu) const { return pages + gpu * kPageBytes; }
  /// One wavefront on GPU 0 reads, or writes, a word of every line of a page.
  void touch(VirtAddr page, bool writes) {
    script->launch(groups_of(1), [=](const Script&, const Wave&) { return words_of(page, writes); });
  }
  static Stream words_of(VirtAddr page, bool writes) {
    const auto lines = [page](unsigned lane) { return page + std::uint64_t{lane} * 64; };
    if (writes) {
      co_yield store(4, lines);
    } else {
      co_yield load(4, lines);
      co_yield wait(0);
    }
  }
};

TEST(Copy, InCostsTheLinkThereAndTheWordBack) {
  const SystemSpec spec = test_system(plain_memory({"host.dma.setup=77"}));
  Program program;
  program.script->add_copy({.from = {}, .to = program.page(0), .bytes = kPageBytes});
  const Outcome run = simulate(spec, {program.script});
  EXPECT_EQ(run.result.cycles, 77 + crossing(spec, spec.link.header + kPageBytes) + crossing(spec, spec.link.header));
  EXPECT_EQ(run.count("copies.count"), 1U);
  EXPECT_EQ(run.count("copies.bytes"), kPageBytes);
  EXPECT_EQ(run.count("copies.chunks"), 1U);
  EXPECT_EQ(run.count("copies.cycles"), run.result.cycles);
  EXPECT_EQ(run.count("gpu0.dram.writes"), 64U);
}

TEST(Copy, OutCostsTheWordThereTheMemoryAndTheLinkBack) {
  const SystemSpec spec = test_system(plain_memory());
  Program program;
  program.script->add_copy({.from = program.page(2), .to = {}, .bytes = 1024});
  const Outcome run = simulate(spec, {program.script});
  EXPECT_EQ(run.result.cycles,
            crossing(spec, spec.link.header) + kMemory + 1024 / 64 + crossing(spec, spec.link.header + 1024));
  EXPECT_EQ(run.count("gpu2.dram.reads"), 16U);
}

TEST(Copy, BetweenGpusGoesStraight) {
  const SystemSpec spec = test_system(plain_memory());
  Program program;
  program.script->add_copy({.from = program.page(1), .to = program.page(3), .bytes = kPageBytes});
  const Outcome run = simulate(spec, {program.script});
  EXPECT_EQ(run.result.cycles, crossing(spec, spec.link.header) + kMemory + 64 +
                                   crossing(spec, spec.link.header + kPageBytes) + crossing(spec, spec.link.header));
  EXPECT_EQ(run.count("gpu1.dram.reads"), 64U);
  EXPECT_EQ(run.count("gpu3.dram.writes"), 64U);
}

TEST(Copy, FillsTheLink) {
  const SystemSpec spec = test_system();
  Program program;
  program.script->add_copy_in(program.pages);
  const Outcome run = simulate(spec, {program.script});
  EXPECT_EQ(run.result.cycles, crossing(spec, 4 * (spec.link.header + kPageBytes)) + crossing(spec, spec.link.header));
}

TEST(Copy, ChunksAndHowManyAreUnderWayAreBounded) {
  const SystemSpec spec = test_system({"host.dma.chunk=1KiB", "host.dma.outstanding=1"});
  Program program;
  program.script->add_copy({.from = {}, .to = program.page(0), .bytes = kPageBytes - 10});
  const Outcome run = simulate(spec, {program.script});
  EXPECT_EQ(run.count("copies.chunks"), 4U);
  EXPECT_EQ(run.result.cycles, 4 * (crossing(spec, spec.link.header + 1024) + crossing(spec, spec.link.header)));
}

TEST(Copy, EndsAtTheEndOfAFrameOfEitherSide) {
  Program program;
  program.script->add_copy({.from = program.pages + 1024, .to = program.page(2), .bytes = kPageBytes});
  const Outcome run = simulate(test_system(), {program.script});
  EXPECT_EQ(run.count("copies.chunks"), 2U);
  EXPECT_EQ(run.count("gpu0.dram.reads"), 48U);
  EXPECT_EQ(run.count("gpu1.dram.reads"), 16U);
  EXPECT_EQ(run.count("gpu2.dram.writes"), 64U);
}

TEST(Copy, GoesToEveryGpusOwnPage) {
  Program program;
  const VirtAddr table = program.script->buffer(256, Placement::Private);
  program.script->add_copy_in(table);
  program.touch(table, false);
  const Outcome run = simulate(test_system(), {program.script});
  EXPECT_EQ(run.count("copies.count"), 1U);
  EXPECT_EQ(run.count("copies.bytes"), 4 * 256U);
}

TEST(Copy, OfPagesOfTheHostUsesNoLink) {
  Program program;
  const VirtAddr data = program.script->buffer(kPageBytes, Placement::Host);
  program.script->add_copy_in(data);
  program.script->add_copy_out(data);
  const Outcome run = simulate(test_system(), {program.script});
  EXPECT_EQ(run.count("link.packets"), 0U);
  EXPECT_EQ(run.count("host.dram.writes"), 64U);
  EXPECT_EQ(run.count("host.dram.reads"), 64U);
}

TEST(Copy, OfManyChunksWithinTheHostTakesTurns) {
  Program program;
  const VirtAddr data = program.script->buffer(16 << 20, Placement::Host);
  program.script->add_copy_in(data);
  const Outcome run = simulate(test_system({"host.dma.chunk=128B", "host.dma.outstanding=4"}), {program.script}, false);
  EXPECT_EQ(run.count("copies.chunks"), (16U << 20) / 128);
  // Chunks are written no faster than the host's memory takes them: 16 MiB at 76.8 GB/s, but for what waits in its
  // queues at the end.
  EXPECT_NEAR(static_cast<double>(run.result.cycles), (16U << 20) / 76.8, 500);
}

/// A chunk that finds no room in the host's memory is told of it: slow memory takes longer, and no more events.
TEST(Copy, IntoSlowMemoryWaitsWithoutEvents) {
  const auto events_with = [](const char* bandwidth) {
    Program program;
    const VirtAddr data = program.script->buffer(1 << 20, Placement::Host);
    program.script->add_copy_in(data);
    const SystemSpec spec = test_system({"host.dma.outstanding=64", "host.dram.model=fixed", "host.dram.channels=1",
                                         std::string("host.dram.channel_bandwidth=") + bandwidth});
    return simulate(spec, {program.script}).result.events;
  };
  const std::uint64_t fast = events_with("10GB/s");
  EXPECT_GT(fast, (1U << 20) / kPageBytes);
  EXPECT_LE(events_with("10MB/s"), fast + fast / 10);
}

/// A kernel's loads wait for memory when a copy overwrites their lines: they must not bring the old ones into the
/// cache.
TEST(Copy, WaitsForLinesThatAreUnderWay) {
  Program program;
  program.script->add_copy({.from = {}, .to = program.page(0), .bytes = kPageBytes, .wait = false});
  program.touch(program.page(0), false);
  program.script->add_sync();
  program.touch(program.page(0), false);
  const SystemSpec spec = test_system({"gpu.dram.model=fixed", "gpu.dram.latency=20000", "host.dma.setup=3000"});
  const Outcome run = simulate(spec, {program.script});
  EXPECT_EQ(run.count("gpu0.dram.reads"), 2 * 64U) << "the second kernel reads what was copied";
}

/// A kernel has written lines that a copy overwrites before the kernel ends: its flush must not bring the old ones
/// back.
TEST(Copy, OverwritesDirtyLines) {
  Program program;
  program.script->add_copy({.from = {}, .to = program.page(0), .bytes = 1024, .wait = false});
  program.script->launch(groups_of(1), [page = program.page(0)](const Script&, const Wave&) {
    return [](VirtAddr base) -> Stream {
      co_yield store(16, [base](unsigned lane) { return base + std::uint64_t{lane} * 64; });
      co_yield salu(20'000);
    }(page);
  });
  program.script->add_sync();
  program.touch(program.page(0), false);
  const Outcome run = simulate(test_system({"host.dma.setup=8000"}), {program.script});
  EXPECT_EQ(run.count("gpu0.l2.flushed_lines"), 64U - 16) << "the others are still dirty at the end of the kernel";
}

/// What a kernel wrote and the cache still holds is what is copied. (A read of a line that is dirty elsewhere would be
/// the oracle's complaint.)
TEST(Copy, TakesDirtyLinesAlong) {
  Program program;
  program.touch(program.page(1), true);
  program.script->add_copy({.from = program.page(1), .to = program.page(2), .bytes = kPageBytes});
  program.touch(program.page(2), false);
  const Outcome run = simulate(test_system({"boundary.write_back=false"}), {program.script});
  EXPECT_EQ(run.count("gpu1.l2.write_backs"), 64U);
  EXPECT_EQ(run.count("gpu2.l2.reads"), 64U);
}

TEST(Copy, DropsWhatTheDestinationHolds) {
  for (const bool dirty : {false, true}) {
    Program program;
    program.touch(program.page(1), dirty);
    program.script->add_copy({.from = {}, .to = program.page(1), .bytes = kPageBytes});
    program.touch(program.page(1), false);
    const Outcome run = simulate(test_system({"boundary.write_back=false"}), {program.script});
    EXPECT_EQ(run.count("gpu1.l2.read_hits"), 0U) << dirty;
    EXPECT_EQ(run.count("gpu1.l2.write_backs"), 0U) << "what is overwritten need not be written back";
  }
}

TEST(Copy, ThatNobodyWaitsForGoesOnBesideTheHost) {
  const SystemSpec spec = test_system();
  const Cycle copy = crossing(spec, spec.link.header + kPageBytes) + crossing(spec, spec.link.header);
  for (const Cycle phase : {Cycle{100}, Cycle{100'000}}) {
    Program program;
    program.script->add_copy({.from = {}, .to = program.page(0), .bytes = kPageBytes, .wait = false});
    program.script->add_host_phase(phase);
    program.script->add_sync();
    program.script->add_host_phase(10);
    const Outcome run = simulate(spec, {program.script});
    EXPECT_EQ(run.result.cycles, std::max(copy, phase) + 10);
    EXPECT_EQ(run.count("host_phases.cycles"), phase + 10);
    EXPECT_EQ(run.count("host_phases.count"), 2U);
  }
}

TEST(Copy, EndsBeforeItsWorkloadDoes) {
  const SystemSpec spec = test_system();
  Program program;
  program.script->add_copy({.from = {}, .to = program.page(0), .bytes = kPageBytes, .wait = false});
  EXPECT_EQ(simulate(spec, {program.script}).result.cycles,
            crossing(spec, spec.link.header + kPageBytes) + crossing(spec, spec.link.header));
}

TEST(Copy, NeedsPagesThatStayAndWholeLines) {
  Program program;
  program.script->add_copy_in(program.pages);
  EXPECT_THAT([&] { simulate(test_system({"placement.policy=on-touch"}, "mmu-4gpu"), {program.script}); },
              ThrowsMessage<InputError>(HasSubstr("placement.policy=pinned")));
  Program odd;
  odd.script->add_copy({.from = odd.pages + 4, .to = {}, .bytes = 64});
  EXPECT_THAT([&] { simulate(test_system(), {odd.script}); }, ThrowsMessage<InputError>(HasSubstr("gpu.line")));
}

std::shared_ptr<const Workload> fir(std::uint64_t copies) {
  return make_workload("FIR", SizeClass::Small, std::vector<ParameterSetting>{{"n", 1 << 14}, {"copies", copies}}, 1);
}

TEST(Copy, WorkloadCopiesItsInputAndItsOutput) {
  const Outcome plain = simulate(test_system(), {fir(0)});
  const Outcome copied = simulate(test_system(), {fir(1)});
  EXPECT_EQ(plain.count("copies.count"), 0U);
  EXPECT_EQ(copied.count("copies.count"), 4U);
  EXPECT_EQ(copied.count("copies.bytes"), 2 * 4 * (1U << 14) + 4 * 64 + 64);
  EXPECT_GT(copied.result.cycles, plain.result.cycles + copied.count("copies.cycles") / 2);
  EXPECT_EQ(copied.result.accesses, plain.result.accesses);
}

void expect_same(const Outcome& a, const Outcome& b) {
  ASSERT_EQ(a.result.statistics.size(), b.result.statistics.size());
  for (std::size_t i = 0; i < a.result.statistics.size(); ++i) {
    ASSERT_EQ(a.result.statistics[i].name, b.result.statistics[i].name);
    ASSERT_EQ(a.result.statistics[i].count, b.result.statistics[i].count) << a.result.statistics[i].name;
  }
}

TEST(CopyThreads, GiveTheSameStatistics) {
  for (const auto& [name, more] : std::vector<std::pair<std::string, std::string>>{
           {"ideal-4gpu", "boundary.write_back=false"}, {"mmu-4gpu", "placement.policy=pinned"}}) {
    const SystemSpec system = test_system({more, "host.dma.chunk=512B", "host.dma.outstanding=3"}, name);
    const Outcome one = simulate(system, {fir(1)}, true, 1);
    for (const unsigned threads : {2U, 4U}) {
      expect_same(one, simulate(system, {fir(1)}, true, threads));
      expect_same(one, simulate(system, {fir(1)}, false, threads));
    }
    expect_same(one, simulate(system, {fir(1)}, true, 1, 17));
  }
}

/// One that ends early copies again and again until the other has ended.
TEST(CopyThreads, AndSeveralApplicationsGiveTheSameStatistics) {
  const auto longer = make_workload("MT", SizeClass::Small, std::vector<ParameterSetting>{{"width", 1024}}, 1);
  const SystemSpec system = test_system({"gpus=2"});
  const Outcome one = simulate(system, {fir(1), longer}, true, 1);
  EXPECT_GT(one.count("copies.count"), 4U);
  expect_same(one, simulate(system, {fir(1), longer}, false, 3));
}

}  // namespace
}  // namespace nearfar::copy_test
