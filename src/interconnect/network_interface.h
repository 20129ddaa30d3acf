// A device's attachment to the interconnect: what it sends, forwards and receives.
//
// Requests need a credit of their destination and wait in a bounded queue for it until they have one and their turn has
// come; replies and control messages are always accepted and wait for their turn alone. A port passes bytes at its
// exact rate, and where several messages wait for it the channels take turns, and the destinations (at an output) or
// sources (at an input) within each (link_port.h). Who is next is decided no earlier than it is served. Outputs are
// worked off when somebody asks and at the end of a window, inputs at the beginning of one, when all arrivals are
// known: so a turn costs no event, and its outcome does not depend on the window. Latency that a sender's own pipeline
// still owes (a cache's lookup) is added in flight, so that no link stands idle for a message that is not there yet.
//
// Requests for lines of one page that leave together travel in bursts of at most `link.burst` lines, and so do the
// answers that are ready together: one message that stands for a packet a line, back to back. It occupies links and
// needs credits for all of them, and takes one turn.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interconnect/jitter.h"
#include "interconnect/link_port.h"
#include "interconnect/link_spec.h"
#include "interconnect/link_timeline.h"
#include "interconnect/packet_format.h"
#include "interconnect/store_batch.h"
#include "interconnect/topology.h"
#include "memory/byte_masks.h"
#include "memory/line_request.h"
#include "memory/lower_level.h"
#include "sim/device_set.h"
#include "sim/partition.h"
#include "sim/wait_list.h"
#include "stats/stat.h"

namespace nearfar {

struct LinkStats {
  std::uint64_t request_packets = 0;
  std::uint64_t request_bytes = 0;
  std::uint64_t reply_packets = 0;
  std::uint64_t reply_bytes = 0;
  std::uint64_t control_packets = 0;
  std::uint64_t control_bytes = 0;
  std::uint64_t copy_packets = 0;
  std::uint64_t copy_bytes = 0;
  std::uint64_t message_packets = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t page_packets = 0;
  std::uint64_t page_bytes = 0;
  std::uint64_t coherence_packets = 0;
  std::uint64_t coherence_bytes = 0;
  std::uint64_t forwarded_packets = 0;
  std::uint64_t received_packets = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t queued_requests = 0;
  std::uint64_t credit_waits = 0;
  std::uint64_t busy_cycles = 0;

  std::uint64_t sent_bytes() const {
    return request_bytes + reply_bytes + control_bytes + copy_bytes + message_bytes + page_bytes + coherence_bytes;
  }
  void describe(StatVisitor& visitor);
};

/// What a device sent to one other device.
struct DestinationStats {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;

  void describe(StatVisitor& visitor);
};

/// Packets of PCIe's link layer, where they take their bytes.
struct LinkLayerStats {
  std::uint64_t packets = 0;
  std::uint64_t bytes = 0;

  void describe(StatVisitor& visitor);
};

/// The device behind a network interface.
class NetworkClient {
 public:
  virtual ~NetworkClient() = default;
  /// The first packet of a burst of requests has come; the others follow at `spacing`.
  virtual void on_request(LineRequest* request, Spacing spacing) = 0;
  /// The last packet of a burst of replies has come.
  virtual void on_reply(LineRequest* reply) = 0;
  virtual void on_control(Packet* packet) = 0;
  virtual void on_copy(Packet* packet) = 0;
  virtual void on_message(Packet* packet) = 0;
  /// Only GPUs with a coherence controller get these.
  virtual void on_coherence(Packet* packet);
  /// Only devices of a unified memory hierarchy get these.
  virtual void on_hierarchy(Packet* packet);
  // Where stores are posted: some have come; `count` batches sent to a device have been written there; credits have
  // come for which stores to a device may have waited.
  virtual void on_stores(StorePacket* packet);
  virtual void stores_drained(DeviceId, std::uint32_t /*count*/) {}
  virtual void store_credits_came(DeviceId) {}
  /// The queue of requests in which there was no room for `waiter` has some.
  virtual void network_has_room(Waiter waiter) = 0;
  /// A packet for this device is about to come: a chance to bring what it needs into the host's cache.
  virtual void prepare(const Packet& /*packet*/) const {}
};

class NetworkInterface final : public NetworkPort {
 public:
  NetworkInterface(Partition& partition, const LinkSpec& spec, const Topology& topology, std::uint64_t line_bytes,
                   std::uint64_t clock_hertz, NetworkClient& client, ByteMaskPool& masks);

  /// What this device sends takes a few cycles longer now and then.
  void perturb(const PerturbSpec& spec) { jitter_ = MessageJitter(spec, partition_.device()); }

  /// From now on the client is asked to prepare for packets.
  void prepare_for_packets() {
    partition_.set_preparation<&NetworkInterface::prepare, NetworkInterface>(
        static_cast<HandlerId>(MessagePort::Network));
  }

  /// Takes room in the queue of requests to a device for one that then must come. Where there is none, `waiter` is told
  /// when there is.
  bool reserve(DeviceId to, Waiter waiter) {
    DestinationQueue& destination = destinations_[to.value];
    if (destination.reserved >= queue_limit_ && !find_room(to.value, waiter)) return false;
    ++destination.reserved;
    return true;
  }
  /// The same for a requester that is bounded by other means.
  void reserve_always(DeviceId to) { ++destinations_[to.value].reserved; }

  /// Requests for lines of a page, a packet each, all reserved: to the home of the lines.
  void send_request(LineRequest* request);
  /// The answers to another device's requests for lines of a page, the first of which leaves the sender's pipeline
  /// `after` cycles from now: a line for a read, the operand for an atomic, an acknowledgement for a write.
  void answer(LineRequest* request, Cycle after);
  /// How far apart the answers to these requests leave.
  Spacing reply_spacing(const LineRequest& request) const { return inputs_.front().spacing(reply_packet(request), 1); }
  /// A message about launches to `packet->destination`.
  void send_control(Packet* packet);
  /// A message of `packet->wire_bytes` about a chunk of a copy, or the chunk itself. What it takes on the link.
  std::uint32_t send_copy(Packet* packet);
  /// A translation message of `packet->wire_bytes` in its class: its destination has room for all that can come.
  void send_message(Packet* packet);
  /// The contents of a page of 4 KiB, in as many packets as the format takes; a translation message comes with them.
  void send_page(Packet* packet);
  /// A message of the coherence protocol, in its class, none of which needs credits.
  void send_coherence(Packet* packet, PacketRole role);
  /// Knowledge that costs nothing: it takes no bytes, and is at the other device as early as anything can be there. Who
  /// listens there has the port MessagePort::Announcement.
  void announce(DeviceId to);
  /// Packets to a device in the class of invalidations that wait for the link: a queue without a bound.
  std::uint64_t waiting_invalidations(DeviceId to);
  /// A message of a unified memory hierarchy with `payload` bytes behind its header, in its class, none of which needs
  /// credits; if it is `bare`, it rides on the link's own packets and takes nothing. What it takes on the link.
  std::uint32_t send_hierarchy(Packet* packet, std::uint32_t payload, bool bare);

  void arrive(Event* message) override;
  void all_arrived(Cycle limit) override;
  void end_window(Cycle limit) override;
  Cycle next_time() const override;

  /// Requests of `source` have left this device's input buffer: their credits go back.
  void requests_taken(DeviceId source, std::uint32_t count);

  /// From now on says what arrives. Outputs are all of one rate.
  void record(LinkTimeline* timeline) { timeline_ = timeline; }
  const LinkPort& rate() const { return outputs_.front(); }
  // Posted stores (network_stores.cpp). They need credits of their own, keep their place among the requests to the same
  // device, and are not answered.
  /// Sends a packet of `packet->wire_bytes` to `packet->destination`.
  void send_stores(StorePacket* packet);
  /// The same in a switch, for a copy of what has just come: it begins to leave as it came, not when all of it is here.
  void forward_stores(StorePacket* packet);
  /// Messages with stores that have not left for a device yet.
  std::uint32_t stores_waiting(DeviceId to);
  /// When the next of what waits for the link to a device may leave; kNever: it lacks credits.
  Cycle next_departure(DeviceId to);
  /// Gives up room in the queue of requests that reserve() took.
  void unreserve(DeviceId to, std::uint32_t count);
  /// What goes back to the source of stores: credits, and how many of its messages have been written.
  struct StoresReturned {
    std::uint32_t headers = 0;
    std::uint32_t data = 0;
    std::uint32_t drained = 0;
  };
  void return_stores(DeviceId source, const StoresReturned& returned, Cycle after);
  const PacketFormat& format() const { return *format_; }
  LinkLayerStats& link_layer_stats() { return link_layer_stats_; }
  bool has_link_layer() const { return spec_.is_pcie() && spec_.pcie.dllp; }

  LinkStats& stats();
  DestinationStats& stats_to(DeviceId to) { return destinations_[to.value].stats; }
  /// Requests that have room and have not left.
  std::uint64_t waiting() const;
  /// Credits are home, or on their way in a batch that is not full yet.
  bool credits_settled(const NetworkInterface& source) const;
  std::string describe_waiting() const;

 private:
  using Queues = std::array<Fifo<Packet>, kTrafficClasses>;
  struct CreditMessage : Event {
    std::uint32_t credits = 0;
    StoresReturned stores;
  };

  /// The way to one device, and what waits for it.
  struct DestinationQueue {
    Topology::Hop hop;
    Queues queues;
    std::uint32_t credits = 0;
    std::uint32_t reserved = 0;
    std::uint32_t store_headers = 0;  ///< credits of posted stores: for packets, and for payload
    std::uint32_t store_data = 0;
    std::uint32_t stores = 0;  ///< messages with stores that wait
    WaitList waiters;          ///< who found no room
    DestinationStats stats;
  };

  void settle_order(DeviceId to);
  void prepare(const Packet& packet) const {
    if (packet.destination == partition_.device().value) client_.prepare(packet);
  }
  void on_arrival(Packet* packet);
  void on_room(Event* event);
  void on_credit(CreditMessage* message);
  void receive(Packet* packet);
  void send_stores(StorePacket* packet, std::uint64_t begun);
  void send(Packet* packet, TrafficClass traffic, Cycle after, std::uint64_t begun = 0);
  [[gnu::always_inline]] bool depart(LinkPort& output, DestinationQueue& destination, TrafficClass traffic,
                                     Packet* packet, std::uint64_t from);
  // Most ask of a link that is busy: that costs no call.
  void work_off(LinkPort& output, std::uint64_t until) {
    if (output.free() < until) let_leave(output, until);
  }
  void let_leave(LinkPort& output, std::uint64_t until);
  /// Whether the first of a class may leave, as far as credits go.
  static bool may_go(const DestinationQueue& destination, TrafficClass traffic, const Packet& first) {
    if (traffic != TrafficClass::Request) return true;
    return first.type == PacketType::Stores ? has_credits(destination, first) : destination.credits != 0;
  }
  static bool has_credits(const DestinationQueue& destination, const Packet& stores);
  void take_store_credits(DestinationQueue& destination, const Packet& stores);
  void send_link_packets(const Packet& received);
  static Fifo<Packet>& queue_of(Queues& queues, TrafficClass traffic) {
    return queues[static_cast<std::size_t>(traffic)];
  }
  LinkPort* input_of(const Event& message);
  bool completes(const Packet& packet) const;
  [[gnu::always_inline]] void admit(LinkPort& input, Packet* packet, std::uint64_t from);
  void admit_until(LinkPort& input, std::uint64_t until) {
    if (input.free() < until) let_in(input, until);
  }
  void let_in(LinkPort& input, std::uint64_t until);
  LineRequest* first_lines(LineRequest& burst, std::uint32_t count);
  std::uint32_t write_packet(const ByteMask& mask) const;
  void set_message_size(Packet& packet, std::uint32_t header) const;
  std::uint32_t request_packet(const LineRequest& request) const;
  std::uint32_t reply_packet(const LineRequest& request) const;
  std::uint64_t bytes_behind(const Packet& packet) const;
  bool find_room(unsigned to, Waiter waiter);
  void schedule_room();

  Partition& partition_;
  LinkSpec spec_;
  Topology topology_;
  std::uint64_t line_bytes_;
  NetworkClient& client_;
  ByteMaskPool& masks_;
  std::unique_ptr<PacketFormat> format_;
  std::uint32_t whole_write_bytes_;  ///< sizes that are asked for all the time
  std::uint32_t read_request_bytes_;
  std::uint32_t read_reply_bytes_;
  std::uint32_t write_reply_bytes_;
  std::vector<LinkPort> outputs_;
  std::vector<LinkPort> inputs_;                ///< one; or one for each GPU; or, host of a tree, one for each switch
  std::vector<DestinationQueue> destinations_;  ///< by destination
  std::vector<Queues> arrived_;                 ///< by source: what waits at an input
  std::vector<std::uint32_t> freed_;            ///< by source: credits not yet sent back
  std::uint32_t credit_batch_;
  std::uint32_t queue_limit_;
  std::uint32_t wake_margin_;
  Cycle room_check_;    ///< while requesters wait for room in a queue, it is looked at after so many cycles
  DeviceSet refusing_;  ///< destinations that have waiters somebody
  Event* room_event_;
  bool room_scheduled_ = false;
  HandlerId room_handler_;
  MessageJitter jitter_;
  LinkTimeline* timeline_ = nullptr;
  LinkStats stats_;
  struct LinkLayer {
    std::uint32_t packets = 0;  ///< since the last acknowledgement
    std::uint32_t credits = 0;  ///< since the last credit update
  };
  std::vector<LinkLayer> link_layers_;  ///< by neighbour, where link-layer packets take their bytes
  LinkLayerStats link_layer_stats_;
};

}  // namespace nearfar
