// The egress of a GPU: posted stores leave here for other devices, and what else leaves for the same device keeps its
// place behind them. Without a design every store is a packet, or several where the format expresses no holes. A design
// may hold stores back in a queue for each peer (store_queue.h) and send them otherwise.
//
// A store is done for its compute unit when the egress has taken it. A release (a fence of system scope, the end of a
// kernel) flushes all queues and is complete when every device has written all that was sent to it before, and one
// latency has passed back: a notice without bytes, as credits are.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "interconnect/network_interface.h"
#include "interconnect/store_batch.h"
#include "interconnect/store_queue.h"
#include "memory/byte_masks.h"
#include "memory/data_oracle.h"
#include "memory/line_request.h"
#include "memory/lower_level.h"
#include "sim/fifo.h"
#include "sim/partition.h"
#include "sim/ring.h"
#include "stats/stat.h"

namespace nearfar {

struct EgressStats {
  static constexpr std::size_t kSizes = 8;

  std::uint64_t stores = 0;
  std::uint64_t store_bytes = 0;
  std::uint64_t small_stores = 0;
  std::array<std::uint64_t, kSizes> sizes{};
  std::uint64_t messages = 0;
  std::uint64_t packets = 0;
  std::uint64_t wire_bytes = 0;
  std::uint64_t data_bytes = 0;
  std::uint64_t protocol_bytes = 0;
  std::uint64_t host_bytes = 0;
  std::uint64_t waited_stores = 0;
  std::uint64_t wait_cycles = 0;
  std::uint64_t releases = 0;
  std::uint64_t release_cycles = 0;

  void describe(StatVisitor& visitor);
};

/// The GPU around an egress.
class EgressClient {
 public:
  virtual ~EgressClient() = default;
  /// The egress has taken `lines` stores of a compute unit.
  virtual void stores_accepted(unsigned unit, PhysPage page, unsigned lines) = 0;
  /// A release that had to wait is complete.
  virtual void released(Waiter waiter) = 0;
};

/// A design at the egress of one GPU.
class EgressDesign {
 public:
  virtual ~EgressDesign() = default;
  virtual std::unique_ptr<StoreQueue> make_queue() = 0;
  /// Buffers of a queue: one fills while the others wait for the link.
  virtual std::uint32_t banks() const = 0;
  /// Cycles without a store after which a queue is flushed; 0: never.
  virtual Cycle timeout() const = 0;
  /// Stores that a queue takes in a cycle.
  virtual std::uint32_t stores_per_cycle() const = 0;
};

class Egress final : public StoreWatch {
 public:
  /// Waits for a release as a whole GPU.
  static constexpr Waiter kWholeGpu = 0xffff;

  Egress(Partition& partition, NetworkInterface& network, const LinkSpec& spec, const Topology& topology,
         std::uint64_t line_bytes, ByteMaskPool& masks, DataWatch* watch, EgressClient& client);

  /// The stores to other GPUs are a design's from now on.
  void set_design(EgressDesign& design);

  /// A request for lines of another device, for which there is room in the network's queue.
  void request(LineRequest* request);
  /// True if all that was stored before has been written; else `waiter` is told when it has.
  bool release(Waiter waiter, FlushCause cause);

  /// A device has written the `count` oldest batches that were sent to it and had not been.
  void drained(DeviceId from, std::uint32_t count);
  /// Credits for stores to a device have come.
  void credits_came(DeviceId from);

  // The data oracle follows stores that a queue puts together or cuts.
  void merged(PhysLine line, std::uint32_t into, std::uint32_t added) override;
  std::uint32_t cut(PhysLine line, std::uint32_t record, const ByteMask& piece) override;

  const PacketFormat& format() const { return network_.format(); }
  EgressStats& stats() { return stats_; }
  bool idle() const;
  std::string describe_waiting() const;

 private:
  struct Peer {
    DeviceId device;
    std::unique_ptr<StoreQueue> queue;  ///< none: every store leaves at once
    LineRequestQueue waiting;           ///< in order
    Fifo<StoreBatch> in_flight;         ///< sent and not written yet, in order
    std::uint64_t sent = 0;
    std::uint64_t written = 0;
    Cycle port_free = 0;  ///< the queue takes so many stores a cycle
    Cycle last_store = 0;
    bool retry_scheduled = false;
    bool timer_scheduled = false;
  };
  struct Release {
    Waiter waiter = 0;
    Cycle begun = 0;
    std::vector<std::uint64_t> until;  ///< by device: batches that have to be written
  };

  void on_retry(IndexEvent* event);
  void on_timer(IndexEvent* event);
  bool may_store(Peer& peer);
  void work(Peer& peer);
  void schedule_retry(Peer& peer);
  void schedule_timer(Peer& peer);
  void take(Peer& peer, LineRequest* request);
  void accept(Peer& peer, LineRequest* request);
  void send_plain(const LineStore& store);
  void before(Peer& peer, const LineRequest& request);
  void flush(FlushCause cause);
  void send_ready(Peer& peer);
  void count(const LineStore& store);
  bool complete(const Release& release) const;

  Partition& partition_;
  NetworkInterface& network_;
  ByteMaskPool& masks_;
  DataWatch* watch_;
  EgressClient& client_;
  EgressDesign* design_ = nullptr;
  DeviceId host_;
  std::uint32_t burst_;
  std::uint32_t limit_;  ///< batches that may wait for the link to one device
  ByteMask whole_line_;
  std::vector<Peer> peers_;  ///< by device
  StoreBatches batches_;
  Ring<Release> releases_;  ///< in order of their completion
  std::vector<std::vector<std::uint64_t>> spare_;
  std::uint64_t in_flight_ = 0;
  HandlerId retry_handler_;
  HandlerId timer_handler_;
  EgressStats stats_;
};

}  // namespace nearfar
