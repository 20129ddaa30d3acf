// Network interfaces against the plain model of ports and switch: throughput and fairness under uniform and hot-spot
// traffic.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <memory>

#include "interconnect/network_interface.h"
#include "interconnect/reference_network.h"
#include "sim/engine.h"

namespace nearfar::network_test {
namespace {

/// A device that has a network interface, agents that ask, and a home that answers after a fixed time.
class Device final : public NetworkClient {
 public:
  Device(Partition& partition, const LinkSpec& link, const Topology& topology, const Traffic& traffic, Served& served)
      : partition_(partition),
        traffic_(traffic),
        served_(served),
        network_(partition, link, topology, kLine, kClock, *this, masks_),
        agents_(traffic.agents),
        answer_handler_(partition.add_handler<&Device::on_answer>(this)),
        start_handler_(partition.add_handler<&Device::on_start>(this)) {
    partition.schedule(partition.pool().allocate<Event>(), start_handler_, 0);
  }

  void on_request(LineRequest* t, Spacing spacing) override {
    const unsigned lines = t->lines();
    network_.requests_taken(t->requester(), lines);
    const Spacing replies = network_.reply_spacing(*t);
    Cycle due = 0;
    for (unsigned i = 0; i < lines; ++i) due = std::max(due, spacing.at(i) - std::min(spacing.at(i), replies.at(i)));
    partition_.schedule(t, answer_handler_, partition_.now() + traffic_.service + due);
  }
  void on_reply(LineRequest* t) override {
    const unsigned lines = t->lines();
    const Cycle now = partition_.now();
    if (now >= traffic_.warm && now < traffic_.end) {
      served_.lines[partition_.device().value][t->line.device().value] += lines;
    }
    const unsigned agent = t->unit;
    partition_.pool().release(t);
    agents_[agent].outstanding -= lines;
    issue(agent);
  }
  void on_control(Packet*) override {}
  void on_copy(Packet*) override {}
  void on_message(Packet*) override {}
  void network_has_room(std::uint16_t waiter) override {
    agents_[waiter].waits = false;
    issue(waiter);
  }

 private:
  struct Agent {
    unsigned outstanding = 0;
    unsigned reserved = 0;
    bool waits = false;
    std::uint64_t sent = 0;
  };

  void on_start(Event* event) {
    partition_.pool().release(event);
    for (unsigned a = 0; a < agents_.size(); ++a) issue(a);
  }
  void on_answer(LineRequest* t) { network_.answer(t, 0); }

  void issue(unsigned a) {
    Agent& agent = agents_[a];
    while (partition_.now() < traffic_.end && !agent.waits &&
           agent.outstanding + traffic_.group <= traffic_.outstanding) {
      const auto to = static_cast<std::uint16_t>(traffic_.destination(partition_.device().value, a, agent.sent));
      for (; agent.reserved < traffic_.group; ++agent.reserved) {
        if (!network_.reserve(DeviceId{to}, static_cast<std::uint16_t>(a))) {
          agent.waits = true;
          return;
        }
      }
      agent.reserved = 0;
      agent.outstanding += traffic_.group;
      ++agent.sent;
      LineRequest* t = traffic_.writes ? static_cast<LineRequest*>(partition_.pool().allocate<StoreRequest>())
                                       : partition_.pool().allocate<LoadRequest>();
      t->kind = traffic_.writes ? RequestKind::Write : RequestKind::Read;
      t->line = PhysLine{PhysPage{DeviceId{to}, 0}, 0};
      t->mask = traffic_.group == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << traffic_.group) - 1;
      t->unit = static_cast<std::uint16_t>(a);
      network_.send_request(t);
    }
  }

  Partition& partition_;
  Traffic traffic_;
  Served& served_;
  ByteMaskPool masks_{1};  ///< none is used: all writes are of whole lines
  NetworkInterface network_;
  std::vector<Agent> agents_;
  HandlerId answer_handler_;
  HandlerId start_handler_;
};

Served drive(const LinkSpec& link, const Traffic& traffic, Cycle window = 0) {
  Served served(traffic.devices);
  const Topology topology(link, traffic.devices - 1);
  Engine engine(traffic.devices);
  std::vector<std::unique_ptr<Device>> devices;
  for (unsigned d = 0; d < traffic.devices; ++d) {
    devices.push_back(std::make_unique<Device>(engine.partition(d), link, topology, traffic, served));
  }
  Engine::Options options;
  options.window = window == 0 ? topology.lookahead() : window;
  engine.run(options);
  return served;
}

/// What a source got of all homes together.
std::uint64_t of_source(const Served& served, unsigned source) {
  std::uint64_t sum = 0;
  for (const std::uint64_t lines : served.lines[source]) sum += lines;
  return sum;
}

/// Throughput within 2 % of the plain model's; what each source got of all homes together, and of the hot one, within
/// 5 %.
void expect_alike(const LinkSpec& link, const Traffic& traffic) {
  const Served plain = ReferenceNetwork(link, traffic).run();
  const Served ours = drive(link, traffic);
  const auto near = [](std::uint64_t got, std::uint64_t expected, double share) {
    return std::abs(static_cast<double>(got) - static_cast<double>(expected)) <= share * static_cast<double>(expected);
  };
  EXPECT_TRUE(near(ours.total(), plain.total(), 0.02)) << ours.total() << " lines, " << plain.total() << " expected";
  for (unsigned source = 0; source < traffic.devices; ++source) {
    const std::uint64_t got = of_source(ours, source);
    const std::uint64_t expected = of_source(plain, source);
    EXPECT_TRUE(near(got, expected, 0.05))
        << "device " << source << ": " << got << " lines, " << expected << " expected";
    const std::uint64_t hot = ours.lines[source][0];
    const std::uint64_t hot_expected = plain.lines[source][0];
    EXPECT_TRUE(near(hot, hot_expected, 0.05))
        << "device " << source << " of device 0: " << hot << " lines, " << hot_expected << " expected";
  }
}

struct Case {
  unsigned devices;
  unsigned hot;
  std::uint64_t header;
  bool writes;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.devices << " devices, " << c.hot << " per mille to the hot one, headers of " << c.header << " bytes, "
       << (c.writes ? "stores" : "loads");
}

class UnderTraffic : public ::testing::TestWithParam<Case> {
 protected:
  UnderTraffic() {
    const Case c = GetParam();
    link_.header = c.header;
    link_.reply_header = c.header;
    link_.credits = 4096;
    link_.queue = 4096;
    traffic_.devices = c.devices;
    traffic_.hot = c.hot;
    traffic_.writes = c.writes;
  }

  LinkSpec link_;
  Traffic traffic_;
};
INSTANTIATE_TEST_SUITE_P(Network, UnderTraffic,
                         ::testing::Values(Case{2, 0, 16, false}, Case{4, 0, 16, false}, Case{8, 0, 16, false},
                                           Case{4, 300, 16, false}, Case{4, 700, 16, false}, Case{8, 300, 16, false},
                                           Case{4, 300, 16, true}, Case{5, 0, 16, true}, Case{4, 300, 40, false},
                                           Case{3, 500, 8, false}));

TEST_P(UnderTraffic, SinglePacketsPassAsInThePlainModel) { expect_alike(link_, traffic_); }

TEST_P(UnderTraffic, GroupsOfLinesPassAsInThePlainModelPacketByPacket) {
  link_.burst = 1;
  traffic_.group = 8;
  expect_alike(link_, traffic_);
}

/// A burst takes one turn for all its lines: who gets how much stays the same.
TEST_P(UnderTraffic, BurstsAreAsFairAsPackets) {
  traffic_.group = 8;
  expect_alike(link_, traffic_);
}

/// With few credits their way home counts, and with a short queue how soon its requesters are woken.
TEST_P(UnderTraffic, FewCreditsAndShortQueuesThrottleAsInThePlainModel) {
  link_.credits = 32;
  link_.queue = 64;
  expect_alike(link_, traffic_);
}

TEST_P(UnderTraffic, TheWindowDoesNotMatter) {
  link_.credits = 48;
  link_.queue = 40;
  traffic_.group = 4;
  traffic_.warm = 0;
  traffic_.end = 3'000;
  const Served whole = drive(link_, traffic_);
  for (const Cycle window : {1, 29, 149}) EXPECT_EQ(drive(link_, traffic_, window).lines, whole.lines) << window;
}

}  // namespace
}  // namespace nearfar::network_test
