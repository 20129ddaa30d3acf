// Routes: every device is reached from every other, over as many hops as the shape says.
#include "interconnect/topology.h"

#include <gtest/gtest.h>

#include <cmath>

namespace nearfar::topology_test {
namespace {

LinkSpec shape(TopologyKind kind) {
  LinkSpec spec;
  spec.topology = kind;
  spec.latency = 100;
  spec.switch_latency = 7;
  spec.gpus_per_switch = 4;
  return spec;
}

DeviceId device(unsigned d) { return DeviceId{static_cast<std::uint16_t>(d)}; }

unsigned hops(const Topology& topology, unsigned from, unsigned to) {
  unsigned count = 0;
  for (DeviceId at = device(from); at != device(to); ++count) {
    if (count > topology.devices()) return ~0U;
    const Topology::Hop hop = topology.route(at, device(to));
    EXPECT_LT(hop.output, topology.outputs(at));
    EXPECT_GE(hop.latency, topology.lookahead());
    at = hop.next;
  }
  return count;
}

TEST(Topology, EveryDeviceReachesEveryOther) {
  for (const TopologyKind kind : {TopologyKind::Switch, TopologyKind::AllToAll, TopologyKind::Ring,
                                  TopologyKind::PcieTree, TopologyKind::FatTree}) {
    for (const unsigned gpus : {1U, 2U, 3U, 8U, 13U}) {
      const Topology topology(shape(kind), gpus);
      for (unsigned from = 0; from <= gpus; ++from) {
        for (unsigned to = 0; to <= gpus; ++to) {
          if (from == to) continue;
          const unsigned count = hops(topology, from, to);
          if (kind == TopologyKind::Switch || kind == TopologyKind::AllToAll || kind == TopologyKind::FatTree) {
            EXPECT_EQ(count, 1U);
          } else if (kind == TopologyKind::Ring) {
            const unsigned around = (to + gpus + 1 - from) % (gpus + 1);
            EXPECT_EQ(count, std::min(around, gpus + 1 - around));
          } else {
            const bool direct = from == gpus || to == gpus || from / 4 == to / 4;
            EXPECT_EQ(count, direct ? 1U : 2U);
          }
        }
      }
    }
  }
}

TEST(Topology, RingTiesGoClockwise) {
  const Topology topology(shape(TopologyKind::Ring), 3);  // four devices
  EXPECT_EQ(topology.route(device(0), device(2)).next, device(1));
  EXPECT_EQ(topology.route(device(3), device(1)).next, device(0));
}

TEST(Topology, LatenciesAddUpAlongTheWay) {
  EXPECT_EQ(Topology(shape(TopologyKind::Switch), 4).latency(device(0), device(3)), 100U);
  EXPECT_EQ(Topology(shape(TopologyKind::Ring), 7).latency(device(0), device(3)), 300U);
  const Topology tree(shape(TopologyKind::PcieTree), 8);
  EXPECT_EQ(tree.latency(device(0), device(3)), 207U);      // up, switch, down
  EXPECT_EQ(tree.latency(device(0), device(5)), 2 * 207U);  // and through the root complex
  EXPECT_EQ(tree.latency(device(0), tree.host()), 207U);
}

TEST(Topology, HostOfASwitchMayHaveAPortForEachGpu) {
  LinkSpec spec;
  EXPECT_EQ(Topology(spec, 4).outputs(DeviceId{4}), 1U);
  spec.host_port_per_gpu = true;
  const Topology topology(spec, 4);
  EXPECT_EQ(topology.outputs(DeviceId{4}), 4U);
  EXPECT_EQ(topology.outputs(DeviceId{0}), 1U);
  EXPECT_EQ(topology.route(DeviceId{4}, DeviceId{2}).output, 2U);
  EXPECT_EQ(topology.route(DeviceId{2}, DeviceId{4}).output, 0U);
  EXPECT_TRUE(topology.has_port_per_gpu(DeviceId{4}));
  EXPECT_FALSE(topology.has_port_per_gpu(DeviceId{2}));
}

TEST(Topology, HostMayBeFartherThanPeers) {
  for (const TopologyKind kind : {TopologyKind::Switch, TopologyKind::AllToAll}) {
    LinkSpec spec;
    spec.topology = kind;
    spec.latency = 150;
    spec.host_latency = 300;
    const Topology topology(spec, 3);
    EXPECT_EQ(topology.latency(DeviceId{0}, DeviceId{2}), 150U);
    EXPECT_EQ(topology.latency(DeviceId{0}, topology.host()), 300U);
    EXPECT_EQ(topology.latency(topology.host(), DeviceId{1}), 300U);
    EXPECT_EQ(topology.lookahead(), 150U);
    spec.host_latency = 40;
    EXPECT_EQ(Topology(spec, 3).lookahead(), 40U);
  }
}

/// 64 GPUs, four under a switch, two of these under one of the next level, and so on: four levels above the lowest.
TEST(Topology, FartherGpusOfAFatTreeTakeLonger) {
  LinkSpec spec = shape(TopologyKind::FatTree);
  spec.switch_radix = 2;
  const Topology topology(spec, 64);
  EXPECT_EQ(topology.latency(device(0), device(3)), 100U);
  EXPECT_EQ(topology.latency(device(0), device(4)), 114U);
  EXPECT_EQ(topology.latency(device(9), device(4)), 128U);
  EXPECT_EQ(topology.latency(device(31), device(0)), 142U);
  EXPECT_EQ(topology.latency(device(0), device(63)), 156U);
  EXPECT_EQ(topology.latency(device(0), topology.host()), 156U);
  EXPECT_EQ(topology.latency(topology.host(), device(63)), 156U);
  EXPECT_EQ(topology.lookahead(), 100U);
  EXPECT_EQ(Topology(spec, 4).latency(device(0), device(4)), 100U) << "one switch, and the host beside it";
  spec.host_latency = 40;
  EXPECT_EQ(Topology(spec, 64).latency(device(0), device(64)), 40U);
  EXPECT_EQ(Topology(spec, 64).lookahead(), 40U);
}

/// Half way between two GPUs, whatever the latency.
TEST(Topology, ASwitchThatIsADeviceIsHalfWayBetweenGpus) {
  for (const Cycle latency : {2U, 7U, 420U}) {
    LinkSpec spec = shape(TopologyKind::Switch);
    spec.latency = latency;
    const Topology topology(spec, 4, true);
    const DeviceId middle{5};
    EXPECT_TRUE(topology.is_switch(middle));
    EXPECT_FALSE(topology.is_switch(topology.host()));
    EXPECT_EQ(topology.devices(), 6U);
    EXPECT_EQ(topology.outputs(middle), 4U);
    EXPECT_EQ(topology.inputs(middle), 4U);
    EXPECT_EQ(topology.latency(device(0), middle) + topology.latency(middle, device(3)), latency);
    EXPECT_EQ(topology.latency(device(0), device(3)), latency) << "what passes does not stop";
    EXPECT_EQ(topology.route(middle, device(3)).output, 3U);
    EXPECT_LE(topology.lookahead(), topology.latency(device(0), middle));
    EXPECT_EQ(topology.lookahead(), topology.latency(middle, device(3)));
  }
  EXPECT_EQ(Topology(shape(TopologyKind::Switch), 4).devices(), 5U);
}

}  // namespace
}  // namespace nearfar::topology_test
