// Machines with a unified memory hierarchy: unloaded latencies to the cycle, where blocks come from, what programs see
// under every choice of the protocol, and that any number of threads gives the same bits.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "coherence/umh/hierarchy_map.h"
#include "config/error.h"
#include "machine/script.h"

namespace nearfar::umh_test {
namespace {

using ::testing::HasSubstr;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::uint32_t kGroups = 8;
#else
constexpr std::uint32_t kGroups = 32;
#endif

auto lane0(VirtAddr at) {
  return [at](unsigned lane) { return lane == 0 ? at : kIdle; };
}

/// Lane 0 of a wavefront reads one address after another.
Stream read_all(std::vector<VirtAddr> addresses, unsigned first_wait) {
  for (; first_wait != 0; --first_wait) co_yield salu(1000);
  for (const VirtAddr at : addresses) {
    co_yield load(4, lane0(at));
    co_yield wait(0);
  }
}

class Latency : public ::testing::Test {
 protected:
  /// Workgroup w, on GPU w mod GPUs, reads its addresses when all before it have.
  Outcome read(const std::string& system, const std::vector<std::vector<std::uint64_t>>& offsets,
               const std::vector<std::string>& overrides = {}) {
    auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(1 << 20, Placement::Host);
    script->launch(groups_of(static_cast<std::uint32_t>(offsets.size())), [=](const Script&, const Wave& wave) {
      std::vector<VirtAddr> addresses;
      for (const std::uint64_t offset : offsets[wave.group_x]) addresses.push_back(base + offset);
      return read_all(addresses, wave.group_x * 4);
    });
    return simulate(test_system(overrides, system), {script});
  }
  static std::uint64_t cycles(const Outcome& run) { return run.count("latency.load.total_cycles"); }
};

TEST_F(Latency, OfAMissInTheStackIsTheWayToTheHostAndABlock) {
  EXPECT_EQ(cycles(read("umh-1gpu", {{0}})), 497U);
  EXPECT_EQ(cycles(read("umh-1gpu-pcie", {{0}})), 981U);
}

TEST_F(Latency, OfAHitInTheStackIsARowCycle) { EXPECT_EQ(cycles(read("umh-1gpu", {{0}, {64}})), 497U + 122U); }

TEST_F(Latency, OfAHitInTheL2IsItsLookup) { EXPECT_EQ(cycles(read("umh-1gpu", {{0}, {0}})), 497U + 85U); }

TEST_F(Latency, OfAHitInTheL1IsItsLookup) {
  const Cycle once = read("umh-1gpu", {{0}}).result.cycles;
  EXPECT_EQ(read("umh-1gpu", {{0, 4}}).result.cycles - once, 22U);
}

/// 492 and 1136 cycles, and one more in which the peer's L2 looks up the line of the block that it holds.
TEST_F(Latency, OfABlockThatAPeerOwnsIsThreeLinksAndNoReadOfTheHost) {
  const Outcome nvlink = read("umh-2gpu", {{0}, {0}});
  EXPECT_EQ(cycles(nvlink), 497U + 492U + 1U);
  EXPECT_EQ(nvlink.count("host.umh.hmd.peer_transfers"), 1U);
  EXPECT_EQ(nvlink.count("host.umh.memory.reads"), 1U);
  EXPECT_EQ(cycles(read("umh-2gpu-pcie", {{0}, {0}})), 981U + 1136U + 1U);
}

const std::vector<std::string> kWriteBack = {"umh.l1_write_policy=write_back"};

TEST_F(Latency, OfWriteBackL1sIsThatOfTheOthers) {
  const Cycle miss = 497;
  EXPECT_EQ(cycles(read("umh-1gpu", {{0}}, kWriteBack)), miss);
  EXPECT_EQ(cycles(read("umh-1gpu-pcie", {{0}}, kWriteBack)), 981U);
  EXPECT_EQ(cycles(read("umh-1gpu", {{0}, {64}}, kWriteBack)), miss + 122U);
  const Cycle once = read("umh-1gpu", {{0}}, kWriteBack).result.cycles;
  EXPECT_EQ(read("umh-1gpu", {{0, 4}}, kWriteBack).result.cycles - once, 22U);
}

/// The first reader has the only copy, and its L1 is asked; behind the second, the L2 answers itself.
TEST_F(Latency, OfALineThatAnotherL1OwnsIsALookupMore) {
  const std::uint64_t two = 497U + 85U + 22U;
  EXPECT_EQ(cycles(read("umh-1gpu", {{0}, {0}}, kWriteBack)), two);
  EXPECT_EQ(cycles(read("umh-1gpu", {{0}, {0}, {0}}, kWriteBack)), two + 85U);
  EXPECT_EQ(cycles(read("umh-2gpu", {{0}, {0}}, kWriteBack)), 497U + 492U + 1U + 22U);
}

/// What a wavefront of a scenario does, one thing after another.
struct Act {
  enum class Kind : std::uint8_t { Load, NStore, Atomic, ByteStore };
  Kind kind = Kind::Load;
  std::uint64_t offset = 0;
};
Act load_of(std::uint64_t offset) { return {Act::Kind::Load, offset}; }
Act nstore_of(std::uint64_t offset) { return {Act::Kind::NStore, offset}; }
Act store_of(std::uint64_t offset) { return {Act::Kind::Atomic, offset}; }

Stream perform(std::vector<Act> acts, VirtAddr base, unsigned first_wait) {
  for (; first_wait != 0; --first_wait) co_yield salu(1000);
  for (const Act& act : acts) {
    const auto at = lane0(base + act.offset);
    switch (act.kind) {
      case Act::Kind::Load: co_yield load(4, at); break;
      case Act::Kind::NStore: co_yield store(4, at); break;
      case Act::Kind::Atomic: co_yield atomic(4, at); break;
      case Act::Kind::ByteStore: co_yield store(1, at); break;
    }
    co_yield wait(0);
    co_yield salu(1000);  // nobody waits for stores
  }
}

/// The scenarios of two GPUs and a line as messages at the home, which are the same with L1s that write through and
/// with L1s that write back.
class Scenario : public ::testing::TestWithParam<const char*> {
 protected:
  using Acts = std::vector<std::vector<Act>>;

  /// Workgroup w, on GPU w mod GPUs, does its acts when all before it have; launches follow one another. Then the host
  /// accesses the line.
  Outcome run(const std::string& system, const std::vector<Acts>& launches, int host = kNothing) {
    auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(1 << 20, Placement::Host, {.writes = true});
    for (const Acts& launch : launches) {
      script->launch(groups_of(static_cast<std::uint32_t>(launch.size())), [=](const Script&, const Wave& wave) {
        return perform(launch[wave.group_x], base, wave.group_x * 8);
      });
    }
    if (host != kNothing) script->add_host_access({base, 64, host == kStore});
    return simulate(test_system({GetParam(), "umh.o_on_read=keep", "umh.writeback=dirty_lines"}, system), {script});
  }
  static void expect_home(const Outcome& run, std::uint64_t reads, std::uint64_t writes, std::uint64_t probes,
                          std::uint64_t merges) {
    EXPECT_EQ(run.count("host.umh.hmd.reads"), reads);
    EXPECT_EQ(run.count("host.umh.hmd.writes"), writes);
    EXPECT_EQ(run.count("host.umh.hmd.probes"), probes);
    EXPECT_EQ(run.count("host.umh.hmd.merges"), merges);
  }
  static constexpr int kNothing = 0;
  static constexpr int kLoad = 1;
  static constexpr int kStore = 2;
};

TEST_P(Scenario, Fig5aAnNStoreBringsTheBlock) {
  const Outcome run = this->run("umh-2gpu", {{{nstore_of(0)}}});
  expect_home(run, 1, 0, 0, 0);
  EXPECT_EQ(run.count("gpus.umh.net.bytes.request"), 8U);
  EXPECT_EQ(run.count("host.umh.net.bytes.data"), 4096U + 8U);
  EXPECT_EQ(run.count("net.bytes.coherence"), 0U);
}

TEST_P(Scenario, Fig5bTheOwnerSuppliesASecondNStore) {
  const Outcome run = this->run("umh-2gpu", {{{nstore_of(0)}, {nstore_of(4)}}});
  expect_home(run, 2, 0, 1, 0);
  EXPECT_EQ(run.count("host.umh.hmd.peer_transfers"), 1U);
  EXPECT_EQ(run.count("host.umh.memory.reads"), 1U);
  // Listen and FwdRead of the home, and DirUpdate of the owner.
  EXPECT_EQ(run.count("net.bytes.coherence"), 3 * 8U);
}

TEST_P(Scenario, Fig5cAStoreOfTheHostTakesBothCopies) {
  const Outcome run = this->run("umh-2gpu", {{{nstore_of(0)}, {nstore_of(4)}}}, kStore);
  expect_home(run, 2, 1, 1 + 2, 2);
  EXPECT_EQ(run.count("host.umh.hmd.merged_lines"), 2U);
}

TEST_P(Scenario, ALoadOfTheHostBringsOneBlockOfEachGpu) {
  const Outcome run = this->run("umh-4gpu", {{{nstore_of(0)}, {nstore_of(4)}, {nstore_of(8)}, {nstore_of(12)}}}, kLoad);
  EXPECT_EQ(run.count("host.umh.hmd.merges"), 4U);
  EXPECT_EQ(run.count("sync.home_bytes"), 4U * 64);
  EXPECT_EQ(run.count("sync.first_home_bytes"), 4U * 64);
  EXPECT_EQ(run.count("sync.first_bound_bytes"), 4U * 4096);
}

TEST_P(Scenario, AStoreToTheOnlyCopyIsSilent) {
  expect_home(run("umh-2gpu", {{{load_of(0), store_of(0)}}}), 1, 0, 0, 0);
}

TEST_P(Scenario, AChangedCopyAnswersAReader) {
  const Outcome run = this->run("umh-2gpu", {{{load_of(0), store_of(0)}, {load_of(0)}}});
  expect_home(run, 2, 0, 1, 1);
  EXPECT_EQ(run.count("host.umh.hmd.peer_transfers"), 1U);
}

TEST_P(Scenario, WhatAGpuHasAloneItsUnitsStoreTo) {
  expect_home(run("umh-1gpu", {{{load_of(0)}, {load_of(0), store_of(0)}}}), 1, 0, 0, 0);
  expect_home(run("umh-1gpu", {{{nstore_of(0)}, {nstore_of(4)}}}), 1, 0, 0, 0);
  expect_home(run("umh-1gpu", {{{nstore_of(0)}, {nstore_of(4)}, {store_of(8)}}}), 1, 0, 0, 0);
}

TEST_P(Scenario, AtomicsOfTwoGpusTakeTheLineFromEachOther) {
  const Outcome run = this->run("umh-2gpu", {{{store_of(0)}, {store_of(0)}}});
  expect_home(run, 0, 2, 1, 1);
  EXPECT_EQ(run.count("host.umh.hmd.merged_lines"), 1U);
}

TEST_P(Scenario, AStoreToPartOfAGranuleIsCoherent) {
  const Outcome run = this->run("umh-2gpu", {{{Act{Act::Kind::ByteStore, 1}}}});
  expect_home(run, 0, 1, 0, 0);
  EXPECT_EQ(run.count("gpus.umh.l1.subgranule_stores"), 1U);
  EXPECT_EQ(run.count("gpus.umh.l1.nstores"), 0U);
}

TEST_P(Scenario, ABoundaryPublishesWhatOthersMayHold) {
  const Outcome both = run("umh-2gpu", {{{nstore_of(0)}, {nstore_of(4)}}, {{load_of(8192)}}});
  EXPECT_EQ(both.count("host.umh.hmd.publishes"), 2U);
  EXPECT_EQ(both.count("host.umh.hmd.stale_puts"), 1U);
  EXPECT_EQ(both.count("host.umh.hmd.merges"), 2U);
  const Outcome one = run("umh-2gpu", {{{nstore_of(0)}}, {{load_of(8192)}}});
  EXPECT_EQ(one.count("host.umh.hmd.publishes"), 0U);
}

TEST_P(Scenario, AFinalFlushSendsEveryChangedBlockHome) {
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(1 << 20, Placement::Host, {.writes = true});
  script->launch(groups_of(2), [=](const Script&, const Wave& wave) {
    return perform({nstore_of(wave.group_x * 8192), nstore_of(wave.group_x * 8192 + 128)}, base, 0);
  });
  script->add_host_access({base, 64, false});
  for (const auto& [writeback, bytes] : {std::pair("dirty_lines", 4U * 64), std::pair("whole_block", 2U * 4096)}) {
    const std::string policy = std::string("umh.writeback=") + writeback;
    const Outcome run = simulate(test_system({GetParam(), "umh.sync=final_flush", policy}, "umh-2gpu"), {script});
    EXPECT_EQ(run.count("gpus.umh.smd.flushed_home_bytes"), bytes);
    EXPECT_EQ(run.count("sync.home_bytes"), bytes);
    EXPECT_EQ(run.count("sync.first_bound_bytes"), 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(Umh, Scenario,
                         ::testing::Values("umh.l1_write_policy=write_through", "umh.l1_write_policy=write_back"),
                         [](const auto& of) {
                           return std::string(of.param).ends_with("back") ? "WriteBack" : "WriteThrough";
                         });

/// Where an unchanged copy is put, its home does not ask it any more.
TEST(Umh, NoticesOfCleanEvictionsKeepDirectoriesRight) {
  const auto read_two_blocks = [](const char* notices) {
    auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(1 << 22, Placement::Host);
    script->launch(groups_of(2), [=](const Script&, const Wave& wave) {
      // GPU 0 reads two blocks of one set; GPU 1 then the first.
      std::vector<VirtAddr> addresses{base};
      if (wave.group_x == 0) addresses.push_back(base + (1 << 20));
      return read_all(addresses, wave.group_x * 4);
    });
    return simulate(test_system({"gpu.dram.capacity=1MiB", notices}, "umh-2gpu"), {script});
  };
  const Outcome silent = read_two_blocks("umh.clean_eviction_notice=false");
  EXPECT_EQ(silent.count("host.umh.hmd.puts"), 0U);
  EXPECT_EQ(silent.count("host.umh.hmd.probes"), 1U);
  const Outcome told = read_two_blocks("umh.clean_eviction_notice=true");
  EXPECT_EQ(told.count("host.umh.hmd.puts"), 1U);
  EXPECT_EQ(told.count("host.umh.hmd.probes"), 0U);
}

/// What a wavefront does in the programs below: items of its workgroup lie `groups` apart.
struct Work {
  VirtAddr from;
  VirtAddr to;
  VirtAddr counters;
  std::uint64_t groups = 0;
  std::uint64_t group = 0;
  std::uint64_t shift = 0;

  VirtAddr read(unsigned lane) const { return from + 4 * ((lane * groups + group + shift) % (groups * 64)); }
  VirtAddr written(unsigned lane) const { return to + 4 * (lane * groups + group); }
};

Stream work_on(Work work) {
  co_yield load(4, [&](unsigned lane) { return work.read(lane); });
  co_yield wait(0);
  co_yield store(4, [&](unsigned lane) { return work.written(lane); });
  co_yield atomic(4, [&](unsigned lane) { return work.counters + 4 * (lane % 8); });
  co_yield wait(0);
  co_yield load(4, [&](unsigned lane) { return work.written(lane); });
  co_yield wait(0);
}

/// A program with all kinds of accesses and several launches. Neighbouring items are of other workgroups, so of other
/// GPUs, and all count in one line.
std::shared_ptr<Script> program(std::uint32_t groups) {
  auto script = std::make_shared<Script>();
  const std::uint64_t bytes = std::uint64_t{groups} * 64 * 4;
  const VirtAddr input = script->buffer(bytes, Placement::Distribute);
  const VirtAddr output = script->buffer(bytes, Placement::Distribute);
  const VirtAddr counters = script->buffer(4096, Placement::Distribute);
  const auto launch = [&](VirtAddr from, VirtAddr to, std::uint64_t shift) {
    script->launch(groups_of(groups), [=](const Script&, const Wave& wave) {
      return work_on({from, to, counters, groups, wave.group_x, shift});
    });
  };
  script->add_host_access({input, bytes, true});
  launch(input, output, 1);
  launch(output, input, 64);
  script->add_host_access({input, bytes, false});
  script->add_host_access({output, bytes / 2, true});
  launch(output, input, 7);
  script->add_host_access({counters, 4096, false});
  script->add_host_access({input, bytes, false});
  return script;
}

Stream count_at(VirtAddr at, unsigned first_wait) {
  for (; first_wait != 0; --first_wait) co_yield salu(1000);
  co_yield atomic(4, lane0(at));
  co_yield wait(0);
}

/// Two GPUs count in one word: each has to ask for the only copy.
TEST(Umh, AtomicsAreCoherent) {
  auto script = std::make_shared<Script>();
  const VirtAddr counter = script->buffer(4096, Placement::Host);
  script->launch(groups_of(2), [=](const Script&, const Wave& wave) { return count_at(counter, wave.group_x * 4); });
  const Outcome run = simulate(test_system({}, "umh-2gpu"), {script});
  EXPECT_EQ(run.count("host.umh.hmd.writes"), 2U);
  EXPECT_EQ(run.count("host.umh.hmd.reads"), 0U);
}

/// Each lane changes a page of its own, of more than a stack holds; then another GPU reads it.
Stream touch_page(VirtAddr base, std::uint64_t group, bool writes) {
  const auto at = [&](unsigned lane) { return base + (group * 64 + lane) * kPageBytes + lane * 64; };
  if (writes) {
    co_yield store(4, at);
  } else {
    co_yield load(4, at);
    co_yield wait(0);
  }
}

struct Choice {
  const char* name;
  std::vector<std::string> overrides;
};

class Program : public ::testing::TestWithParam<Choice> {};

TEST_P(Program, SeesWhatItMay) {
  for (const char* system : {"umh-1gpu", "umh-4gpu"}) {
    std::vector<std::string> overrides = GetParam().overrides;
    overrides.push_back("gpu.l2.size=16KiB");
    overrides.push_back("gpu.l2.ways=4");
    const Outcome run = simulate(test_system(overrides, system), {program(kGroups)});
    EXPECT_GT(run.count("gpus.umh.smd.hits"), 0U);
    EXPECT_EQ(run.count("gpus.umh.l1.coherent_stores") - run.count("gpus.umh.l1.subgranule_stores"), 3U * kGroups);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Umh, Program,
    ::testing::Values(
        Choice{"Defaults", {}}, Choice{"NoPeers", {"umh.peer_transfer=false"}},
        Choice{"AnySharer", {"umh.peer_supplier=any_sharer"}}, Choice{"InvalidateOnRead", {"umh.o_on_read=invalidate"}},
        Choice{"KeepOnRead", {"umh.o_on_read=keep", "umh.peer_transfer=false"}},
        Choice{"DirtyLines", {"umh.writeback=dirty_lines", "umh.completion_bytes=8"}},
        Choice{"FlushAll", {"umh.kernel_boundary=flush_all"}}, Choice{"FinalFlush", {"umh.sync=final_flush"}},
        Choice{"SmallBlocks", {"umh.block=512", "umh.granule=8"}},
        Choice{"LargeBlocks", {"umh.block=16KiB", "umh.interleave=4KiB"}},
        Choice{"FineInterleave", {"umh.interleave=64"}},
        Choice{"FewTransactions", {"umh.smd.transactions=1", "umh.smd.put_buffer=1", "umh.hmd.transactions=1"}},
        Choice{"Pcie", {"link.format=pcie4"}}, Choice{"NoBankConflicts", {"umh.bank_conflicts=false"}},
        Choice{"CleanNotices", {"umh.clean_eviction_notice=true"}},
        Choice{"WriteBackL1s", {"umh.l1_write_policy=write_back"}},
        Choice{"SmallWriteBackL1s",
               {"umh.l1_write_policy=write_back", "gpu.l1v.size=4KiB", "gpu.l1v.ways=1", "gpu.l1s.size=4KiB",
                "gpu.l1s.ways=1", "umh.o_on_read=keep", "umh.writeback=dirty_lines"}},
        Choice{"WriteBackL1sInvalidateOnRead",
               {"umh.l1_write_policy=write_back", "umh.o_on_read=invalidate", "umh.clean_eviction_notice=true"}},
        Choice{"WriteBackL1sNoPeers", {"umh.l1_write_policy=write_back", "umh.peer_transfer=false"}},
        Choice{"WriteBackL1sFlushAll", {"umh.l1_write_policy=write_back", "umh.kernel_boundary=flush_all"}},
        Choice{"WriteBackL1sFinalFlush", {"umh.l1_write_policy=write_back", "umh.sync=final_flush"}},
        Choice{"WriteBackL1sFineInterleave", {"umh.l1_write_policy=write_back", "umh.interleave=64"}}),
    [](const auto& of) { return std::string(of.param.name); });

TEST(Umh, StacksThatHoldFewBlocksEvictThem) {
  const SystemSpec system = test_system({"gpu.dram.capacity=1MiB", "gpu.l2.size=16KiB", "gpu.l2.ways=4"}, "umh-2gpu");
  constexpr std::uint32_t kPageGroups = 16;
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageGroups * 64 * kPageBytes, Placement::Distribute);
  for (const std::uint64_t other : {0, 1}) {
    script->launch(groups_of(kPageGroups),
                   [=](const Script&, const Wave& wave) { return touch_page(base, wave.group_x ^ other, other == 0); });
  }
  script->add_host_access({base, kPageGroups * 64 * kPageBytes / 16, false});
  const Outcome run = simulate(system, {script});
  EXPECT_GT(run.count("gpus.umh.smd.evictions"), 0U);
  EXPECT_GT(run.count("host.umh.hmd.puts"), 0U);
}

class UmhOnThreads : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(Umh, UmhOnThreads,
                         ::testing::Values("umh.l1_write_policy=write_through", "umh.l1_write_policy=write_back"),
                         [](const auto& of) {
                           return std::string(of.param).ends_with("back") ? "WriteBack" : "WriteThrough";
                         });

TEST_P(UmhOnThreads, GiveTheSameBitsInAnyNumber) {
  const SystemSpec system = test_system({"gpu.l2.size=16KiB", "gpu.l2.ways=4", GetParam()}, "umh-4gpu");
  const Outcome one = simulate(system, {program(kGroups)}, true, 1);
  for (const unsigned threads : {2U, 4U}) {
    const Outcome several = simulate(system, {program(kGroups)}, true, threads);
    ASSERT_EQ(several.result.statistics.size(), one.result.statistics.size());
    for (std::size_t i = 0; i < one.result.statistics.size(); ++i) {
      EXPECT_EQ(several.result.statistics[i].count, one.result.statistics[i].count) << one.result.statistics[i].name;
    }
  }
  EXPECT_EQ(simulate(system, {program(kGroups)}, false, 3).result.cycles, one.result.cycles);
}

TEST(Umh, ATimelineHasEveryRequestOfADirectory) {
  RunRequest request;
  request.system = test_system({"gpu.l2.size=16KiB", "gpu.l2.ways=4"}, "umh-4gpu");
  request.applications = {program(kGroups)};
  request.timeline.on = true;
  request.timeline.subjects = TimelineFilter::bit(TimelineSubject::Data);
  const Outcome outcome(run(request));
  std::uint64_t at_stacks = 0;
  std::uint64_t at_homes = 0;
  for (const TimelineEvent& event : outcome.result.timeline) {
    if (event.unit != TimelineUnit::Directory) continue;
    EXPECT_LE(event.start, event.end);
    ++(event.device == 4 ? at_homes : at_stacks);
  }
  const auto at_home = [&](const char* what) { return outcome.count(std::string("host.umh.hmd.") + what); };
  EXPECT_EQ(at_homes, at_home("reads") + at_home("writes") + at_home("puts") + at_home("publishes"));
  EXPECT_GE(at_stacks, outcome.count("gpus.umh.smd.misses") + outcome.count("gpus.umh.smd.upgrades"));
  EXPECT_LE(at_stacks, at_homes);
}

void expect_refused(const std::vector<std::string>& overrides, const std::string& why) {
  try {
    test_system(overrides, "umh-4gpu");
    ADD_FAILURE() << "not refused: " << overrides.front();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr(why));
  }
}

TEST(Umh, WhatDecidesWhereLinesAreHasNoPlaceBesideIt) {
  expect_refused({"translation.kind=mmu"}, "needs translation.kind `ideal`");
  expect_refused({"remote_cache=l1l2"}, "needs `remote_cache: l1`");
  expect_refused({"boundary.write_back=false"}, "umh.kernel_boundary");
  expect_refused({"umh.interleave=8KiB"}, "from a line to `umh.block`");
  expect_refused({"gpu.l2.banks=64", "gpu.l2.size=1MiB"}, "at most 64 stacked memories");
}

TEST(UmhMap, NeighbouringBlocksOfAStackAreNeighboursInIt) {
  const HierarchyMap apart(test_system({}, "umh-4gpu"), false);
  EXPECT_EQ(apart.slice_of(0), apart.slice_of(4 * 64));
  EXPECT_EQ(apart.place_of(4), 1U);
  const HierarchyMap fine(test_system({"umh.interleave=64"}, "umh-4gpu"), false);
  EXPECT_EQ(fine.slice_of(0), fine.slice_of(64));
  EXPECT_EQ(fine.place_of(1), 1U);
}

double mebibytes(const DirectorySize& size) { return static_cast<double>(size.total_bits()) / 8 / 1048576; }

TEST(UmhStorage, OfAStacksDirectoryIsThePublishedOne) {
  const auto of_block = [](const char* block) { return smd_size(test_system({block}, "umh-4gpu")); };
  EXPECT_EQ(of_block("umh.block=4KiB").bits, 99U);
  EXPECT_EQ(of_block("umh.block=4KiB").entries, 256U * 1024);
  EXPECT_EQ(mebibytes(of_block("umh.block=1KiB")), 6.375);
  EXPECT_EQ(mebibytes(of_block("umh.block=2KiB")), 4.1875);
  EXPECT_EQ(mebibytes(of_block("umh.block=4KiB")), 3.09375);
  EXPECT_EQ(mebibytes(of_block("umh.block=8KiB")), 2.546875);
  EXPECT_EQ(mebibytes(of_block("umh.block=16KiB")), 2.2734375);
  EXPECT_EQ(smd_latency(test_system({"umh.block=1KiB"}, "umh-4gpu")), 2U);
  EXPECT_EQ(smd_latency(test_system({}, "umh-4gpu")), 1U);
}

TEST(UmhStorage, GrowsWithTheStack) {
  const char* capacities[] = {"gpu.dram.capacity=1GiB", "gpu.dram.capacity=2GiB", "gpu.dram.capacity=4GiB",
                              "gpu.dram.capacity=8GiB", "gpu.dram.capacity=16GiB"};
  const double smd[] = {0.7890625, 1.5625, 3.09375, 6.125, 12.125};
  const double hmd[] = {0.1875, 0.375, 0.75, 1.5, 3.0};
  for (unsigned i = 0; i < 5; ++i) {
    EXPECT_EQ(mebibytes(smd_size(test_system({capacities[i]}, "umh-4gpu"))), smd[i]) << capacities[i];
    EXPECT_EQ(mebibytes(hmd_size(test_system({capacities[i]}, "umh-4gpu"))), hmd[i]) << capacities[i];
  }
  EXPECT_EQ(hmd_size(test_system({}, "umh-1gpu")).bits, 4U);
  EXPECT_EQ(hmd_size(test_system({}, "umh-2gpu")).bits, 7U);
  EXPECT_EQ(hmd_size(test_system({}, "umh-4gpu")).bits, 12U);
}

}  // namespace
}  // namespace nearfar::umh_test
