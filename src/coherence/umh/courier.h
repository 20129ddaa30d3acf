// Carries the messages of a unified memory hierarchy within a device and out of it: at once, at a time, or over a link.
// Messages of one cycle are handed over one after another, never one within another.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "coherence/nmoesi/message.h"
#include "coherence/umh/hierarchy_packet.h"
#include "coherence/umh/umh_spec.h"
#include "interconnect/network_interface.h"
#include "sim/partition.h"
#include "stats/stat.h"

namespace nearfar {

/// Bytes on links by what they are for, headers included.
struct HierarchyTraffic {
  std::uint64_t request = 0;
  std::uint64_t data = 0;
  std::uint64_t coherence = 0;
  std::uint64_t completion = 0;

  void describe(StatVisitor& visitor);
};

class Courier {
 public:
  using Deliver = std::function<void(nmoesi::Message&&)>;
  Courier(Partition& partition, NetworkInterface& network, const UmhSpec& spec, const nmoesi::Geometry& geometry,
          Deliver deliver);
  Courier(const Courier&) = delete;
  Courier& operator=(const Courier&) = delete;

  /// Within the device; `when` may be now.
  void carry(nmoesi::Message&& message, Cycle when);
  /// To another device, when it is ready.
  void send(nmoesi::Message&& message, DeviceId to);
  /// A message of another device has come; it counts `lookup` cycles later.
  void receive(Packet* packet, Cycle lookup);
  /// Hands over what is due now. To be called by whoever may have caused a message.
  void work_off();
  /// Is called when messages that were due later have been handed over.
  std::function<void()> on_worked_off;

  const HierarchyTraffic& traffic() const { return traffic_; }
  std::uint64_t messages() const { return messages_; }
  bool idle() const { return due_.empty() && free_.size() == later_.size(); }

 private:
  void on_due(IndexEvent* event);
  void leave(nmoesi::Message&& message, DeviceId to);
  std::uint32_t payload(const nmoesi::Message& message) const;
  void count(const nmoesi::Message& message, std::uint32_t payload, std::uint32_t bytes);

  /// Messages that are due in one cycle, in order.
  struct Batch {
    std::vector<nmoesi::Message> messages;
    Cycle when = 0;
    std::uint16_t device = kHere;
  };
  static constexpr std::uint16_t kHere = 0xffff;
  Batch& schedule(Cycle when, std::uint16_t device);

  Partition& partition_;
  NetworkInterface& network_;
  UmhSpec spec_;
  nmoesi::Geometry geometry_;
  Deliver deliver_;
  HandlerId handler_;
  std::vector<nmoesi::Message> due_;
  std::size_t next_due_ = 0;
  bool working_ = false;
  std::deque<Batch> later_;
  std::vector<std::uint32_t> free_;
  std::uint32_t last_ = 0;     ///< the batch that was scheduled last
  bool last_is_open_ = false;  ///< nothing else has been scheduled since
  HierarchyTraffic traffic_;
  std::uint64_t messages_ = 0;
};

}  // namespace nearfar
