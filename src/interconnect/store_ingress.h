// The ingress of a device for posted stores: takes packets apart and writes their lines into the L2. Packets of plain
// stores go straight through. Those that a design has packed pass the de-packetizer: a buffer of pieces, so many of
// which are written in a cycle. What came from the same links behind a packet never passes it.
//
// Credits return when a packet has left the input buffer; when all lines of a message have been ordered, and those of
// the messages before it, the source is told.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interconnect/network_interface.h"
#include "interconnect/store_batch.h"
#include "interconnect/useful_bytes.h"
#include "memory/byte_masks.h"
#include "memory/cache/l2_cache.h"
#include "sim/partition.h"
#include "sim/ring.h"

namespace nearfar {

struct StoreIngressStats {
  std::uint64_t messages = 0;
  std::uint64_t lines = 0;
  std::uint64_t unpacked_pieces = 0;
  std::uint64_t full_messages = 0;

  void describe(StatVisitor& visitor);
};

class StoreIngress {
 public:
  StoreIngress(Partition& partition, L2Cache& l2, NetworkInterface& network, ByteMaskPool& masks,
               std::uint64_t line_bytes, unsigned devices);

  /// The de-packetizer: pieces that its buffer holds, and that it writes in a cycle.
  void set_unpacking(std::uint32_t entries, std::uint32_t per_cycle) {
    entries_ = entries;
    per_cycle_ = per_cycle;
  }
  /// Follows the bytes that come.
  void set_useful(UsefulBytes* useful) { useful_ = useful; }

  void on_stores(StorePacket* packet);
  /// Another request from the links: it stays behind the stores that came before it.
  void on_request(LineRequest* request, Spacing spacing);

  /// Whether a request at the L2 is a line of posted stores.
  static bool is_posted(const LineRequest& request) { return request.type == PacketType::Stores; }
  /// The L2 has ordered such a line, which is written `after` cycles from now; the ingress takes the request.
  void written(LineRequest* request, Cycle after);

  StoreIngressStats& stats() { return stats_; }
  bool idle() const { return live_ == 0 && waiting_.empty(); }
  std::string describe_waiting() const;

 private:
  /// A message whose lines are not all written.
  struct Arrival {
    const StoreBatch* batch = nullptr;
    DeviceId source;
    std::uint32_t next = 0;         ///< the first line that has not gone to the L2
    std::uint32_t unwritten = 0;    ///< lines
    std::uint32_t pieces_left = 0;  ///< that have not gone to the L2
    NetworkInterface::StoresReturned owed;
    Cycle ready = 0;       ///< since when its next line could be written, as far as it goes
    bool stalled = false;  ///< the de-packetizer had no room
    Cycle last_written = 0;
  };
  struct Waiting {
    std::uint32_t arrival = 0;
    LineRequest* request = nullptr;  ///< another request; else it is an arrival
    Spacing spacing;
  };

  void on_turn(Event* event);
  void work();
  bool unpack(std::uint32_t number);
  bool pass_buffer(Arrival& arrival, unsigned pieces);
  void write_line(std::uint32_t number, unsigned pieces);
  void return_credits_early(Arrival& arrival);
  void tell_source(DeviceId source);
  std::uint32_t take_place();

  Partition& partition_;
  L2Cache& l2_;
  NetworkInterface& network_;
  ByteMaskPool& masks_;
  UsefulBytes* useful_ = nullptr;
  ByteMask whole_line_;
  std::uint32_t entries_ = 64;
  std::uint32_t per_cycle_ = 16;
  std::uint32_t in_use_ = 0;    ///< pieces that the L2 has not taken
  std::uint64_t unpacked_ = 0;  ///< in pieces, at `per_cycle_` a cycle: when the last one was written
  bool working_ = false;
  bool turn_scheduled_ = false;
  std::vector<Arrival> arrivals_;
  std::vector<std::uint32_t> free_;             ///< among them
  std::vector<Ring<std::uint32_t>> by_source_;  ///< arrivals of a device that it has not been told of
  Ring<Waiting> waiting_;
  std::uint64_t live_ = 0;
  HandlerId turn_handler_;
  StoreIngressStats stats_;
};

}  // namespace nearfar
