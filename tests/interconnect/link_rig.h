// Network interfaces alone: devices send what a test says, when it says so. A home keeps a request in its input buffer
// for a while, takes it out and answers it.
#pragma once

#include <bit>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "interconnect/network_interface.h"
#include "sim/engine.h"

namespace nearfar {

class LinkRig {
 public:
  static constexpr std::uint64_t kLine = 64;
  static constexpr std::uint64_t kClock = 1'000'000'000;

  /// Something that came.
  struct Came {
    Cycle when = 0;
    unsigned from = 0;  ///< who sent it
    unsigned to = 0;
    bool reply = false;
    std::uint64_t lines = 0;
    Spacing spacing;  ///< requests: of the packets behind the first
  };

  LinkRig(const LinkSpec& link, unsigned gpus) : topology_(link, gpus), engine_(gpus + 1) {
    for (unsigned d = 0; d <= gpus; ++d) {
      devices_.push_back(std::make_unique<Device>(*this, engine_.partition(d), link, topology_));
    }
  }

  /// A request for lines of a page of `to` leaves `from`.
  void read(unsigned from, unsigned to, Cycle when, std::uint64_t lines) {
    request(from, to, when, RequestKind::Read, lines, 4, 0);  // bytes that a lane wants
  }
  void write(unsigned from, unsigned to, Cycle when, std::uint64_t lines, unsigned first = kLine,
             unsigned last = kLine) {
    request(from, to, when, RequestKind::Write, lines, first, last);
  }
  void atomic(unsigned from, unsigned to, Cycle when, std::uint64_t lines, unsigned bytes) {
    request(from, to, when, RequestKind::Atomic, lines, bytes, 0);
  }
  /// A translation message of so many bytes.
  void message(unsigned from, unsigned to, Cycle when, unsigned bytes) {
    at(from, when, [=, this] {
      auto* packet = engine_.partition(from).pool().allocate<Packet>();
      packet->traffic_class = TrafficClass::Uncredited;
      packet->destination = static_cast<std::uint16_t>(to);
      packet->set_wire_bytes(bytes);
      devices_[from]->network.send_message(packet);
    });
  }
  /// Asks for room for `count` requests, one after another, and sends each as soon as it has it.
  void crowd(unsigned from, unsigned to, Cycle when, unsigned count) {
    at(from, when, [=, this] {
      devices_[from]->crowds[to] += count;
      devices_[from]->push(to);
    });
  }
  void at(unsigned device, Cycle when, std::function<void()> action) {
    actions_.push_back(std::move(action));
    Partition& partition = engine_.partition(device);
    auto* event = partition.pool().allocate<IndexEvent>();
    event->index = static_cast<std::uint32_t>(actions_.size() - 1);
    partition.schedule(event, devices_[device]->action_handler, when);
  }

  void run(Cycle window = 0) {
    Engine::Options options;
    options.window = window == 0 ? topology_.lookahead() : window;
    engine_.run(options);
  }

  /// All that was sent has come, and all credits are home.
  bool idle() const {
    for (const auto& device : devices_) {
      if (device->network.waiting() != 0 || device->partition.pool().live() != 1)
        return false;  // 1: the interface's own
      for (const auto& other : devices_) {
        if (other != device && !device->network.credits_settled(other->network)) return false;
      }
    }
    return true;
  }
  NetworkInterface& network(unsigned device) { return devices_[device]->network; }
  /// The most requests of one source that were in the input buffer of one device at a time.
  unsigned most_buffered() const {
    unsigned most = 0;
    for (const auto& device : devices_) most = std::max(most, device->most);
    return most;
  }

  Cycle hold = 0;      ///< how long a home keeps a request in its input buffer
  Cycle service = 0;   ///< from then on until it answers
  Cycle pipeline = 0;  ///< what its answer still owes when it is sent
  std::vector<Came> came;

 private:
  struct Device final : NetworkClient {
    Device(LinkRig& r, Partition& p, const LinkSpec& link, const Topology& topology)
        : rig(r),
          partition(p),
          network(p, link, topology, kLine, kClock, *this, r.masks_),
          take_handler(p.add_handler<&Device::on_take>(this)),
          answer_handler(p.add_handler<&Device::on_answer>(this)),
          action_handler(p.add_handler<&Device::on_action>(this)) {}

    void on_request(LineRequest* request, Spacing spacing) override {
      const unsigned from = request->requester().value;
      rig.came.push_back({partition.now(), from, partition.device().value, false, request->mask, spacing});
      unsigned& held = buffered[from];
      held += request->lines();
      most = std::max(most, held);
      partition.schedule(request, take_handler, partition.now() + rig.hold);
    }
    void on_take(LineRequest* request) {
      buffered[request->requester().value] -= request->lines();
      network.requests_taken(request->requester(), request->lines());
      if (request->kind == RequestKind::Write) {
        rig.masks_.release(partition.device(), as_store(*request).masks);
        as_store(*request).masks = 0;
      }
      partition.schedule(request, answer_handler, partition.now() + rig.service);
    }
    void on_answer(LineRequest* request) { network.answer(request, rig.pipeline); }
    void on_reply(LineRequest* reply) override {
      rig.came.push_back(
          {partition.now(), reply->line.device().value, partition.device().value, true, reply->mask, {}});
      partition.pool().release(reply);
    }
    void on_control(Packet* packet) override { end(packet); }
    void on_copy(Packet* packet) override { end(packet); }
    void on_message(Packet* packet) override { end(packet); }
    void network_has_room(Waiter waiter) override { push(waiter); }

    void on_action(IndexEvent* event) {
      const std::size_t index = event->index;
      partition.pool().release(event);
      rig.actions_[index]();
    }
    void end(Packet* packet) {
      rig.came.push_back({partition.now(), packet->origin, partition.device().value, false, 0, {}});
      partition.pool().release(packet);
    }
    void push(unsigned to) {
      while (crowds[to] != 0 &&
             network.reserve(DeviceId{static_cast<std::uint16_t>(to)}, static_cast<std::uint16_t>(to))) {
        --crowds[to];
        rig.send(partition.device().value, to, RequestKind::Read, 1, 0, 0);
      }
    }

    LinkRig& rig;
    Partition& partition;
    NetworkInterface network;
    std::map<unsigned, unsigned> buffered;  ///< by source
    std::map<unsigned, unsigned> crowds;    ///< by destination: requests that have no room yet
    unsigned most = 0;
    HandlerId take_handler;
    HandlerId answer_handler;
    HandlerId action_handler;
  };

  static ByteMask first_bytes(unsigned count) {
    return {{count == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << count) - 1, 0}};
  }
  LineRequest* make(unsigned from, RequestKind kind, unsigned first, unsigned last) {
    EventPool& pool = engine_.partition(from).pool();
    if (kind != RequestKind::Write) {
      auto* load = pool.allocate<LoadRequest>();
      load->operand_bytes = static_cast<std::uint16_t>(first);
      return load;
    }
    auto* store = pool.allocate<StoreRequest>();
    if (first != kLine || last != kLine) {
      const DeviceId device{static_cast<std::uint16_t>(from)};
      store->masks = masks_.allocate(device, {first_bytes(first), first_bytes(last)});
    }
    return store;
  }
  void send(unsigned from, unsigned to, RequestKind kind, std::uint64_t lines, unsigned first, unsigned last) {
    LineRequest* request = make(from, kind, first, last);
    request->kind = kind;
    request->line = PhysLine{PhysPage{DeviceId{static_cast<std::uint16_t>(to)}, 0}, 0};
    request->mask = lines;
    devices_[from]->network.send_request(request);
  }
  void request(unsigned from, unsigned to, Cycle when, RequestKind kind, std::uint64_t lines, unsigned first,
               unsigned last) {
    at(from, when, [=, this] {
      for (int i = 0; i < std::popcount(lines); ++i) {
        devices_[from]->network.reserve_always(DeviceId{static_cast<std::uint16_t>(to)});
      }
      send(from, to, kind, lines, first, last);
    });
  }

  Topology topology_;
  ByteMaskPool masks_{16};
  Engine engine_;
  std::vector<std::function<void()>> actions_;
  std::vector<std::unique_ptr<Device>> devices_;
};

}  // namespace nearfar
