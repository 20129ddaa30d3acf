// A switch with multicast and reduction, on whole machines under the oracles: when a multicast store and a reduced load
// arrive, the bytes that every port carries against closed forms, what bounds the units in the switch, and what it does
// not go with.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "config/error.h"
#include "designs/design.h"
#include "machine/script.h"
#include "workload/catalog.h"

namespace nearfar::nvls_test {
namespace {

using testing::HasSubstr;
using Names = std::vector<std::string>;
using Settings = std::vector<ParameterSetting>;

constexpr std::uint64_t kLine = 128;
constexpr std::uint64_t kWholeLine = 144;  ///< on NVLink: a header flit and eight of data
constexpr std::uint64_t kReadRequest = 16;

SystemSpec machine(std::uint64_t gpus, Names overrides = {}, const Names& designs = {"nvls"}) {
  overrides.insert(overrides.begin(), {"gpus=" + std::to_string(gpus), "gpu.shader_arrays=1"});
  return load_system_with(designs, "finepack-16gpu-nvlink", overrides).spec;
}

std::shared_ptr<const Workload> collective(const std::string& name, const char* key, std::uint64_t way,
                                           std::uint64_t ranks, std::uint64_t bytes, std::uint64_t items = 1024) {
  const Settings settings{{key, way}, {"ranks", ranks}, {"bytes", bytes}, {"items", items}};
  return make_workload(name, SizeClass::Small, settings, 1);
}

double ratio(const Outcome& run, const std::string& name) {
  const auto found = std::ranges::find(run.result.statistics, name, &StatValue::name);
  return found == run.result.statistics.end() ? 0 : found->ratio;
}

Outcome simulate_ports(const SystemSpec& system, std::shared_ptr<const Workload> program) {
  RunRequest request;
  request.system = system;
  request.applications = {std::move(program)};
  request.check = true;
  request.per_unit = true;
  return Outcome(run(request));
}

// ------------------------------------------------------------------------------------------------------ one access

enum class Access : std::uint8_t { Store, Load, Atomic };
enum class Where : std::uint8_t { Peer, Multicast };

Stream one_access(Access access, VirtAddr at) {
  const auto lane = [=](unsigned l) { return l == 0 ? at : kIdle; };
  switch (access) {
    case Access::Store: co_yield store(16, lane); break;
    case Access::Load: co_yield load(16, lane); break;
    case Access::Atomic: co_yield atomic(4, lane); break;
  }
  co_yield wait(0);
}

/// GPU 0 accesses a line of GPU 1, or of multicast memory with a member on every GPU.
Outcome access_once(Access access, Where where, std::uint64_t gpus, const Names& overrides) {
  auto script = std::make_shared<Script>();
  const VirtAddr members = script->buffer(gpus * kPageBytes, Placement::Distribute);
  const VirtAddr all = script->multicast(kPageBytes, {members, kPageBytes, gpus});
  script->launch(groups_of(1, 32), [=](const Script&, const Wave&) {
    return one_access(access, where == Where::Peer ? members + kPageBytes : all);
  });
  // Every GPU loads its own: the oracle sees that it has got what was stored.
  script->launch(groups_of(static_cast<std::uint32_t>(gpus), 32, Split::Offset), [=](const Script&, const Wave& wave) {
    return one_access(Access::Load, members + wave.group_x * kPageBytes);
  });
  return simulate(machine(gpus, overrides), {script});
}

Cycle first_launch(const Outcome& run) { return run.result.launches.front().end - run.result.launches.front().start; }

/// The switch stands half way, and passes packets on as they come: a multicast store takes as long as a plain one.
TEST(Multicast, AStoreReachesAllMembersWhenAPlainOneReachesItsPeer) {
  for (const char* latency : {"link.latency=420", "link.latency=421", "link.latency=2"}) {
    for (const std::uint64_t gpus : {2U, 5U}) {
      const Outcome peer = access_once(Access::Store, Where::Peer, gpus, {latency, "nvls.lookup_latency=0"});
      for (const Cycle lookup : {0U, 7U}) {
        const std::string setting = "nvls.lookup_latency=" + std::to_string(lookup);
        const Outcome all = access_once(Access::Store, Where::Multicast, gpus, {latency, setting});
        EXPECT_EQ(first_launch(all), first_launch(peer) + lookup) << latency << " " << gpus;
        EXPECT_EQ(all.count("switch.nvls.copies"), gpus);
        EXPECT_EQ(all.count("gpus.ingress.lines"), gpus);
        EXPECT_EQ(all.count("gpus.egress.stores"), 1U);
      }
    }
  }
}

TEST(Reduction, ALoadPaysForLookupAndSumOnce) {
  const auto took = [](Cycle lookup, Cycle sum) {
    return first_launch(access_once(
        Access::Load, Where::Multicast, 4,
        {"nvls.lookup_latency=" + std::to_string(lookup), "nvls.reduction_latency=" + std::to_string(sum)}));
  };
  const Cycle least = took(0, 0);
  EXPECT_EQ(took(7, 0), least + 7);
  EXPECT_EQ(took(0, 9), least + 9);
  EXPECT_EQ(took(100, 1000), least + 1100);
  // A read request, and an operand, enter the switch whole before they go on; four operands are added, two in a cycle.
  const Cycle peer = first_launch(access_once(Access::Load, Where::Peer, 4, {}));
  EXPECT_GT(least, peer);
  EXPECT_LT(least, peer + 10);
}

/// The stages of a load's latency add up to the whole, whoever counts them.
TEST(Reduction, LatenciesOfLoadsAndAtomicsAddUp) {
  for (const Access access : {Access::Load, Access::Atomic}) {
    const Outcome run = access_once(access, Where::Multicast, 3, {});
    std::uint64_t stages = 0;
    for (const char* stage : {"l1", "request_link", "home_wait", "home", "merge", "dram", "reply_link"}) {
      stages += run.count(std::string("latency.load.") + stage + "_cycles");
    }
    EXPECT_EQ(stages, run.count("latency.load.total_cycles"));
  }
}

TEST(Reduction, AnAtomicIsPerformedOnEveryMember) {
  const Outcome run = access_once(Access::Atomic, Where::Multicast, 5, {});
  EXPECT_EQ(run.count("gpus.l2.atomics"), 5U);
  EXPECT_EQ(run.count("switch.nvls.reductions"), 1U);
  EXPECT_EQ(run.count("switch.nvls.operands"), 5U);
}

// ---------------------------------------------------------------------------------------------------------- bytes

struct PortBytes {
  std::uint64_t to_switch = 0, from_switch = 0;  ///< of each GPU
};

void expect_port_bytes(const Outcome& run, std::uint64_t gpus, const PortBytes& expected) {
  for (std::uint64_t g = 0; g < gpus; ++g) {
    const std::string gpu = "gpu" + std::to_string(g);
    EXPECT_EQ(run.count(gpu + ".link.to_switch.bytes"), expected.to_switch) << gpu;
    EXPECT_EQ(run.count("switch.link.to_" + gpu + ".bytes"), expected.from_switch) << gpu;
    for (std::uint64_t to = 0; to < gpus; ++to) {
      EXPECT_EQ(run.count(gpu + ".link.to_gpu" + std::to_string(to) + ".bytes"), 0U) << gpu;
    }
  }
}

class InSwitch : public testing::TestWithParam<std::uint64_t> {};
INSTANTIATE_TEST_SUITE_P(Gpus, InSwitch, testing::Values(2, 3, 4, 8, 16));

/// A GPU sends its own piece once, and receives all of the buffer.
TEST_P(InSwitch, AllGatherSendsAPieceAndReceivesTheBuffer) {
  const std::uint64_t gpus = GetParam(), lines = 16;
  const Outcome run = simulate_ports(machine(gpus), collective("AllGather", "direct", 2, gpus, gpus * lines * kLine));
  expect_port_bytes(run, gpus, {lines * kWholeLine, gpus * lines * kWholeLine});
  EXPECT_EQ(run.count("gpus.egress.data_bytes"), gpus * lines * kLine);
}

/// A GPU sends its whole buffer as operands, and receives the sum of its piece.
TEST_P(InSwitch, ReduceScatterSendsTheBufferAndReceivesAPiece) {
  const std::uint64_t gpus = GetParam(), lines = 16;
  const Outcome run =
      simulate_ports(machine(gpus), collective("ReduceScatter", "direct", 2, gpus, gpus * lines * kLine));
  expect_port_bytes(
      run, gpus, {gpus * lines * kWholeLine + lines * kReadRequest, lines * kWholeLine + gpus * lines * kReadRequest});
  EXPECT_EQ(run.count("switch.nvls.operands"), gpus * gpus * lines);
}

/// Both: of data, 1 + 1/G times the buffer each way.
TEST_P(InSwitch, AllReduceMovesTheBufferAndAPieceEachWay) {
  const std::uint64_t gpus = GetParam(), lines = 16;
  const Outcome run =
      simulate_ports(machine(gpus), collective("AllReduce", "algorithm", 5, gpus, gpus * lines * kLine));
  const std::uint64_t data = (gpus + 1) * lines * kWholeLine;
  expect_port_bytes(run, gpus, {data + lines * kReadRequest, data + gpus * lines * kReadRequest});
}

/// In one shot every GPU reads all sums: little comes, and much leaves.
TEST_P(InSwitch, AllReduceInOneShotReceivesTheBufferAndSendsItToAll) {
  const std::uint64_t gpus = GetParam(), lines = 8;
  const Outcome run = simulate_ports(machine(gpus), collective("AllReduce", "algorithm", 6, gpus, lines * kLine));
  expect_port_bytes(
      run, gpus, {gpus * lines * kWholeLine + lines * kReadRequest, lines * kWholeLine + gpus * lines * kReadRequest});
}

TEST(InSwitch, SixtyFourGpusLoseNothing) {
  const std::uint64_t gpus = 64, lines = 4;
  const Outcome run =
      simulate_ports(machine(gpus), collective("AllReduce", "algorithm", 5, gpus, gpus * lines * kLine, 64));
  const std::uint64_t data = (gpus + 1) * lines * kWholeLine;
  expect_port_bytes(run, gpus, {data + lines * kReadRequest, data + gpus * lines * kReadRequest});
}

/// The links carry (1 + 1/G) S each way, so that bus bandwidth, made for 2 S (G - 1)/G, may exceed that of a link.
TEST(InSwitch, AllReduceComesCloseToItsBound) {
  for (const std::uint64_t gpus : {4U, 8U}) {
    const double link = 4;
    const SystemSpec system = machine(gpus, {"link.bandwidth=4GB/s"});
    const auto bus = [&](std::uint64_t algorithm) {
      return ratio(simulate(system, {collective("AllReduce", "algorithm", algorithm, gpus, gpus << 15, 1024)}, false),
                   "collective.bus_bandwidth");
    };
    const auto g = static_cast<double>(gpus);
    const double bound = 2 * (g - 1) / g * link * kLine / kWholeLine * g / (g + 1);
    EXPECT_LT(bus(5), bound) << gpus;
    EXPECT_GT(bus(5), 0.85 * bound) << gpus;
    EXPECT_LT(bus(3), link) << "without the switch";
    EXPECT_GT(bus(5), 0.9 * 2 * (g - 1) / (g + 1) * bus(3)) << gpus;
  }
}

// ----------------------------------------------------------------------------------------------- units of the switch

TEST(Reduction, AddsOperandsAtItsRate) {
  const std::uint64_t gpus = 4, bytes = gpus << 13;
  const auto cycles = [&](const char* rate) {
    return simulate(machine(gpus, {rate}), {collective("ReduceScatter", "direct", 2, gpus, bytes)}).result.cycles;
  };
  // Every port adds the operands of a piece from all GPUs: as many bytes as a buffer has.
  EXPECT_GT(cycles("nvls.operand_rate=1"), bytes);
  EXPECT_LT(cycles("nvls.operand_rate=1"), bytes + cycles("nvls.operand_rate=65536"));
  EXPECT_LT(cycles("nvls.operand_rate=256"), bytes / 4);
}

TEST(Reduction, HasAsManyLinesUnderWayAsEntries) {
  const std::uint64_t gpus = 4, lines = 64;
  const auto run = [&](const char* entries) {
    return simulate(machine(gpus, {entries}), {collective("AllReduce", "algorithm", 5, gpus, gpus * lines * kLine)});
  };
  const Outcome one = run("nvls.entries=1");
  const Outcome many = run("nvls.entries=1024");
  EXPECT_GT(one.count("switch.nvls.entry_waits"), 0U);
  EXPECT_EQ(many.count("switch.nvls.entry_waits"), 0U);
  EXPECT_EQ(one.count("switch.nvls.reductions"), gpus * lines);
  // One line after the other, each of which goes to the members and back.
  EXPECT_GT(one.result.cycles, lines * machine(gpus).link.latency);
  EXPECT_LT(many.result.cycles, one.result.cycles / 4);
}

// ------------------------------------------------------------------------------------------------- with other parts

TEST(NvlsThreads, GiveTheSameStatistics) {
  const auto program = collective("AllReduce", "algorithm", 5, 5, 5 * 40 * kLine);
  const auto text = [](const Outcome& run) {
    std::string all;
    for (const StatValue& value : run.result.statistics) all += value.name + "=" + std::to_string(value.count) + "\n";
    return all;
  };
  const std::string one = text(simulate(machine(5), {program}));
  EXPECT_EQ(text(simulate(machine(5), {program}, true, 3)), one);
  EXPECT_EQ(text(simulate(machine(5), {program}, true, 2, 3)), one);
  EXPECT_EQ(text(simulate(machine(5), {program}, false, 1, 1)), one);
}

TEST(Nvls, GoesWithDesignsAtTheEgressAndWithTranslation) {
  for (const char* egress : {"finepack", "write-combining", "config-packet", "gps"}) {
    SCOPED_TRACE(egress);
    const SystemSpec system = machine(3, {}, {"nvls", egress});
    const Outcome run = simulate_ports(system, collective("AllReduce", "algorithm", 5, 3, 3 * 16 * kLine));
    expect_port_bytes(run, 3, {4 * 16 * kWholeLine + 16 * kReadRequest, 4 * 16 * kWholeLine + 48 * kReadRequest});
  }
  for (const char* pages : {"page.size=4K", "page.size=2M"}) {
    const SystemSpec ats = machine(3, {"translation.kind=ats", pages});
    EXPECT_EQ(simulate(ats, {collective("AllReduce", "algorithm", 5, 3, 3 * 16 * kLine)}).count("switch.nvls.operands"),
              9U * 16);
  }
}

std::string refusal(const Names& overrides) {
  try {
    machine(4, overrides);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Nvls, IsRefusedWhereItMakesNoSense) {
  EXPECT_EQ(refusal({}), "");
  EXPECT_THAT(refusal({"link.topology=all-to-all"}), HasSubstr("needs `link.topology` switch"));
  EXPECT_THAT(refusal({"link.topology=ring"}), HasSubstr("needs `link.topology` switch"));
  EXPECT_THAT(refusal({"link.topology=pcie-tree"}), HasSubstr("needs `link.topology` switch"));
  EXPECT_THAT(refusal({"link.format=plain"}), HasSubstr("`nvls` needs posted stores"));
  EXPECT_THAT(refusal({"remote_cache=l1l2"}), HasSubstr("`nvls` needs none"));
  EXPECT_THAT(refusal({"remote_cache=l1"}), HasSubstr("needs `remote_cache: none`"));
  EXPECT_THAT(refusal({"translation.kind=ats", "placement.policy=first-touch", "placement.initial=host"}),
              HasSubstr("Where pages may move"));
  EXPECT_THAT(refusal({"placement.initial=host"}), HasSubstr("must not be host"));
  EXPECT_THAT(refusal({"link.latency=1"}), HasSubstr("at least 2"));
}

std::string run_refusal(const SystemSpec& system, const std::shared_ptr<const Workload>& program) {
  try {
    simulate(system, {program});
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Multicast, NeedsASwitchThatKnowsIt) {
  const SystemSpec plain = machine(4, {}, {});
  EXPECT_THAT(run_refusal(plain, collective("AllReduce", "algorithm", 5, 4, 4096)), HasSubstr("add --design nvls"));
  EXPECT_THAT(run_refusal(plain, collective("AllGather", "direct", 2, 4, 4096)), HasSubstr("add --design nvls"));
  EXPECT_EQ(run_refusal(plain, collective("AllGather", "direct", 1, 4, 4096)), "");
}

TEST(Nvls, CostsItsReductionEntries) {
  const std::vector<DesignCost> cost = cost_of(Names{"nvls"}, "finepack-16gpu-nvlink", Names{"nvls.entries=64"});
  ASSERT_EQ(cost.size(), 1U);
  ASSERT_EQ(cost.front().items.size(), 1U);
  EXPECT_EQ(cost.front().items.front().bits, 16U * 64 * (1024 + 5));
}

}  // namespace
}  // namespace nearfar::nvls_test
