// A device's attachment to the interconnect: what it sends, forwards and receives.
//
// Requests need a credit of their destination and wait in a bounded queue for it until they have one and the link is
// near free; replies and control messages are always accepted and go at once. A link passes bytes at its exact rate in
// both directions at once; requests on one side, replies and control on the other, take turns where both wait. Latency
// that a sender's own pipeline still owes (a cache's lookup) is added in flight, so that no link stands idle for a
// message that is not there yet.
//
// Requests for lines of one page that leave together travel as a train, and so do the answers that are ready together:
// one message that stands for a packet a line, back to back. It occupies links and needs credits for all of them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interconnect/jitter.h"
#include "interconnect/link_spec.h"
#include "interconnect/topology.h"
#include "sim/device_set.h"
#include "sim/partition.h"
#include "sim/serializer.h"
#include "sim/transaction.h"
#include "sim/wait_list.h"
#include "stats/stat.h"

namespace nearfar {

struct FabricStats {
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

/// The device behind a fabric endpoint.
class FabricClient {
 public:
  virtual ~FabricClient() = default;
  /// The first packet of a train of requests has come; the others follow at `pace`.
  virtual void on_request(Transaction* t, Pace pace) = 0;
  /// The last packet of a train of replies has come.
  virtual void on_reply(Transaction* t) = 0;
  virtual void on_control(Transaction* t) = 0;
  virtual void on_message(Transaction* t) = 0;
  /// A request or reply will be there within this window: a chance to bring what it needs into the host's cache.
  virtual void prepare_arrival(const Transaction& t, PrefetchStep step) const = 0;
  /// The request queue that had refused `waiter` has room.
  virtual void fabric_has_room(std::uint16_t waiter) = 0;
};

class Fabric {
 public:
  Fabric(Partition& partition, const LinkSpec& spec, const Topology& topology, std::uint64_t line_bytes,
         std::uint64_t clock_hertz, FabricClient& client);

  /// What this device sends takes a few cycles longer now and then.
  void perturb(const PerturbSpec& spec) { jitter_ = MessageJitter(spec, partition_.device()); }

  /// Takes room in the queue of requests to a device for one that then must come. Where there is none, `waiter` is told
  /// when there is.
  bool reserve(DeviceId to, std::uint16_t waiter) {
    Lane& lane = lanes_[to.value];
    if (lane.reserved >= queue_limit_) {
      lane.refused.push(waiter);
      refusing_.insert(to.value);
      return false;
    }
    ++lane.reserved;
    return true;
  }
  /// The same for a requester that is bounded by other means.
  void reserve_always(DeviceId to) { ++lanes_[to.value].reserved; }

  /// Requests for the lines `t->mask` of a page, a packet each, all reserved; t->destination is set.
  void send_request(Transaction* t);
  /// The answers to another device's requests for the lines `t->mask` of a page, the first of which leaves the sender's
  /// pipeline `after` cycles from now: a line for a read, the operand for an atomic, an acknowledgement for a write.
  void answer(Transaction* t, Cycle after);
  /// How far apart the answers to these requests leave.
  Pace reply_pace(const Transaction& t) const { return inputs_.front().pace(reply_packet(t), 1); }
  void send_control(Transaction* t);
  /// A translation message (its kind and side are set): its destination has room for all that can come.
  void send_message(Transaction* t);

  /// Requests of `source` have left this device's input buffer: their credits go back.
  void requests_taken(DeviceId source, std::uint32_t count);

  FabricStats& stats();
  /// Requests that have room and have not left.
  std::uint64_t waiting() const;
  /// Credits are home, or on their way in a batch that is not full yet.
  bool credits_settled(const Fabric& source) const;
  std::string describe_waiting() const;

 private:
  /// The way to one device, and the requests to it.
  struct Lane {
    Topology::Hop hop;
    TransactionQueue queue;
    std::uint32_t credits = 0;
    std::uint32_t reserved = 0;
    WaitList refused;  ///< who found no room
  };

  Cycle admit(Transaction* t);
  void prepare_arrival(const Transaction& t, PrefetchStep step) const;
  void prepare_drain(const Transaction& t, PrefetchStep step) const;
  void on_arrival(Transaction* t);
  void on_drain(Transaction* t);
  void on_credit(Transaction* t);
  void receive(Transaction* t);
  void forward(Transaction* t, Cycle after, bool of_others = false);
  bool may_leave(const Lane& lane) const;
  bool leave(Transaction* t);
  Transaction* first_lines(Transaction& t, std::uint32_t count);
  std::uint64_t write_packet(std::uint64_t bytes) const;
  std::uint64_t request_packet(const Transaction& t) const;
  std::uint64_t reply_packet(const Transaction& t) const;
  std::uint64_t bytes_behind(const Transaction& t) const;
  void drain();
  void wake_refused(unsigned to);
  void note_queue(unsigned to);
  void schedule_drain();

  Partition& partition_;
  LinkSpec spec_;
  Topology topology_;
  std::uint64_t line_bytes_;
  FabricClient& client_;
  std::vector<SharedSerializer> outputs_;
  std::vector<SharedSerializer> uplinks_;  ///< host of a tree: from each switch to the root complex
  std::vector<SharedSerializer> inputs_;   ///< one, or one for each GPU
  std::vector<Lane> lanes_;                ///< by destination
  std::vector<std::uint32_t> freed_;       ///< by source: credits not yet sent back
  std::uint32_t credit_batch_;
  std::uint32_t queue_limit_;
  std::uint32_t wake_margin_;
  DeviceSet sendable_;  ///< lanes that have requests queued and credits for them
  DeviceSet refusing_;  ///< lanes that have refused somebody
  unsigned next_destination_ = 0;
  Transaction* drain_event_;
  bool drain_scheduled_ = false;
  HandlerId drain_handler_;
  MessageJitter jitter_;
  FabricStats stats_;
};

}  // namespace nearfar
