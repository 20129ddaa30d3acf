// A switch with multicast memory and in-switch reduction, as NVLink SHARP has them. A page of multicast memory is at
// home in the switch and stands for a page of each member. A store to it leaves its GPU once, and the switch sends a
// copy of the packet to every member, that of the storing GPU included. A load of it leaves its GPU once too: the
// switch reads the line of every member, adds the operands up in the reduction unit of the requester's port, and
// answers. An atomic on it is performed on the line of every member.
//
// What comes from one GPU goes on in order. A store's credits return to its GPU when all members have written it, and
// so does the notice that a release waits for; a load's return when it has got its entries, of which a port has so
// many.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "interconnect/switch_device.h"
#include "sim/ring.h"

namespace nearfar {

class Section;

struct NvlsSpec {
  Cycle lookup_latency = 10;         ///< of the table of multicast pages
  Cycle reduction_latency = 20;      ///< from the last operand to the sum
  std::uint32_t operand_rate = 256;  ///< bytes of operands that the reduction unit of a port takes in a cycle
  std::uint32_t entries = 1024;      ///< lines that a port can have under reduction

  void describe(Section& section);
};

struct NvlsStats {
  std::uint64_t multicast_messages = 0;
  std::uint64_t multicast_lines = 0;
  std::uint64_t copies = 0;
  std::uint64_t extra_bytes = 0;
  std::uint64_t reductions = 0;
  std::uint64_t operands = 0;
  std::uint64_t entry_waits = 0;
  std::uint64_t operand_wait_cycles = 0;

  void describe(StatVisitor& visitor);
};

class NvlsSwitch final : public SwitchDevice, public NetworkClient {
 public:
  NvlsSwitch(const SwitchSite& site, const NvlsSpec& spec);

  const char* name() const override { return "nvls"; }
  void map_next(std::vector<MulticastMember> members) override { pages_.push_back(std::move(members)); }

  NetworkInterface& network() override { return network_; }
  void describe(StatVisitor& visitor) override { stats_.describe(visitor); }
  const LoadLatency& latency() const override { return latency_; }
  bool idle() const override;
  std::string describe_waiting() const override;

  void on_stores(StorePacket* packet) override { look_up(packet); }
  void on_request(LineRequest* request, Spacing spacing) override;
  void on_reply(LineRequest* reply) override;
  void stores_drained(DeviceId member, std::uint32_t count) override;
  // Nobody sends these to a switch.
  void on_control(Packet* packet) override { refuse(*packet); }
  void on_copy(Packet* packet) override { refuse(*packet); }
  void on_message(Packet* packet) override { refuse(*packet); }
  void network_has_room(Waiter) override {}

 private:
  /// A message of stores that not all members have written.
  struct Multicast {
    const StoreBatch* batch = nullptr;  ///< the source's
    std::uint32_t unwritten = 0;        ///< copies
    NetworkInterface::StoresReturned owed;
  };
  /// A copy of one on its way to a member.
  struct MemberCopy {
    StoreBatch* batch = nullptr;
    DeviceId source;
    std::uint32_t multicast = 0;
  };
  /// Loads of lines of a page that have entries.
  struct Reduction {
    LineRequest* request = nullptr;        ///< for the lines whose operands have not all come
    std::vector<std::uint32_t> missing{};  ///< by line of the page: operands that have not come
  };
  /// The port of a GPU.
  struct Port {
    Fifo<Packet> waiting;             ///< what came from the GPU and could not go on, in order
    Ring<std::uint32_t> multicasts;   ///< of the GPU, in order
    Ring<MemberCopy> copies;          ///< to the GPU, in order
    std::uint32_t entries = 0;        ///< in use
    std::uint64_t operands_done = 0;  ///< in bytes, at `operand_rate` a cycle: when the last operand was added
  };

  [[noreturn]] void refuse(const Packet& packet) const;
  void look_up(Packet* packet);
  void on_looked_up(Packet* packet);
  void work(Port& port);
  void multicast(const StorePacket& packet);
  void send_copy(const StorePacket& packet, const MulticastMember& member, std::uint32_t number);
  void tell_source(DeviceId source);
  bool reduce(LineRequest& request);
  void begin_reduction(const LineRequest& request, std::uint64_t lines);
  Cycle add_operands(Port& port, unsigned lines);
  void on_sum(LineRequest* request);
  const std::vector<MulticastMember>& members(PhysPage page) const { return pages_[page.frame()]; }
  Port& port_of(const Packet& packet) { return ports_[packet.origin]; }

  Partition& partition_;
  NvlsSpec spec_;
  std::uint64_t line_bytes_;
  DataWatch* watch_;
  NetworkInterface network_;
  std::vector<std::vector<MulticastMember>> pages_;  ///< by frame of multicast memory
  std::vector<Port> ports_;                          ///< by GPU
  StoreBatches batches_;
  std::vector<Multicast> multicasts_;
  std::vector<std::uint32_t> free_multicasts_;
  std::vector<Reduction> reductions_;
  std::vector<std::uint32_t> free_reductions_;
  std::uint64_t looking_up_ = 0;
  HandlerId lookup_handler_;
  HandlerId sum_handler_;
  LoadLatency latency_;
  NvlsStats stats_;
};

}  // namespace nearfar
