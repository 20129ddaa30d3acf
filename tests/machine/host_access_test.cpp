// The host's core at work on a program's data between launches: to the cycle where nothing else runs, under the oracle
// that it sees what kernels wrote and kernels see what it wrote, wherever the data lies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/error.h"
#include "machine/script.h"

namespace nearfar::host_access_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr Cycle kCore = 12;

/// Host memory that takes a line a cycle, and reads it in 40; the last-level cache takes 10 + 20.
std::vector<std::string> plain(std::vector<std::string> more = {}) {
  more.insert(more.end(), {"host.dram.model=fixed", "host.dram.channels=1", "host.dram.channel_bandwidth=64GB/s",
                           "host.dram.latency=40", "gpu.dram.model=fixed", "gpu.dram.channels=1",
                           "gpu.dram.channel_bandwidth=64GB/s", "gpu.dram.latency=100"});
  return more;
}

Cycle crossing(const SystemSpec& spec, std::uint64_t bytes) {
  const std::uint64_t b = spec.link.bandwidth.bytes_per_second;
  return (bytes * spec.gpu.clock.hertz + b - 1) / b + spec.link.latency;
}

Stream words_of(VirtAddr page, bool writes) {
  const auto lines = [page](unsigned lane) { return page + std::uint64_t{lane} * 64; };
  if (writes) {
    co_yield store(4, lines);
  } else {
    co_yield load(4, lines);
    co_yield wait(0);
  }
}

struct Program {
  std::shared_ptr<Script> script = std::make_shared<Script>();

  VirtAddr buffer(std::uint64_t bytes, Placement placement) const { return script->buffer(bytes, placement); }
  void host(VirtAddr first, std::uint64_t bytes, bool writes) const { script->add_host_access({first, bytes, writes}); }
  /// A wavefront on every GPU reads, or one on GPU 0 writes, a word of every line of a page.
  void kernel(VirtAddr page, bool writes) const {
    script->launch(groups_of(writes ? 1 : 4, 64, Split::RoundRobin),
                   [=](const Script&, const Wave&) { return words_of(page, writes); });
  }
  Outcome run(const SystemSpec& system, unsigned threads = 1) const {
    return simulate(system, {script}, true, threads);
  }
};

TEST(HostAccess, OfALineOfTheHostTakesItsCachesAndItsMemory) {
  Program program;
  program.host(program.buffer(kPageBytes, Placement::Host), 64, false);
  const Outcome run = program.run(test_system(plain()));
  EXPECT_EQ(run.result.cycles, kCore + 10 + 40 + 1);
  EXPECT_EQ(run.count("host.cpu.lines_read"), 1U);
  EXPECT_EQ(run.count("host.cpu.accesses"), 1U);
  EXPECT_EQ(run.count("host.cpu.cycles"), run.result.cycles);
  EXPECT_EQ(run.count("host.cpu.line_cycles"), run.result.cycles);
  EXPECT_EQ(run.count("host.cpu.remote_lines"), 0U);
  EXPECT_EQ(run.count("run.host"), run.result.cycles);
}

TEST(HostAccess, OfALineOfAGpuCrossesTheLinkTwice) {
  const SystemSpec spec = test_system(plain());
  Program program;
  program.host(program.buffer(4 * kPageBytes, Placement::Interleave) + 2 * kPageBytes, 64, false);
  const Outcome run = program.run(spec);
  EXPECT_EQ(run.result.cycles, kCore + crossing(spec, spec.link.header) + spec.gpu.l2.tag_latency + 100 + 1 +
                                   crossing(spec, spec.link.reply_header + 64));
  EXPECT_EQ(run.count("gpu2.dram.reads"), 1U);
  EXPECT_EQ(run.count("host.cpu.remote_lines"), 1U);
}

TEST(HostAccess, TakesLinesInOrderAndWholeRanges) {
  Program program;
  const VirtAddr buffer = program.buffer(4 * kPageBytes, Placement::Host);
  program.host(buffer + 100, 2 * kPageBytes, true);
  program.host(buffer + 100, 2 * kPageBytes, false);
  const Outcome run = program.run(test_system());
  EXPECT_EQ(run.count("host.cpu.lines_written"), 129U) << "from the middle of a line to the middle of another";
  EXPECT_EQ(run.count("host.cpu.lines_read"), 129U);
  EXPECT_EQ(run.count("host.llc.read_hits"), 129U);
}

/// With one line at a time each pays its latency; with many, memory's rate is all.
TEST(HostAccess, BoundsTheLinesUnderWay) {
  const auto cycles = [](const char* outstanding) {
    Program program;
    program.host(program.buffer(kPageBytes, Placement::Host), kPageBytes, false);
    return program.run(test_system(plain({outstanding}))).result.cycles;
  };
  EXPECT_EQ(cycles("host.cpu.outstanding=1"), 64 * (kCore + 10 + 40 + 1));
  // The ports of four banks take them in 16 cycles.
  EXPECT_EQ(cycles("host.cpu.outstanding=64"), kCore + 15 + 10 + 40 + 64);
  EXPECT_LT(cycles("host.cpu.outstanding=32"), cycles("host.cpu.outstanding=16"));
}

/// Each side writes, and the other reads: caches on the way have to give way.
void check_both_ways(const SystemSpec& system, Placement placement) {
  Program program;
  const VirtAddr buffer = program.buffer(8 * kPageBytes, placement);
  for (int round = 0; round < 2; ++round) {
    program.host(buffer, 8 * kPageBytes, true);
    program.kernel(buffer, false);
    program.kernel(buffer + kPageBytes, false);
    program.kernel(buffer + kPageBytes, true);
    program.kernel(buffer + 3 * kPageBytes, true);
    program.host(buffer, 8 * kPageBytes, false);
    program.kernel(buffer + 3 * kPageBytes, false);
  }
  const Outcome run = program.run(system);
  EXPECT_EQ(run.count("host.cpu.lines_read"), 2 * 8 * 64U);
  EXPECT_EQ(run.count("sync.count"), 2U);
  EXPECT_GT(run.count("sync.cycles"), 0U);
}

TEST(HostAccess, SeesWhatKernelsWroteAndTheyWhatItWrote) {
  for (const Placement placement : {Placement::Host, Placement::Interleave, Placement::Distribute}) {
    check_both_ways(test_system(), placement);
    check_both_ways(test_system({"remote_cache=l1l2"}), placement);
    check_both_ways(test_system({"remote_cache=l1l2", "remote_host_lines=true"}), placement);
    check_both_ways(test_system({"remote_cache=l1l2", "coherence=directory"}), placement);
    check_both_ways(test_system({"link.format=pcie4"}), placement);
    check_both_ways(test_system({"link.format=nvlink"}), placement);
  }
}

TEST(HostAccess, ToAPageOfEveryGpuWritesAllOfThem) {
  Program program;
  const VirtAddr table = program.buffer(256, Placement::Private);
  program.host(table, 256, true);
  program.script->launch(groups_of(4, 64, Split::RoundRobin), [=](const Script&, const Wave&) -> Stream {
    return [](VirtAddr at) -> Stream {
      co_yield load(4, [at](unsigned lane) { return at + std::uint64_t{lane} * 4; });
      co_yield wait(0);
    }(table);
  });
  program.host(table, 256, false);
  const Outcome run = program.run(test_system());
  EXPECT_EQ(run.count("host.cpu.lines_written"), 4 * 4U);
  EXPECT_EQ(run.count("host.cpu.lines_read"), 4U);
}

TEST(HostAccess, IsTheSameOnAnyNumberOfThreads) {
  const auto run = [](unsigned threads) {
    Program program;
    const VirtAddr buffer = program.buffer(16 * kPageBytes, Placement::Interleave);
    program.host(buffer, 16 * kPageBytes, true);
    for (unsigned page = 0; page < 16; ++page) program.kernel(buffer + page * kPageBytes, page % 2 == 0);
    program.host(buffer, 16 * kPageBytes, false);
    return program.run(test_system(), threads);
  };
  const Outcome one = run(1);
  const Outcome four = run(4);
  EXPECT_EQ(one.result.cycles, four.result.cycles);
  ASSERT_EQ(one.result.statistics.size(), four.result.statistics.size());
  for (const StatValue& value : one.result.statistics) EXPECT_EQ(value.count, four.count(value.name)) << value.name;
}

TEST(HostAccess, NeedsPagesThatStay) {
  Program program;
  program.host(program.buffer(kPageBytes, Placement::Host), 64, false);
  EXPECT_THAT([&] { program.run(test_system({}, "mmu-4gpu")); },
              ThrowsMessage<InputError>(HasSubstr("placement.policy=pinned")));
}

}  // namespace
}  // namespace nearfar::host_access_test
