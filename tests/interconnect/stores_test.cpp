// Posted stores on links, without GPUs: when they arrive, what their credits allow, and what the link layer adds.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "interconnect/network_interface.h"
#include "interconnect/store_batch.h"
#include "interconnect/useful_bytes.h"
#include "sim/engine.h"

namespace nearfar::stores_test {
namespace {

/// Two GPUs and a host; GPU 0 sends, and GPU 1 takes everything at once.
class Rig {
 public:
  Rig(const LinkSpec& link, std::uint64_t clock) : topology_(link, 2), engine_(3), clock_(clock) {
    for (unsigned d = 0; d < 3; ++d) devices_.push_back(std::make_unique<Device>(*this, engine_.partition(d), link));
  }

  /// GPU 0 sends `count` packets at once.
  void send(unsigned count, WireSize wire) {
    Partition& partition = engine_.partition(0);
    for (unsigned i = 0; i < count; ++i) {
      auto* packet = partition.pool().allocate<StorePacket>();
      packet->destination = 1;
      packet->packets = wire.packets;
      packet->data = wire.data_credits;
      packet->set_wire_bytes(wire.bytes);
      devices_[0]->network.send_stores(packet);
    }
  }
  void run() {
    Engine::Options options;
    options.window = topology_.lookahead();
    engine_.run(options);
    EXPECT_TRUE(devices_[1]->network.credits_settled(devices_[0]->network));
    EXPECT_EQ(devices_[0]->network.waiting(), 0U);
  }
  NetworkInterface& network(unsigned device) { return devices_[device]->network; }

  std::vector<Cycle> came;
  std::uint64_t drained = 0;

 private:
  struct Device final : NetworkClient {
    Device(Rig& r, Partition& p, const LinkSpec& link)
        : rig(r), partition(p), network(p, link, r.topology_, 128, r.clock_, *this, r.masks_) {}
    void on_request(LineRequest*, Spacing) override {}
    void on_reply(LineRequest*) override {}
    void on_control(Packet*) override {}
    void on_copy(Packet*) override {}
    void on_message(Packet*) override {}
    void network_has_room(Waiter) override {}
    void on_stores(StorePacket* packet) override {
      rig.came.push_back(partition.now());
      network.return_stores(DeviceId{packet->origin}, {packet->headers, packet->data, 1}, 0);
      partition.pool().release(packet);
    }
    void stores_drained(DeviceId, std::uint32_t count) override { rig.drained += count; }

    Rig& rig;
    Partition& partition;
    NetworkInterface network;
  };

  Topology topology_;
  ByteMaskPool masks_{4};
  Engine engine_;
  std::uint64_t clock_;
  std::vector<std::unique_ptr<Device>> devices_;
};

LinkSpec pcie4(Cycle latency, std::uint32_t headers = 100'000, std::uint32_t data = 1'000'000) {
  LinkSpec link;
  link.format = LinkFormat::Pcie4;
  link.topology = TopologyKind::AllToAll;
  link.bandwidth = 32_GBps;
  link.latency = latency;
  link.credits = headers;
  link.queue = 64;
  link.data_credits = data;
  return link;
}

constexpr std::uint64_t kGv100 = 1'400'000'000;

TEST(PostedStores, Scenarios46And47ArriveWhenTheirLastByteDoes) {
  Rig one(pcie4(420), kGv100);
  one.send(1, {604, 1, 36});
  one.run();
  EXPECT_EQ(one.came, (std::vector<Cycle>{27 + 420}));  // 604 × 7 / 160 = 26.4
  Rig two(pcie4(420), kGv100);
  two.send(2, {156, 1, 8});
  two.run();
  EXPECT_EQ(two.came, (std::vector<Cycle>{7 + 420, 14 + 420}));  // 6.825 and 13.65
  EXPECT_EQ(two.drained, 2U);
}

TEST(PostedStores, FillTheLinkToTheTick) {
  Rig rig(pcie4(420), kGv100);
  rig.send(1000, {156, 1, 8});
  rig.run();
  EXPECT_EQ(rig.came.back(), 6825U + 420);
}

TEST(PostedStores, Scenario54WaitsForCreditsOfItsPackets) {
  // 600 ns there and back: 128 stores of 32 bytes in 601 ns, 6.8 GB/s of 32.
  Rig few(pcie4(300, 128), 1'000'000'000);
  few.send(1280, {32, 1, 1});
  few.run();
  EXPECT_EQ(few.came.back(), 9U * 601 + 128 + 300);
  EXPECT_GT(few.network(0).stats().credit_waits + few.network(0).stats().queued_requests, 0U);
  LinkSpec link = pcie4(300, 0, 0);
  LinkSpec::CreditLoop loop;
  loop.latency = 600;
  loop.clock = Frequency{1'000'000'000};
  loop.line = 128;
  link.fill_in(loop);
  Rig enough(link, 1'000'000'000);
  enough.send(1280, {32, 1, 1});
  enough.run();
  EXPECT_EQ(enough.came.back(), 1280U + 300);
}

TEST(PostedStores, WaitForCreditsOfTheirPayload) {
  // 64 units of 16 bytes are 8 packets of 128 bytes, which are 156 on the wire: 4.875 ns each. A credit is back 600 ns
  // after its packet has arrived whole.
  Rig rig(pcie4(300, 1000, 64), 1'000'000'000);
  rig.send(80, {156, 1, 8});
  rig.run();
  const Cycle loop = 5 + 600;  // the first of eight, in whole cycles, and back
  EXPECT_NEAR(static_cast<double>(rig.came.back()), 9.0 * loop + 39 + 300, 9.0);
}

TEST(LinkLayer, TakesItsBytesInTheOtherDirection) {
  LinkSpec link = pcie4(300);
  link.pcie.dllp = true;
  Rig usual(link, kGv100);
  usual.send(80, {156, 1, 8});
  usual.run();
  EXPECT_EQ(usual.network(1).link_layer_stats().bytes, (80 / 4 + 80 / 8) * 8U);
  EXPECT_EQ(usual.network(0).link_layer_stats().bytes, 0U);
  link.pcie.ack_every = link.pcie.credit_every = 1;
  Rig each(link, kGv100);
  each.send(80, {156, 1, 8});
  each.run();
  EXPECT_EQ(each.network(1).link_layer_stats().bytes, 80 * 16U);
  EXPECT_EQ(each.came.back(), usual.came.back());
}

TEST(UsefulBytes, AreReadOnceBeforeTheyAreBroughtAgain) {
  const PhysLine line{PhysPage{DeviceId{1}, 7}, 3};
  UsefulBytes bytes;
  bytes.loaded(line, ByteMask::range(0, 8));  // nothing was brought
  bytes.delivered(line, ByteMask::range(0, 8));
  bytes.loaded(line, ByteMask::range(4, 8));
  bytes.loaded(line, ByteMask::range(4, 4));  // again
  EXPECT_EQ(bytes.stats().useful_bytes, 4U);
  EXPECT_EQ(bytes.stats().wasted_bytes, 4U);  // were the run to end here
  bytes.stored(line, ByteMask::range(0, 2));
  bytes.delivered(line, ByteMask::range(0, 8));
  EXPECT_EQ(bytes.stats().useful_bytes, 4U);
  EXPECT_EQ(bytes.stats().wasted_bytes, 4U + 8);
}

TEST(UsefulBytes, OfCopiesHadChangedAtTheirSource) {
  const PhysLine there{PhysPage{DeviceId{0}, 7}, 3};
  const PhysLine here{PhysPage{DeviceId{1}, 9}, 0};
  UsefulBytes source;
  source.stored(there, ByteMask::range(0, 8));
  EXPECT_TRUE(source.take_changes(there, DeviceId{1}).empty());  // nobody asked it to remember
  source.remember_changes();
  source.stored(there, ByteMask::range(0, 8));
  EXPECT_EQ(source.take_changes(there, DeviceId{1}), ByteMask::range(0, 8));
  EXPECT_TRUE(source.take_changes(there, DeviceId{1}).empty());
  EXPECT_EQ(source.take_changes(there, DeviceId{2}), ByteMask::range(0, 8));  // it had not been copied there
  source.stored(there, ByteMask::range(4, 8));
  EXPECT_EQ(source.take_changes(there, DeviceId{1}), ByteMask::range(4, 8));

  UsefulBytes target;
  target.copied(here, 128, ByteMask::range(0, 8));
  EXPECT_EQ(target.copy_stats().wasted_bytes, 128U);  // were the run to end here
  target.loaded(here, ByteMask::range(4, 8));
  EXPECT_EQ(target.copy_stats().useful_bytes, 4U);
  EXPECT_EQ(target.copy_stats().wasted_bytes, 124U);
  target.delivered(here, ByteMask::range(0, 2));  // stores bring some of it again
  target.loaded(here, ByteMask::range(0, 4));
  EXPECT_EQ(target.copy_stats().useful_bytes, 6U);
  EXPECT_EQ(target.copy_stats().wasted_bytes, 122U);
  EXPECT_EQ(target.stats().useful_bytes, 2U);
  target.copied(here, 128, ByteMask::range(0, 128));
  target.copied_within(here, 128);
  EXPECT_EQ(target.copy_stats().wasted_bytes, 122U + 128);
}

}  // namespace
}  // namespace nearfar::stores_test
