// A saturated resource carries exactly its bandwidth: cache port, bank, link.
#include <gtest/gtest.h>

#include "machine/script.h"

namespace nearfar::bandwidth_test {
namespace {

/// Every lane of a wavefront reads 4 bytes of its own line, `times` times over: 64 lines an instruction.
Stream same_lines(VirtAddr base, unsigned times) {
  for (unsigned i = 0; i < times; ++i) {
    co_yield load(4, [=](unsigned lane) { return base + std::uint64_t{lane} * 64; });
    co_yield wait(0);
  }
}

TEST(SaturatedPort, L1LooksUpOneLineACycle) {
  const auto cycles = [](unsigned times) {
    auto script = std::make_shared<Script>();
    const VirtAddr base = script->buffer(kPageBytes, Placement::Distribute);
    script->launch(groups_of(1), [=](const Script&, const Wave&) { return same_lines(base, times); });
    return simulate(test_system(), {script}).result.cycles;
  };
  // All hits after the first time: translation and L1 latency once an instruction, and a cycle for each further line.
  EXPECT_EQ(cycles(12) - cycles(2), 10U * (1 + 28 + 63));
}

/// All wavefronts of one GPU stream whole lines of another GPU's memory.
Stream stream_lines(VirtAddr base, std::uint64_t wave, unsigned instructions, bool stores) {
  for (unsigned i = 0; i < instructions; ++i) {
    const VirtAddr at = base + (wave * instructions + i) * 1024;
    const auto lanes = [=](unsigned lane) { return at + std::uint64_t{lane} * 16; };
    if (stores) {
      co_yield store(16, lanes);
    } else {
      co_yield load(16, lanes);
    }
  }
  co_yield wait(0);
}

Outcome stream_from_remote(const SystemSpec& system, bool stores) {
  auto script = std::make_shared<Script>();
  const std::uint64_t bytes = std::uint64_t{4} << 20;
  const VirtAddr base = script->buffer(2 * bytes, Placement::Distribute);  // second half on GPU 1
  Launch launch = groups_of(512);                                          // 64 CUs: 512 groups fit GPU 0 alone
  script->launch(launch, [=](const Script&, const Wave& wave) {
    if (wave.group_x >= 256) return stream_lines(base, 0, 0, false);  // GPU 1's share does nothing
    return stream_lines(base + bytes, wave.group_x, 16, stores);
  });
  return simulate(system, {script});
}

TEST(SaturatedLink, CarriesExactlyItsBandwidth) {
  const SystemSpec system =
      test_system({"gpus=2", "link.credits=4096", "link.queue=4096", "gpu.l1v.mshrs=512", "gpu.cu.store_buffer=512"});
  const std::uint64_t lines = 256 * 16 * 16;
  const Outcome reads = stream_from_remote(system, false);
  const std::uint64_t reply_bytes = lines * (system.link.reply_header + 64);
  EXPECT_EQ(reads.count("gpu1.link.reply_bytes"), reply_bytes);
  // The link is never idle between the first reply and the last: 32 bytes a cycle.
  const Cycle busy = reply_bytes / 32;
  EXPECT_GE(reads.result.cycles, busy);
  EXPECT_LE(reads.result.cycles, busy + 3000);

  const Outcome writes = stream_from_remote(system, true);
  const std::uint64_t request_bytes = lines * (system.link.header + 64);
  EXPECT_EQ(writes.count("gpu0.link.request_bytes"), request_bytes);
  EXPECT_GE(writes.result.cycles, request_bytes / 32);
  EXPECT_LE(writes.result.cycles, request_bytes / 32 + 6000);  // launch, first lines, write-back at the end
}

TEST(SaturatedBank, TakesOneRequestACycle) {
  // Lines that all fall into one bank of 16: a stride of 16 lines with plain indexing. They fit the L2; the second
  // kernel finds them all there and is bound by that bank's port.
  const SystemSpec system =
      test_system({"gpus=1", "gpu.l2.banks=16", "gpu.l2.size=4MiB", "gpu.l2.bank_index=modulo", "gpu.l2.index=xor",
                   "gpu.l1v.size=4KiB", "gpu.l2.queue=4096", "host.dram.capacity=4GiB", "gpu.l1v.mshrs=512"});
  auto script = std::make_shared<Script>();
  const VirtAddr base = script->buffer(std::uint64_t{2} << 20, Placement::Distribute);
  const auto kernel = [=](const Script&, const Wave& wave) {
    return [](VirtAddr at, Wave w) -> Stream {
      for (std::uint64_t i = 0; i < 16; ++i) {
        co_yield load(4, [=](unsigned lane) { return at + (w.item(lane) + i * 128) % 2048 * 1024; });
        co_yield wait(0);
      }
    }(base, wave);
  };
  script->launch(groups_of(32), kernel);
  script->launch(groups_of(32), kernel);
  const Outcome run = simulate(system, {script});
  const LaunchResult& second = run.result.launches[1];
  const std::uint64_t requests = run.count("gpus.l2.reads") / 2;
  EXPECT_GE(second.end - second.start, requests);
  EXPECT_LE(second.end - second.start, requests + requests / 10 + 1500);
}

}  // namespace
}  // namespace nearfar::bandwidth_test
