// Latencies add up: an unloaded access in every place costs exactly the sum of the configured latencies.
#include <gtest/gtest.h>

#include "machine/script.h"

namespace nearfar::latency_test {
namespace {

constexpr VirtAddr kNoAddress{0};

/// One wavefront on GPU 0; lane 0 reads `first`, waits, then reads `second` and waits (each if given).
Stream reader(VirtAddr first, VirtAddr second) {
  const auto lane0 = [](VirtAddr at) { return [at](unsigned lane) { return lane == 0 ? at : kIdle; }; };
  co_yield load(4, lane0(first));
  co_yield wait(0);
  if (second == kNoAddress) co_return;
  co_yield load(4, lane0(second));
  co_yield wait(0);
}

struct Place {
  SystemSpec system;
  std::shared_ptr<Script> script = std::make_shared<Script>();
  VirtAddr base;

  /// Four pages, of which page g is on GPU g (or all on the host).
  explicit Place(SystemSpec spec, Placement placement = Placement::Interleave) : system(std::move(spec)) {
    base = script->buffer(4 * kPageBytes, placement);
  }
  VirtAddr on_gpu(unsigned gpu, std::uint64_t line = 0) const { return base + gpu * kPageBytes + line * 64; }

  Outcome read(VirtAddr first, VirtAddr second = kNoAddress) {
    script->launch(groups_of(1), [=](const Script&, const Wave&) { return reader(first, second); });
    return simulate(system, {script});
  }
};

/// What the second of two reads adds to the run.
Cycle cost_of_second(const SystemSpec& system, unsigned first_gpu, unsigned second_gpu, std::uint64_t second_line,
                     Placement placement = Placement::Interleave) {
  Place one(system, placement);
  Place two(system, placement);
  const Cycle alone = one.read(one.on_gpu(first_gpu)).result.cycles;
  return two.read(two.on_gpu(first_gpu), two.on_gpu(second_gpu, second_line)).result.cycles - alone;
}

TEST(UnloadedAccess, L1HitCostsTranslationAndL1) {
  const SystemSpec spec = test_system();
  EXPECT_EQ(cost_of_second(spec, 0, 0, 0), spec.translation.latency + spec.gpu.l1v.latency);
}

/// Of a first access: a closed row where there are rows.
Cycle memory_latency(const DramSpec& dram) {
  const Cycle burst =
      (64 * 1'000'000'000ULL + dram.channel_bandwidth.bytes_per_second - 1) / dram.channel_bandwidth.bytes_per_second;
  return (dram.model == DramModel::Fixed ? dram.latency : dram.controller_latency + dram.t_rcd + dram.t_cl) + burst;
}

class UnloadedAccessTo : public ::testing::TestWithParam<const char*> {};
INSTANTIATE_TEST_SUITE_P(FixedAndBankedMemory, UnloadedAccessTo, ::testing::Values("ideal-4gpu", "hbm-4gpu"),
                         [](const auto& instance) { return std::string(instance.param, 3); });

TEST_P(UnloadedAccessTo, LocalDramCostsTheSumOfItsStages) {
  const SystemSpec spec = test_system({}, GetParam());
  Place place(spec);
  const Outcome run = place.read(place.on_gpu(0));
  const Cycle to_l2 = spec.translation.latency + spec.gpu.l1v.latency;
  EXPECT_EQ(run.count("latency.load.count"), 1U);
  EXPECT_EQ(run.count("latency.load.l1_cycles"), to_l2);
  EXPECT_EQ(run.count("latency.load.home_cycles"), spec.gpu.l2.tag_latency);
  EXPECT_EQ(run.count("latency.load.dram_cycles"), memory_latency(spec.gpu.dram));
  EXPECT_EQ(run.count("latency.load.total_cycles"), to_l2 + spec.gpu.l2.tag_latency + memory_latency(spec.gpu.dram));
}

/// Two compute units of GPU 0 read the same line, the second one late: it misses its L1 and hits the L2.
Stream late_reader(VirtAddr at, bool late) {
  if (late) co_yield salu(1000);
  co_yield load(4, [at](unsigned lane) { return lane == 0 ? at : kIdle; });
  co_yield wait(0);
}

Outcome read_twice(const SystemSpec& system, unsigned home, Placement placement = Placement::Interleave) {
  Place place(system, placement);
  const VirtAddr at = place.on_gpu(home);
  place.script->launch(groups_of(2),
                       [=](const Script&, const Wave& wave) { return late_reader(at, wave.group_x == 1); });
  return simulate(system, {place.script});
}

TEST_P(UnloadedAccessTo, L2HitCostsTagAndData) {
  const SystemSpec spec = test_system({}, GetParam());
  const Outcome run = read_twice(spec, 0);
  const Cycle miss =
      spec.translation.latency + spec.gpu.l1v.latency + spec.gpu.l2.tag_latency + memory_latency(spec.gpu.dram);
  const Cycle hit =
      spec.translation.latency + spec.gpu.l1v.latency + spec.gpu.l2.tag_latency + spec.gpu.l2.data_latency;
  EXPECT_EQ(run.count("gpus.l2.read_hits"), 1U);
  EXPECT_EQ(run.count("latency.load.total_cycles"), miss + hit);
}

Cycle link_crossing(const SystemSpec& spec, std::uint64_t bytes) {
  const std::uint64_t b = spec.link.bandwidth.bytes_per_second;
  return (bytes * spec.gpu.clock.hertz + b - 1) / b + spec.link.latency;
}

TEST_P(UnloadedAccessTo, RemoteDramAndRemoteL2AddTwoLinkCrossings) {
  const SystemSpec spec = test_system({}, GetParam());
  const Outcome run = read_twice(spec, 2);
  const Cycle links = link_crossing(spec, spec.link.header) + link_crossing(spec, spec.link.reply_header + 64);
  const Cycle base = spec.translation.latency + spec.gpu.l1v.latency + links + spec.gpu.l2.tag_latency;
  EXPECT_EQ(run.count("gpu2.l2.reads"), 2U);
  EXPECT_EQ(run.count("gpu2.l2.read_hits"), 1U);
  EXPECT_EQ(run.count("latency.load.total_cycles"),
            2 * base + memory_latency(spec.gpu.dram) + spec.gpu.l2.data_latency);
  EXPECT_EQ(run.count("latency.load.request_link_cycles"), 2 * link_crossing(spec, spec.link.header));
  EXPECT_EQ(run.count("latency.load.reply_link_cycles"), 2 * link_crossing(spec, spec.link.reply_header + 64));
}

TEST(UnloadedAccess, HostMemoryIsReachedOverTheLink) {
  const SystemSpec spec = test_system(
      {"host.dram.model=fixed", "host.dram.latency=100", "host.dram.channels=1", "host.dram.channel_bandwidth=64GB/s"});
  Place place(spec, Placement::Host);
  const Outcome run = place.read(place.base);
  EXPECT_EQ(run.count("host.llc.reads"), 1U);
  EXPECT_EQ(run.count("latency.load.total_cycles"),
            spec.translation.latency + spec.gpu.l1v.latency + link_crossing(spec, spec.link.header) +
                spec.host.llc.tag_latency + 100 + 1 + link_crossing(spec, spec.link.reply_header + 64));
}

/// The published sums of the REC system, with remote lines in the L1 only: 98, 240, 510, 652 less the requester's L2
/// lookup of 10, which this caching policy leaves out, plus the cycle of ideal translation.
TEST(UnloadedAccess, RecSystemMatchesItsTable) {
  const SystemSpec spec =
      test_system({"remote_cache=l1", "coherence=boundary", "placement.initial=interleave", "dispatch.policy=workload"},
                  "rec-4gpu");
  Place local(spec);
  EXPECT_EQ(local.read(local.on_gpu(0)).count("latency.load.total_cycles"), 1U + 28 + 10 + 202);
  Place remote(spec);
  EXPECT_EQ(remote.read(remote.on_gpu(1)).count("latency.load.total_cycles"), 1U + 28 + 201 + 10 + 202 + 201);
  EXPECT_EQ(read_twice(spec, 0).count("latency.load.total_cycles"), (1U + 28 + 10 + 202) + (1 + 28 + 10 + 60));
  EXPECT_EQ(read_twice(spec, 3).count("latency.load.total_cycles"), 2 * (1U + 28 + 201 + 10 + 201) + 202 + 60);
}

TEST(UnloadedAccess, RingPaysEveryHopAndTreeStoresAndForwards) {
  const SystemSpec ring = test_system({"link.topology=ring"});  // 0 1 2 3 host: two hops from 0 to 2
  Place far(ring);
  const Outcome over_ring = far.read(far.on_gpu(2));
  EXPECT_EQ(over_ring.count("latency.load.request_link_cycles"), 2 * link_crossing(ring, ring.link.header));
  EXPECT_EQ(over_ring.count("latency.load.reply_link_cycles"), 2 * link_crossing(ring, ring.link.reply_header + 64));

  const SystemSpec tree = test_system({"link.topology=pcie-tree", "link.gpus_per_switch=2"});
  Place near(tree);
  EXPECT_EQ(near.read(near.on_gpu(1)).count("latency.load.request_link_cycles"),
            2 * link_crossing(tree, tree.link.header) + tree.link.switch_latency);
  Place other(tree);
  EXPECT_EQ(other.read(other.on_gpu(2)).count("latency.load.request_link_cycles"),
            4 * link_crossing(tree, tree.link.header) + 2 * tree.link.switch_latency);
}

TEST(LatencyBreakdown, StagesAddUpToTheTotalUnderLoad) {
  auto script = std::make_shared<Script>();
  const VirtAddr data = script->buffer(std::uint64_t{1} << 20, Placement::Interleave);
  script->launch(groups_of(256), [data](const Script&, const Wave& wave) {
    return [](VirtAddr base, Wave w) -> Stream {
      for (std::uint64_t i = 0; i < 8; ++i) {
        co_yield load(4, [=](unsigned lane) { return base + (w.item(lane) * 7919 + i * 104729) % 262144 * 4; });
        co_yield store(4, [=](unsigned lane) { return base + (w.item(lane) * 31 + i * 4099) % 262144 * 4; });
        co_yield wait(1);
      }
    }(data, wave);
  });
  for (const char* topology : {"switch", "all-to-all", "ring", "pcie-tree"}) {
    const Outcome run = simulate(test_system({std::string("link.topology=") + topology, "gpu.l2.mshrs=4",
                                              "gpu.l2.remote_mshrs=4", "gpu.l1v.mshrs=8", "gpu.l2.queue=4"}),
                                 {script});
    std::uint64_t sum = 0;
    for (const char* stage : {"l1", "request_link", "home_wait", "home", "merge", "dram", "reply_link"}) {
      sum += run.count(std::string("latency.load.") + stage + "_cycles");
    }
    EXPECT_GT(run.count("latency.load.count"), 100000U);
    EXPECT_EQ(sum, run.count("latency.load.total_cycles")) << topology;
  }
}

}  // namespace
}  // namespace nearfar::latency_test
