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
#include <string>
#include <vector>

#include "interconnect/jitter.h"
#include "interconnect/link_port.h"
#include "interconnect/link_spec.h"
#include "interconnect/topology.h"
#include "sim/device_set.h"
#include "sim/partition.h"
#include "sim/transaction.h"
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
  std::uint64_t message_packets = 0;
  std::uint64_t message_bytes = 0;
  std::uint64_t forwarded_packets = 0;
  std::uint64_t received_packets = 0;
  std::uint64_t received_bytes = 0;
  std::uint64_t queued_requests = 0;
  std::uint64_t credit_waits = 0;
  std::uint64_t busy_cycles = 0;

  void describe(StatVisitor& visitor);
};

/// The device behind a network endpoint.
class NetworkClient {
 public:
  virtual ~NetworkClient() = default;
  /// The first packet of a burst of requests has come; the others follow at `spacing`.
  virtual void on_request(Transaction* t, Spacing spacing) = 0;
  /// The last packet of a burst of replies has come.
  virtual void on_reply(Transaction* t) = 0;
  virtual void on_control(Transaction* t) = 0;
  virtual void on_message(Transaction* t) = 0;
  /// A request or reply will be there within this window: a chance to bring what it needs into the host's cache.
  virtual void prepare_arrival(const Transaction& t, PrefetchStep step) const = 0;
  /// The request queue that had waiters `waiter` has room.
  virtual void network_has_room(std::uint16_t waiter) = 0;
};

class NetworkInterface final : public NetworkPort {
 public:
  NetworkInterface(Partition& partition, const LinkSpec& spec, const Topology& topology, std::uint64_t line_bytes,
                   std::uint64_t clock_hertz, NetworkClient& client);

  /// What this device sends takes a few cycles longer now and then.
  void perturb(const PerturbSpec& spec) { jitter_ = MessageJitter(spec, partition_.device()); }

  /// Takes room in the queue of requests to a device for one that then must come. Where there is none, `waiter` is told
  /// when there is.
  bool reserve(DeviceId to, std::uint16_t waiter) {
    DestinationQueue& destination = destinations_[to.value];
    if (destination.reserved >= queue_limit_ && !find_room(to.value, waiter)) return false;
    ++destination.reserved;
    return true;
  }
  /// The same for a requester that is bounded by other means.
  void reserve_always(DeviceId to) { ++destinations_[to.value].reserved; }

  /// Requests for the lines `t->mask` of a page, a packet each, all reserved; t->destination is set.
  void send_request(Transaction* t);
  /// The answers to another device's requests for the lines `t->mask` of a page, the first of which leaves the sender's
  /// pipeline `after` cycles from now: a line for a read, the operand for an atomic, an acknowledgement for a write.
  void answer(Transaction* t, Cycle after);
  /// How far apart the answers to these requests leave.
  Spacing reply_spacing(const Transaction& t) const { return inputs_.front().spacing(reply_packet(t), 1); }
  void send_control(Transaction* t);
  /// A translation message (its kind and side are set): its destination has room for all that can come.
  void send_message(Transaction* t);

  void arrive(Transaction* t) override;
  void all_arrived(Cycle limit) override;
  void end_window(Cycle limit) override;
  Cycle next_time() const override;

  /// Requests of `source` have left this device's input buffer: their credits go back.
  void requests_taken(DeviceId source, std::uint32_t count);

  LinkStats& stats();
  /// Requests that have room and have not left.
  std::uint64_t waiting() const;
  /// Credits are home, or on their way in a batch that is not full yet.
  bool credits_settled(const NetworkInterface& source) const;
  std::string describe_waiting() const;

 private:
  using Channel = LinkPort::Channel;
  using Queues = std::array<TransactionQueue, LinkPort::kChannels>;

  /// The way to one device, and what waits for it.
  struct DestinationQueue {
    Topology::Hop hop;
    Queues queues;
    std::uint32_t credits = 0;
    std::uint32_t reserved = 0;
    WaitList waiters;  ///< who found no room
  };

  void prepare_arrival(const Transaction& t, PrefetchStep step) const;
  void on_arrival(Transaction* t);
  void on_room(Transaction* t);
  void on_credit(Transaction* t);
  void receive(Transaction* t);
  void send(Transaction* t, Channel channel, Cycle after);
  bool depart(LinkPort& output, DestinationQueue& destination, Channel channel, Transaction* t, std::uint64_t from);
  void work_off(LinkPort& output, std::uint64_t until);
  bool may_go(const DestinationQueue& destination, Channel channel) const {
    return channel != LinkPort::kRequests || destination.credits != 0;
  }
  LinkPort* input_of(const Transaction& t);
  void admit(LinkPort& input, Transaction* t, std::uint64_t from);
  void admit_until(LinkPort& input, std::uint64_t until);
  Transaction* first_lines(Transaction& t, std::uint32_t count);
  std::uint64_t write_packet(std::uint64_t bytes) const;
  std::uint64_t request_packet(const Transaction& t) const;
  std::uint64_t reply_packet(const Transaction& t) const;
  std::uint64_t bytes_behind(const Transaction& t) const;
  bool find_room(unsigned to, std::uint16_t waiter);
  void schedule_room();

  Partition& partition_;
  LinkSpec spec_;
  Topology topology_;
  std::uint64_t line_bytes_;
  NetworkClient& client_;
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
  Transaction* room_event_;
  bool room_scheduled_ = false;
  HandlerId room_handler_;
  MessageJitter jitter_;
  LinkStats stats_;
};

}  // namespace nearfar
