// Machines whose data is copied, reached over links, or copied by a runtime that knows nothing of the program: the
// latencies of single accesses and of copies to the cycle, what is copied, and every program of the study of UMH with
// what its host does, under the oracle.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "config/error.h"
#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::managed_memory_test {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

/// One wavefront reads a word at each address, one after the other, when the copies before it have left the queues of
/// memories.
Stream reads(std::vector<VirtAddr> addresses) {
  co_yield salu(10'000);
  for (const VirtAddr at : addresses) {
    co_yield load(4, [at](unsigned lane) { return lane == 0 ? at : kIdle; });
    co_yield wait(0);
  }
}

/// On GPU 0: what the last of these reads, each of which waits for the one before, takes from issue to data.
Cycle last_read(const SystemSpec& system, std::uint64_t bytes, const std::vector<std::uint64_t>& offsets) {
  const auto total = [&](std::size_t count) {
    const auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(bytes, Placement::Distribute, kOnlyRead);
    std::vector<VirtAddr> addresses;
    for (std::size_t i = 0; i < count; ++i) addresses.push_back(base + offsets[i]);
    script->launch(groups_of(1), [=](const Script&, const Wave&) { return reads(addresses); });
    return simulate(system, {script}).count("latency.load.total_cycles");
  };
  return total(offsets.size()) - (offsets.size() == 1 ? 0 : total(offsets.size() - 1));
}

// ------------------------------------------------------------------------------------------------------------
// latencies

TEST(ZeroCopy, AMissCostsTwoCrossingsAndHostMemory) {
  EXPECT_EQ(last_read(test_system({}, "zero-copy-4gpu"), kPageBytes, {0}), 85 + 81 + 39 + 81);
  EXPECT_EQ(last_read(test_system({}, "zero-copy-4gpu-pcie"), kPageBytes, {0}), 85 + 241 + 39 + 244);
}

TEST(ZeroCopy, HitsCostTheCaches) {
  const SystemSpec system = test_system({}, "zero-copy-4gpu");
  const auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kPageBytes, Placement::Distribute, kOnlyRead);
  // Two compute units of one GPU, the second long after the first.
  script->launch(groups_of(8, 64), [=](const Script&, const Wave& wave) -> Stream {
    return [](VirtAddr at, bool runs, bool late) -> Stream {
      if (late) co_yield salu(1000);
      if (runs) co_yield load(4, [at](unsigned lane) { return lane == 0 ? at : kIdle; });
      co_yield wait(0);
    }(base, wave.group_x == 0 || wave.group_x == 4, wave.group_x == 4);
  });
  const Outcome run = simulate(system, {script});
  EXPECT_EQ(run.count("latency.load.count"), 2U);
  EXPECT_EQ(run.count("latency.load.total_cycles"), 85 + 81 + 39 + 81 + 85U) << "the L2 keeps lines of the host";
}

/// Of a range of its own: another row of an open bank.
TEST(Memcpy, AMissCostsARowConflictAndWhereTheRangeIsAnothersTwoCrossings) {
  for (const auto& [name, there, back] :
       {std::tuple{"memcpy-4gpu", 81, 81}, std::tuple{"memcpy-4gpu-pcie", 241, 244}}) {
    // One channel and one bank; 16 rows to each GPU.
    const SystemSpec system = test_system({"gpu.dram.channels=1", "gpu.dram.banks=1"}, name);
    const std::uint64_t range = 8 * kPageBytes;
    const auto cost = [&](unsigned gpu) {
      return last_read(system, 4 * range, {gpu * range, gpu * range + 4 * kPageBytes});
    };
    EXPECT_EQ(cost(0), 85U + 36) << name;
    EXPECT_EQ(cost(1), 85U + static_cast<Cycle>(there) + 36 + static_cast<Cycle>(back)) << name;
    EXPECT_EQ(cost(3), 85U + static_cast<Cycle>(there) + 36 + static_cast<Cycle>(back)) << name;
  }
}

TEST(Memcpy, CutsBuffersIntoRunsOfPagesRoundedUp) {
  const SystemSpec system = test_system({}, "memcpy-4gpu");
  const auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(9 * kPageBytes, Placement::Private, kOnlyRead);
  script->launch(groups_of(1), [=](const Script&, const Wave&) { return reads({base}); });
  const Outcome run = simulate(system, {script});
  EXPECT_EQ(run.count("gpu0.dram.writes"), 3 * 64U);
  EXPECT_EQ(run.count("gpu1.dram.writes"), 3 * 64U);
  EXPECT_EQ(run.count("gpu2.dram.writes"), 3 * 64U);
  EXPECT_EQ(run.count("gpu3.dram.writes"), 0U);
}

// ---------------------------------------------------------------------------------------------------------------
// copies

Outcome copy_in(const std::string& name, std::uint64_t bytes, const std::vector<std::string>& more = {}) {
  std::vector<std::string> settings = {"host.dram.channel_bandwidth=1000GB/s"};  // the link alone
  settings.insert(settings.end(), more.begin(), more.end());
  const auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(bytes, Placement::Distribute, kOnlyRead);
  script->launch(groups_of(1), [=](const Script&, const Wave&) { return reads({base}); });
  return simulate(test_system(settings, name), {script}, false);
}

/// 8 MiB to one GPU at the rate of its link: headers add 8 bytes to 4096.
TEST(Memcpy, FillsTheLink) {
  constexpr std::uint64_t kBytes = 8 << 20;
  for (const auto& [name, rate] : {std::pair{"memcpy-4gpu", 100.0}, std::pair{"memcpy-4gpu-pcie", 20.0}}) {
    const double wire = static_cast<double>(kBytes) / 4096 * 4104 / rate;
    const auto cycles =
        static_cast<double>(copy_in(name, kBytes, {"gpus=1", "host.dma.outstanding=64"}).count("run.copy_in"));
    EXPECT_GE(cycles, wire) << name;
    EXPECT_LE(cycles, wire + 1000) << name;
  }
}

TEST(Memcpy, CopiesToAllGpusAtOnce) {
  constexpr std::uint64_t kBytes = 8 << 20;
  const auto cycles = [&](const char* gpus) {
    return static_cast<double>(copy_in("memcpy-4gpu-pcie", kBytes, {gpus}).count("run.copy_in"));
  };
  EXPECT_NEAR(cycles("gpus=1") / cycles("gpus=4"), 4, 0.05);
}

/// Two modules of 19.2 GB/s feed four links of 16 GB/s.
TEST(Memcpy, IsBoundByHostMemory) {
  constexpr std::uint64_t kBytes = 8 << 20;
  const auto cycles = static_cast<double>(
      copy_in("memcpy-4gpu-pcie", kBytes, {"host.dram.channel_bandwidth=19.2GB/s"}).count("run.copy_in"));
  EXPECT_GE(cycles, static_cast<double>(kBytes) / 48);
  EXPECT_LE(cycles, static_cast<double>(kBytes) / 48 * 1.1);
}

/// And feed on them: copies out end when the host's memory has taken them, though the links of four GPUs are faster.
TEST(Memcpy, CopiesOutAreBoundByHostMemoryToo) {
  constexpr std::uint64_t kBytes = 8 << 20;
  const auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(kBytes, Placement::Distribute);
  script->launch(groups_of(1), [=](const Script&, const Wave&) { return reads({base}); });
  const auto cycles =
      static_cast<double>(simulate(test_system({}, "memcpy-4gpu"), {script}, false).count("run.copy_out"));
  EXPECT_GE(cycles, static_cast<double>(kBytes) / 48 * 0.95);
  EXPECT_LE(cycles, static_cast<double>(kBytes) / 48 * 1.1);
}

/// What kernels overwrite need not come, also where the host has filled it before.
TEST(Memcpy, CopiesInWhatKernelsRead) {
  const auto bytes = [](const char* copy_in) {
    const auto script = std::make_shared<Script>();
    const VirtAddr read = script->buffer(16 * kPageBytes, Placement::Distribute, kOnlyRead);
    const VirtAddr written = script->buffer(kPageBytes, Placement::Distribute, kOverwritten);
    script->add_host_access({read, 16 * kPageBytes, true});
    script->add_host_access({written, kPageBytes, true});
    script->launch(groups_of(1), [=](const Script&, const Wave&) -> Stream {
      return [](VirtAddr to) -> Stream {
        for (unsigned i = 0; i < kPageBytes / 256; ++i) {
          co_yield store(4, [at = to + i * 256](unsigned lane) { return at + lane * 4; });
        }
      }(written);
    });
    script->add_host_access({written, kPageBytes, false});
    return simulate(test_system({copy_in}, "memcpy-4gpu"), {script}).count("copies.bytes");
  };
  EXPECT_EQ(bytes("memory.copy_in=all"), 18 * kPageBytes);
  EXPECT_EQ(bytes("memory.copy_in=read"), 17 * kPageBytes);
}

/// z of 160 pages is initialized by the host and used by no kernel.
TEST(SoftwareUm, CopiesNeedlesslyThreeTimes) {
  const auto script = std::make_shared<Script>();
  const VirtAddr z = script->buffer(160 * kPageBytes, Placement::Distribute);
  script->add_host_access({z, 160 * kPageBytes, true});
  script->launch(groups_of(1), [](const Script&, const Wave&) -> Stream { co_yield salu(1); });
  const Outcome run = simulate(test_system({}, "software-um-1gpu"), {script});
  EXPECT_EQ(run.count("copies.bytes"), 1'966'080U);
  EXPECT_EQ(run.count("sync.home_bytes"), 2 * 160 * kPageBytes);
  // memcpy copies it in, since the host has written it, and out, since a kernel may have.
  EXPECT_EQ(simulate(test_system({"gpus=1"}, "memcpy-4gpu-pcie"), {script}).count("copies.bytes"),
            2 * 160 * kPageBytes);
  EXPECT_EQ(simulate(test_system({"gpus=1"}, "zero-copy-4gpu-pcie"), {script}).count("copies.bytes"), 0U);
}

// -------------------------------------------------------------------------------------------------------- parts of
// runs

TEST(MemoryManagement, PartsOfARunAddUpToIt) {
  for (const char* name : {"memcpy-4gpu", "zero-copy-4gpu", "software-um-1gpu"}) {
    const Outcome run = simulate(
        test_system({}, name),
        {make_workload("RD", SizeClass::Small, std::vector<ParameterSetting>{{"n", 1 << 14}, {"host", 1}}, 1)});
    EXPECT_EQ(run.count("run.copy_in") + run.count("run.kernel") + run.count("run.copy_out") + run.count("run.host"),
              run.result.cycles)
        << name;
    EXPECT_EQ(run.count("sync.count"), 1U) << name;
    // Software UM copies out before the host's first access, too.
    if (std::string(name) != "software-um-1gpu") {
      EXPECT_GE(run.count("sync.cycles"), run.count("run.copy_out")) << name;
    }
    EXPECT_GT(run.count("sync.cycles"), 0U) << name;
    EXPECT_EQ(run.count("sync.r_bytes"), 4U << 14) << name;
    EXPECT_EQ(run.count("sync.w_bytes"), 16U << 3) << name;
  }
}

// -------------------------------------------------------------------------------------------------------------
// programs

struct Program {
  const char* name;
  std::vector<ParameterSetting> settings;
};

/// The smallest that still have every phase.
const std::vector<Program>& programs() {
  static const std::vector<Program> all = {{"BSch", {{"samples", 262144}}},
                                           {"DCT", {{"width", 64}}},
                                           {"DH", {{"n", 1 << 12}}},
                                           {"FW", {{"n", 16}}},
                                           {"FWT", {{"n", 1 << 11}}},
                                           {"Hist", {{"width", 256}}},
                                           {"MM", {{"n", 64}}},
                                           {"MT", {{"width", 128}}},
                                           {"MTw", {{"width", 64}, {"factor", 4}}},
                                           {"RD", {{"n", 1 << 14}}},
                                           {"RS", {{"n", 1 << 14}}},
                                           {"SC2", {{"width", 64}, {"height", 16}, {"mask", 4}}},
                                           {"SF", {{"width", 256}, {"height", 16}}},
                                           {"SLA", {{"n", 1 << 17}}}};
  return all;
}

class EveryProgram : public ::testing::TestWithParam<Program> {};
INSTANTIATE_TEST_SUITE_P(OfTheStudy, EveryProgram, ::testing::ValuesIn(programs()),
                         [](const auto& instance) { return std::string(instance.param.name); });

/// The host reads what kernels wrote, and they what it wrote: versions go with the copies, so that one that is missing
/// is found out.
TEST_P(EveryProgram, IsRightUnderEveryManagement) {
  std::vector<ParameterSetting> settings = GetParam().settings;
  settings.push_back({"host", 1});
  const auto workload = make_workload(GetParam().name, SizeClass::Small, settings, 1);
  std::uint64_t used = 0, written = 0;
  for (const Buffer& buffer : workload->buffers()) {
    used += buffer.used_bytes();
    if (buffer.kernels.writes) written += buffer.used_bytes();
  }
  const Outcome copied = simulate(test_system({}, "memcpy-4gpu"), {workload});
  EXPECT_GE(copied.count("copies.bytes"), used + written);
  EXPECT_GE(copied.count("sync.home_bytes"), written);
  EXPECT_GT(copied.count("run.copy_in"), 0U);
  simulate(test_system({"memory.copy_in=read", "dispatch.chunk=16"}, "memcpy-4gpu-pcie"), {workload});
  const Outcome pinned = simulate(test_system({"dispatch.chunk=16"}, "zero-copy-4gpu"), {workload});
  EXPECT_EQ(pinned.count("copies.bytes"), 0U);
  EXPECT_EQ(pinned.count("gpus.dram.reads"), 0U);
  EXPECT_GT(pinned.count("sync.count"), 0U);
  const Outcome runtime = simulate(test_system({}, "software-um-1gpu"), {workload});
  EXPECT_GE(runtime.count("sync.home_bytes"), used);
}

TEST(MemoryManagement, IsTheSameOnAnyNumberOfThreads) {
  for (const char* name : {"memcpy-4gpu-pcie", "zero-copy-4gpu"}) {
    const auto run = [&](unsigned threads) {
      const auto workload =
          make_workload("DH", SizeClass::Small, std::vector<ParameterSetting>{{"n", 1 << 14}, {"host", 1}}, 1);
      return simulate(test_system({}, name), {workload}, false, threads);
    };
    const Outcome one = run(1);
    const Outcome three = run(3);
    EXPECT_EQ(one.result.cycles, three.result.cycles) << name;
    for (const StatValue& value : one.result.statistics) EXPECT_EQ(value.count, three.count(value.name)) << value.name;
  }
}

// --------------------------------------------------------------------------------------------------------------
// mistakes

TEST(MemoryManagement, RefusesWhatItCannotManage) {
  const auto copies = std::make_shared<Script>();
  copies->add_copy_in(copies->buffer(kPageBytes, Placement::Distribute));
  EXPECT_THAT([&] { simulate(test_system({}, "memcpy-4gpu"), {copies}); },
              ThrowsMessage<InputError>(HasSubstr("memory.management=placed")));
  EXPECT_THAT([&] { test_system({"memory.management=memcpy"}, "mmu-4gpu"); },
              ThrowsMessage<InputError>(HasSubstr("placement.policy: pinned")));
  EXPECT_THAT([&] { test_system({"remote_host_lines=true"}); },
              ThrowsMessage<InputError>(HasSubstr("remote_cache: l1l2")));
}

}  // namespace
}  // namespace nearfar::managed_memory_test
