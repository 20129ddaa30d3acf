// The host's ordinary way to a line: through the last-level cache to lines at home in the host, and over the links to
// the home of lines in a GPU's memory. The host keeps no copies of the latter.
#pragma once

#include <cstdint>
#include <vector>

#include "host/host_line_port.h"
#include "interconnect/network_interface.h"
#include "memory/cache/l2_cache.h"
#include "memory/data_oracle.h"

namespace nearfar {

class HomeLinePort final : public HostLinePort {
 public:
  /// An access takes `latency` before it leaves the core.
  HomeLinePort(Partition& partition, L2Cache& llc, NetworkInterface& network, DataWatch* watch, Cycle latency,
               std::uint64_t line_bytes);

  void access(const HostLineAccess& access, Event* event, HandlerId done) override;
  bool idle() const override { return free_.size() == accesses_.size(); }

  /// A line that the host has asked for is there: from the last-level cache, or from its home. Takes the request.
  void served(LineRequest* request);
  /// A write of the host has been ordered.
  void ordered(unsigned number);

 private:
  struct Access {
    HostLineAccess what;
    Event* event = nullptr;
    HandlerId done = 0;
  };

  void on_issue(LineRequest* request);
  void complete(unsigned number);

  Partition& partition_;
  L2Cache& llc_;
  NetworkInterface& network_;
  DataWatch* watch_;
  Cycle latency_;
  ByteMask whole_line_;
  HandlerId issue_handler_;
  std::vector<Access> accesses_;     ///< by the number that a request carries as its unit
  std::vector<std::uint16_t> free_;  ///< among them
};

}  // namespace nearfar
