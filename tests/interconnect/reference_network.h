// A plain model of ports and switch, cycle by cycle: single packets, requests and replies as separate classes on the
// same link, round robin between the classes and among the destinations (at an output) or the sources (at an input) of
// each, work-conserving; end-to-end credits; a queue for each destination. What the network interfaces are compared
// with.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "interconnect/traffic.h"

namespace nearfar::network_test {

class ReferenceNetwork {
 public:
  ReferenceNetwork(const LinkSpec& link, const Traffic& traffic)
      : link_(link),
        traffic_(traffic),
        bytes_per_cycle_(link.bandwidth.bytes_per_second / kClock),
        outputs_(traffic.devices, Port(traffic.devices)),
        inputs_(traffic.devices, Port(traffic.devices)),
        credits_(traffic.devices, std::vector<std::uint64_t>(traffic.devices, link.credits)),
        agents_(traffic.devices, std::vector<Agent>(traffic.agents)) {}

  Served run() {
    Served served(traffic_.devices);
    for (now_ = 0; now_ < traffic_.end; ++now_) {
      handle_due(served);
      for (unsigned device = 0; device < traffic_.devices; ++device) issue(device);
      for (unsigned device = 0; device < traffic_.devices; ++device) send(device);
      for (unsigned device = 0; device < traffic_.devices; ++device) receive(device);
    }
    return served;
  }

 private:
  enum Class : unsigned { kRequest, kReply };

  struct Packet {
    Class cls = kRequest;
    unsigned from = 0;
    unsigned to = 0;
    unsigned agent = 0;
    std::uint64_t bytes = 0;
    std::uint64_t there = 0;  ///< when its first byte is, in bytes of link time
  };

  struct Port {
    explicit Port(unsigned flows)
        : queues{std::vector<std::deque<Packet>>(flows), std::vector<std::deque<Packet>>(flows)} {}

    std::vector<std::deque<Packet>> queues[2];  ///< by class and flow
    unsigned next_class = 0;
    unsigned next_flow[2] = {0, 0};
    std::uint64_t free = 0;  ///< in bytes of link time
  };

  struct Agent {
    unsigned outstanding = 0;
    std::uint64_t sent = 0;
  };

  struct Due {
    Packet packet;
    enum { Arrives, Answered, Credit } what = Arrives;
  };

  std::uint64_t start_of(Cycle cycle) const { return cycle * bytes_per_cycle_; }
  Cycle cycle_of(std::uint64_t time) const { return (time + bytes_per_cycle_ - 1) / bytes_per_cycle_; }

  void issue(unsigned device) {
    for (unsigned a = 0; a < traffic_.agents; ++a) {
      Agent& agent = agents_[device][a];
      while (agent.outstanding + traffic_.group <= traffic_.outstanding) {
        const unsigned to = traffic_.destination(device, a, agent.sent);
        auto& queue = outputs_[device].queues[kRequest][to];
        if (queue.size() + traffic_.group > link_.queue) break;
        for (unsigned i = 0; i < traffic_.group; ++i) {
          queue.push_back({kRequest, device, to, a, traffic_.request_bytes(link_), start_of(now_)});
        }
        agent.outstanding += traffic_.group;
        ++agent.sent;
      }
    }
  }

  /// The next packet that a port takes if it is free before the end of this cycle, and when it takes it.
  template <class MayGo>
  std::optional<Packet> take(Port& port, std::uint64_t& start, MayGo may_go) {
    std::uint64_t earliest = ~std::uint64_t{0};
    for (const auto& flows : port.queues) {
      for (const auto& queue : flows) {
        if (!queue.empty() && may_go(queue.front())) earliest = std::min(earliest, queue.front().there);
      }
    }
    start = std::max({port.free, earliest, start_of(now_)});  // credits may have come just now
    if (start >= start_of(now_ + 1)) return {};
    for (unsigned c = 0; c < 2; ++c) {
      const unsigned cls = (port.next_class + c) % 2;
      auto& flows = port.queues[cls];
      for (unsigned f = 0; f < flows.size(); ++f) {
        const auto flow = static_cast<unsigned>((port.next_flow[cls] + f) % flows.size());
        if (flows[flow].empty() || !may_go(flows[flow].front()) || flows[flow].front().there > start) continue;
        port.next_class = 1 - cls;
        port.next_flow[cls] = flow + 1;
        const Packet packet = flows[flow].front();
        flows[flow].pop_front();
        port.free = start + packet.bytes;
        return packet;
      }
    }
    return {};
  }

  void send(unsigned device) {
    const auto may_go = [&](const Packet& p) { return p.cls == kReply || credits_[device][p.to] != 0; };
    std::uint64_t start = 0;
    while (std::optional<Packet> packet = take(outputs_[device], start, may_go)) {
      if (packet->cls == kRequest) --credits_[device][packet->to];
      packet->there = start + start_of(link_.latency);
      inputs_[packet->to].queues[packet->cls][device].push_back(*packet);
    }
  }

  void receive(unsigned device) {
    std::uint64_t start = 0;
    while (std::optional<Packet> packet = take(inputs_[device], start, [](const Packet&) { return true; })) {
      due_.emplace(cycle_of(start + packet->bytes), Due{*packet, Due::Arrives});
    }
  }

  void handle_due(Served& served) {
    while (!due_.empty() && due_.begin()->first <= now_) {
      const Due due = due_.begin()->second;
      due_.erase(due_.begin());
      const Packet& p = due.packet;
      if (due.what == Due::Credit) {
        ++credits_[p.from][p.to];
      } else if (due.what == Due::Answered) {
        outputs_[p.to].queues[kReply][p.from].push_back(
            {kReply, p.to, p.from, p.agent, traffic_.reply_bytes(link_), start_of(now_)});
      } else if (p.cls == kRequest) {
        due_.emplace(now_ + link_.latency, Due{p, Due::Credit});
        due_.emplace(now_ + traffic_.service, Due{p, Due::Answered});
      } else {
        --agents_[p.to][p.agent].outstanding;
        if (now_ >= traffic_.warm) ++served.lines[p.to][p.from];
      }
    }
  }

  LinkSpec link_;
  Traffic traffic_;
  std::uint64_t bytes_per_cycle_;
  std::vector<Port> outputs_;
  std::vector<Port> inputs_;
  std::vector<std::vector<std::uint64_t>> credits_;  ///< by source and destination
  std::vector<std::vector<Agent>> agents_;
  std::multimap<Cycle, Due> due_;
  Cycle now_ = 0;
};

}  // namespace nearfar::network_test
